//! Expressions in frames of a stopped program.

use super::frame_scope::FrameScope;
use crate::expression::{
    Completion, Expression, ExpressionError, Format, Item, Limits, completions,
};
use crate::machine::Machine;
use crate::target::level::Level;
use crate::tensor::TensorView;
use crate::view::frame::FrameId;
use crate::view::variable::Variable;

impl Machine {
    /// A frame as a scope of expressions, with the names of a level.
    pub(crate) fn scope_at(&self, level: Level, frame: impl Into<FrameId>) -> FrameScope<'_> {
        FrameScope { machine: self, frame: frame.into(), level, is_for_places: false, ahead: None }
    }

    /// The value of an expression in a frame, within five seconds.
    ///
    /// # Errors
    /// The text is not an expression, or does not make sense here.
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
    /// The text is not an expression, does not make sense here, or takes too long.
    pub fn evaluate_within(
        &self,
        frame: impl Into<FrameId>,
        expression: &str,
        limits: Limits,
    ) -> Result<Variable, ExpressionError> {
        self.shown_within(frame, expression, limits).map(|(shown, _)| shown)
    }

    /// The tensor that an expression gives in a frame; `None` if it gives something else. A single
    /// number is one, too, if it is in the memory of a tensor.
    #[must_use]
    pub fn tensor_of(&self, frame: impl Into<FrameId>, expression: &str) -> Option<TensorView> {
        let (_, item) = self.shown_within(frame, expression, Limits::default()).ok()?;
        item.datum.tensor()
    }

    /// The value as it is shown, and itself.
    pub(crate) fn shown_within(
        &self,
        frame: impl Into<FrameId>,
        expression: &str,
        limits: Limits,
    ) -> Result<(Variable, Item), ExpressionError> {
        let mut scope = self.scope_at(self.level, frame);
        let trimmed = expression.trim();
        // `%x-1` may be a name rather than a subtraction.
        let (body, format) = Format::split(expression);
        let name = body.trim().strip_prefix('%');
        let shown = match name.and_then(|name| scope.local(name)) {
            Some(item) => (format.apply(item.variable(trimmed), &item.datum), item),
            None => Expression::parse(expression)?.shown(&mut scope, limits, trimmed)?,
        };
        let (shown, item) = shown;
        Ok((Variable { evaluate_name: Some(trimmed.to_owned()), ..shown }, item))
    }

    /// The value of an expression with the place that keeps it.
    pub(crate) fn item(
        &self,
        frame: impl Into<FrameId>,
        expression: &Expression,
    ) -> Result<Item, ExpressionError> {
        expression.item(&mut self.scope_at(self.level, frame), Limits::default())
    }

    /// The place that an expression names, with what is in it now.
    pub(crate) fn place_item(
        &self,
        frame: impl Into<FrameId>,
        expression: &Expression,
    ) -> Result<Item, ExpressionError> {
        let scope = self.scope_at(self.level, frame);
        expression.item(&mut FrameScope { is_for_places: true, ..scope }, Limits::default())
    }

    /// What can be inserted into an expression at `cursor`, a byte offset.
    #[must_use]
    pub fn completions(
        &self,
        frame: impl Into<FrameId>,
        text: &str,
        cursor: usize,
    ) -> Vec<Completion> {
        let values = || self.named_values(self.level, frame.into());
        completions(text, cursor, values, || self.program.export_names())
    }
}
