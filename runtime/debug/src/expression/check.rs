//! Checks of an expression before it is evaluated.

use super::datum::Family;
use super::error::ExpressionError;
use super::parsed::Expression;
use super::reduce;
use super::syntax::{Binary, Expr, Kind, Subscript, Unary};

impl Expression {
    /// Checks that all names stand for something, as `is_known` says.
    pub(crate) fn check_names(
        &self,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Result<(), ExpressionError> {
        check(self.root(), is_known)
    }
}

impl Expression {
    /// Checks that the expression may be a condition. A text is neither true nor false, which can
    /// be seen without a program.
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
        text(self.root()).map_or(Ok(()), |text| {
            let message = "a text is neither true nor false; compare it with something";
            Err(ExpressionError::of_text(text.span.clone(), message))
        })
    }

    /// The names that are spelled as values.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut found = Vec::new();
        names_in(self.root(), &mut found);
        found.into_iter()
    }
}

fn names_in<'e>(expr: &'e Expr, found: &mut Vec<&'e str>) {
    match &expr.kind {
        Kind::Integer(_)
        | Kind::Float(_)
        | Kind::Bool(_)
        | Kind::Text(_)
        | Kind::Function(_)
        | Kind::Printed(_) => {}
        Kind::Name(name) => found.push(name),
        Kind::Unary(_, operand) | Kind::Field(operand, _) | Kind::Cast(operand, _) => {
            names_in(operand, found);
        }
        Kind::Binary(_, left, right) => {
            [left, right].into_iter().for_each(|it| names_in(it, found));
        }
        Kind::Choice(condition, yes, no) => {
            [condition, yes, no].into_iter().for_each(|it| names_in(it, found));
        }
        Kind::Index(base, _) => names_in(base, found),
        Kind::Call(_, arguments) => arguments.iter().for_each(|it| names_in(it, found)),
    }
}

fn check(expr: &Expr, is_known: &dyn Fn(&str) -> bool) -> Result<(), ExpressionError> {
    let parts = |subscript: &Subscript| -> Vec<Expr> {
        match subscript {
            Subscript::At(at) => vec![at.clone()],
            Subscript::Range(start, end, step) => {
                [start, end, step].into_iter().flatten().cloned().collect()
            }
        }
    };
    match &expr.kind {
        Kind::Function(path) if path.ends_with(".npy") => {
            let what = "files are read for what is typed into the console, not for breakpoints";
            Err(ExpressionError::of_text(expr.span.clone(), what))
        }
        Kind::Integer(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Text(_) | Kind::Function(_) => {
            Ok(())
        }
        Kind::Printed(_) => {
            let what = "what was printed is known to what is typed into the console only";
            Err(ExpressionError::of_text(expr.span.clone(), what))
        }
        Kind::Name(name) => {
            let is_there =
                Family::named(name).is_some() || matches!(name.as_str(), "null") || is_known(name);
            if is_there {
                return Ok(());
            }
            let what = format!("nothing is called {name:?} there");
            Err(ExpressionError::of_text(expr.span.clone(), what))
        }
        Kind::Unary(_, operand) | Kind::Field(operand, _) | Kind::Cast(operand, _) => {
            check(operand, is_known)
        }
        Kind::Binary(_, left, right) => {
            check(left, is_known)?;
            check(right, is_known)
        }
        Kind::Choice(condition, yes, no) => {
            [condition, yes, no].into_iter().try_for_each(|it| check(it, is_known))
        }
        Kind::Index(base, subscripts) => {
            check(base, is_known)?;
            subscripts.iter().flat_map(parts).try_for_each(|it| check(&it, is_known))
        }
        Kind::Call(callee, arguments) => {
            let is_function = match &callee.kind {
                Kind::Name(name) => reduce::named(name).is_some(),
                _ => false,
            };
            if !is_function {
                let what = "functions of the program are called in the console only";
                return Err(ExpressionError::of_text(callee.span.clone(), what));
            }
            arguments.iter().try_for_each(|it| check(it, is_known))
        }
    }
}
