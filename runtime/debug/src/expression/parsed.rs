//! Parsed expressions, and their evaluation.

use std::ops::Range;

use super::budget::{Budget, Limits};
use super::datum::{Family, Item};
use super::error::ExpressionError;
use super::evaluate::Evaluator;
use super::format::Format;
use super::parser;
use super::scope::Scope;
use super::syntax::{Expr, Kind, Subscript};
use crate::view::variable::Variable;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Expr,
    format: Format,
}

impl Expression {
    /// Parses an expression. A letter after a comma is the format of numbers: `x` hexadecimal, `b`
    /// binary, `o` octal, `d` decimal, `u` without a sign, `c` a character, `f` the bits as a
    /// float.
    ///
    /// # Errors
    /// The text is not an expression; the error says where.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let (body, format) = Format::split(text);
        Ok(Self { text: text.to_owned(), root: parser::parse(body)?, format })
    }

    /// Parses an expression without a format letter.
    ///
    /// # Errors
    /// The text is not an expression; the error says where.
    pub(crate) fn parse_without_format(text: &str) -> Result<Self, ExpressionError> {
        let root = parser::parse(text)?;
        Ok(Self { text: text.to_owned(), root, format: Format::Natural })
    }

    /// The text that it was parsed from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the text that the expression covers.
    pub(crate) fn span(&self) -> Range<usize> {
        self.root.span.clone()
    }

    /// The member of a family that it is, or begins with: `operand[2]`, `operand[2].shape`,
    /// `max(operand[2])`.
    pub(super) fn member(&self) -> Option<(&str, i128)> {
        let mut expr = &self.root;
        loop {
            expr = match &expr.kind {
                Kind::Index(base, subscripts) => match (&base.kind, subscripts.as_slice()) {
                    (Kind::Name(name), [Subscript::At(at)]) if Family::named(name).is_some() => {
                        let Kind::Integer(index) = at.kind else { return None };
                        return Some((name, index));
                    }
                    _ => base,
                },
                Kind::Field(base, _) | Kind::Cast(base, _) => base,
                Kind::Call(_, arguments) => arguments.first()?,
                _ => return None,
            };
        }
    }

    pub(super) fn root(&self) -> &Expr {
        &self.root
    }

    /// The value, with the place that keeps it.
    ///
    /// # Errors
    /// The expression does not make sense there, or takes too long.
    pub(crate) fn item(
        &self,
        scope: &mut dyn Scope,
        limits: Limits,
    ) -> Result<Item, ExpressionError> {
        // A text alone that names a tensor means that tensor.
        if let Kind::Text(name) = &self.root.kind
            && let Some(found) = scope.node(name)
        {
            return Ok(found);
        }
        Evaluator { scope, budget: Budget::new(limits) }.item(&self.root)
    }

    /// The value as it is shown under a name.
    ///
    /// # Errors
    /// The expression does not make sense there, or takes too long.
    pub(crate) fn variable(
        &self,
        scope: &mut dyn Scope,
        limits: Limits,
        name: &str,
    ) -> Result<Variable, ExpressionError> {
        self.shown(scope, limits, name).map(|(shown, _)| shown)
    }

    /// The value as it is shown under a name, and itself.
    ///
    /// # Errors
    /// The expression does not make sense there, or takes too long.
    pub(crate) fn shown(
        &self,
        scope: &mut dyn Scope,
        limits: Limits,
        name: &str,
    ) -> Result<(Variable, Item), ExpressionError> {
        let item = self.item(scope, limits)?;
        Ok((self.format.apply(item.variable(name), &item.datum), item))
    }

    /// Whether it is true.
    ///
    /// # Errors
    /// The expression does not make sense there, or takes too long.
    pub(crate) fn holds(&self, scope: &mut dyn Scope) -> Result<bool, ExpressionError> {
        let budget = Budget::new(Limits::default());
        Evaluator { scope, budget }.truth(&self.root)
    }
}
