//! The expression language of watches, hovers, conditions, log messages and the console.
//!
//! ```text
//!  text --parser--> tree (syntax) --evaluate--> Item (datum): a value, and where it is kept
//!                     |                ^ names: what names mean in a frame
//!                     |                ^ operators, reduce: what is computed
//!                     |                ^ elementwise, statistics: of many elements at once
//!                     |                ^ budget: how long it may take
//!                     '--condition--> closures that the interpreter asks, for conditions on registers
//! ```
//!
//! Evaluating never changes the program. Assigning ([`crate::Debugger::assign`]) and calling
//! ([`crate::Debugger::evaluate_in_console`]) are separate doors. The language is described for its
//! users in `runtime/debug/expressions.md`; `reduce::FUNCTIONS` and `evaluate::FIELDS` are its
//! tables.

mod assign;
#[cfg(test)]
mod block_tests;
mod budget;
mod complete;
pub(crate) mod condition;
mod console;
pub(crate) mod datum;
mod elementwise;
mod error;
mod evaluate;
mod format;
mod names;
mod operators;
mod parser;
pub(crate) mod reduce;
pub(crate) mod statistics;
mod syntax;
pub(crate) mod template;

pub use budget::{Cancel, Limits};
pub use complete::{Completion, CompletionKind};
pub use error::ExpressionError;
pub(crate) use names::parse_register;

use crate::debugger::Debugger;
use crate::inlined::FrameId;
use crate::view::Variable;
use budget::Budget;
use datum::Item;
use evaluate::Evaluator;
use format::Format;
use names::FrameScope;
use syntax::{Binary, Expr, Kind, Unary};

/// An expression that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Expr,
    format: Format,
}

impl Expression {
    /// Reads an expression. Behind a comma a letter says how numbers are written: `x` hexadecimal,
    /// `b` binary, `o` octal, `d` decimal, `f` the bits as a float.
    ///
    /// # Errors
    /// The text is none; the error says where.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let (body, format) = Format::split(text);
        Ok(Self { text: text.to_owned(), root: parser::parse(body)?, format })
    }

    /// The text that it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> &Expr {
        &self.root
    }

    /// Whether it may be a condition: a text is neither true nor false, which needs no program to
    /// see.
    ///
    /// # Errors
    /// It is a text.
    pub(crate) fn check_truth(&self) -> Result<(), ExpressionError> {
        fn text(expr: &Expr) -> Option<&Expr> {
            match &expr.kind {
                Kind::Text(_) => Some(expr),
                Kind::Unary(Unary::Not, operand) => text(operand),
                Kind::Binary(Binary::And | Binary::Or, left, right)
                | Kind::Choice(_, left, right) => text(left).or_else(|| text(right)),
                _ => None,
            }
        }
        text(&self.root).map_or(Ok(()), |text| {
            let message = "a text is neither true nor false; compare it with something";
            Err(ExpressionError::new(text.span.clone(), message))
        })
    }
}

impl Debugger {
    /// The value of an expression in a frame, within five seconds.
    ///
    /// # Errors
    /// The text is no expression, or does not make sense here.
    pub fn evaluate(
        &self,
        frame: impl Into<FrameId>,
        expression: &str,
    ) -> Result<Variable, ExpressionError> {
        self.evaluate_within(frame, expression, Limits::default())
    }

    /// The same within other limits.
    ///
    /// # Errors
    /// The text is no expression, does not make sense here, or takes too long.
    pub fn evaluate_within(
        &self,
        frame: impl Into<FrameId>,
        expression: &str,
        limits: Limits,
    ) -> Result<Variable, ExpressionError> {
        let frame = frame.into();
        // `%x-1` may be a name; then it is no subtraction.
        let (body, format) = Format::split(expression);
        let name = body.trim().strip_prefix('%');
        if let Some(item) = name.and_then(|name| FrameScope { debugger: self, frame }.local(name)) {
            let shown = format.apply(item.variable(expression.trim()), &item.datum);
            return Ok(Variable { evaluate_name: Some(expression.trim().to_owned()), ..shown });
        }
        let parsed = Expression::parse(expression)?;
        let item = self.item(frame, &parsed.root, limits)?;
        let trimmed = expression.trim();
        let shown = parsed.format.apply(item.variable(trimmed), &item.datum);
        Ok(Variable { evaluate_name: Some(trimmed.to_owned()), ..shown })
    }

    /// The value of an expression that was read already, as text.
    ///
    /// # Errors
    /// It does not make sense there, or takes too long.
    pub(crate) fn text_of(
        &self,
        frame: impl Into<FrameId>,
        expression: &Expression,
    ) -> Result<String, ExpressionError> {
        let item = self.item(frame, &expression.root, Limits::default())?;
        Ok(expression.format.apply(item.variable(""), &item.datum).value)
    }

    /// Whether an expression holds in a frame.
    ///
    /// # Errors
    /// It does not make sense there.
    pub(crate) fn holds(
        &self,
        frame: impl Into<FrameId>,
        expression: &Expression,
    ) -> Result<bool, ExpressionError> {
        let mut scope = FrameScope { debugger: self, frame: frame.into() };
        let budget = Budget::new(Limits::default());
        Evaluator { scope: &mut scope, budget }.truth(&expression.root)
    }

    pub(crate) fn item(
        &self,
        frame: impl Into<FrameId>,
        root: &Expr,
        limits: Limits,
    ) -> Result<Item, ExpressionError> {
        let mut scope = FrameScope { debugger: self, frame: frame.into() };
        Evaluator { scope: &mut scope, budget: Budget::new(limits) }.item(root)
    }
}
