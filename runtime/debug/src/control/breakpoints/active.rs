//! The breakpoints of a machine: their table, the instructions that are armed for them, and what
//! happens when the program reaches one.

use debuginfo::Given;
use std::sync::Arc;

use vm::{FrameIndex, Position};

use super::armed::ArmedInstructions;
use super::guard::Names;
use super::log::{LogMessage, LogSink};
use super::spec::{BreakpointId, BreakpointSpec};
use super::table::{Breakpoint, BreakpointOptions, BreakpointTable, OptionError};
use crate::expression::{Datum, Expression, ExpressionError, Scope as _, Template};
use crate::inspect::ahead::LineAhead;
use crate::inspect::frame_scope::{FrameScope, RUN};
use crate::machine::Machine;
use crate::target::level::Level;
use crate::target::program::Program;
use crate::view::absent::Absent;
use crate::view::frame::FrameId;

/// The breakpoints of a machine.
#[derive(Default)]
pub(crate) struct ActiveBreakpoints {
    pub(crate) table: BreakpointTable,
    pub(crate) armed: ArmedInstructions,
    pub(crate) log: LogSink,
    /// Conditions that could not be evaluated at this stop, and why.
    pub(crate) failed_conditions: Vec<(BreakpointId, String)>,
}

impl ActiveBreakpoints {
    /// Sets what a breakpoint does besides stopping. Instructions are not armed here.
    ///
    /// # Errors
    /// The condition or message is not an expression, or uses a name that means nothing at the
    /// breakpoint. Nothing is changed then.
    pub(crate) fn set_options(
        &mut self,
        machine: &Machine,
        id: BreakpointId,
        options: &BreakpointOptions,
    ) -> Result<(), OptionError> {
        let program = &machine.program;
        let breakpoint = self.table.get(id).ok_or(OptionError::NoBreakpoint)?;
        let level = breakpoint.spec.level(program, machine.level);
        let place = breakpoint.locations.first().copied();
        let calls = place.and_then(|place| breakpoint.calls_meant(program, place));
        let check = |expression: &Expression| match place {
            // What variables of Python are is known at a stop.
            Some(_) if level == Level::Python => Ok(()),
            Some(place) => {
                // In code that operations share, a name is one of the operation that uses it.
                let users = breakpoint.used_by.get(&place).into_iter().flatten();
                let users: Vec<Position> = users.copied().collect();
                check_names(program, expression, Names { level, calls }, (place, &users))
            }
            None => Ok(()),
        };
        let condition = match options.condition.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(text) => {
                let condition = Expression::parse(text).map_err(OptionError::Condition)?;
                condition.check_truth().map_err(OptionError::Condition)?;
                check(&condition).map_err(OptionError::Condition)?;
                Some(Arc::new(condition))
            }
        };
        let log = match options.log.as_deref() {
            None | Some("") => None,
            Some(text) => {
                let template = Template::parse(text).map_err(OptionError::Log)?;
                for expression in template.expressions() {
                    check(expression).map_err(|error| {
                        let start = text.find(expression.text()).unwrap_or(0);
                        let span = error.span.start + start..error.span.end + start;
                        OptionError::Log(ExpressionError::new(span, error.reason))
                    })?;
                }
                Some(Arc::new(template))
            }
        };
        let same = |known: &Option<Arc<Expression>>| {
            known
                .as_ref()
                .filter(|known| options.condition.as_deref() == Some(known.text()))
                .cloned()
        };
        if let Some(breakpoint) = self.table.get_mut(id) {
            let condition = same(&breakpoint.condition).or(condition);
            breakpoint.level = level;
            if breakpoint.has_failed {
                (breakpoint.has_failed, breakpoint.message) = (false, None);
            }
            breakpoint.condition = condition;
            breakpoint.hit_condition = options.hit_condition;
            breakpoint.log = log;
        }
        Ok(())
    }

    /// The breakpoints that stop the program, among those that it has reached. Each breakpoint
    /// whose condition holds is counted; one with a log message sends it and does not stop. Names
    /// have their meaning in the text in which the breakpoint was set.
    pub(crate) fn hit(
        &mut self,
        machine: &Machine,
        candidates: Vec<BreakpointId>,
    ) -> Vec<BreakpointId> {
        let mut stopping = Vec::new();
        let meant = candidates.into_iter().filter(|id| self.is_meant(machine, *id));
        for id in meant.collect::<Vec<_>>() {
            let Some(breakpoint) = self.table.get(id) else { continue };
            let (condition, log) = (breakpoint.condition.clone(), breakpoint.log.clone());
            let level = breakpoint.level;
            let is_refined = condition.is_some() || log.is_some();
            let position = machine.position().filter(|_| is_refined);
            let calls = position.and_then(|at| breakpoint.calls_meant(&machine.program, at));
            let line = breakpoint.line.filter(|_| is_refined);
            let python = breakpoint.spec.python_calls_meant(machine, level, line);
            let python = python.and_then(|it| it.checked_sub(1));
            let frame = FrameId { index: FrameIndex(0), calls, python };
            let mut scope = machine.scope_at(level, frame);
            scope.ahead = line_ahead(machine, breakpoint).filter(|_| is_refined);
            let holds = match condition {
                Some(condition) => self.holds(&mut scope, id, &condition),
                None => Ok(true),
            };
            match holds {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    if self.condition_failed(id, &error) {
                        stopping.push(id);
                    }
                    continue;
                }
            }
            if !self.table.count(id) {
                continue;
            }
            match log {
                Some(template) => self.log_message(&mut scope, id, &template),
                None => stopping.push(id),
            }
        }
        stopping
    }

    /// Whether a condition holds. A condition with a missing value does not, which is reported
    /// once.
    fn holds(
        &mut self,
        scope: &mut FrameScope<'_>,
        id: BreakpointId,
        condition: &Expression,
    ) -> Result<bool, ExpressionError> {
        let (machine, level) = (scope.machine, scope.level);
        let missing = |name: &str| {
            let reason = machine.meaning(level, scope.frame, name).map(|it| it.missing());
            if matches!(reason, Some(None)) {
                return None;
            }
            // The code alone does not know what dispatches have left.
            match scope.find(name) {
                Some(item) => match item.datum {
                    Datum::Missing(reason) => Some(reason),
                    _ => None,
                },
                None => reason.flatten().map(Absent::from),
            }
        };
        let Some((name, reason)) = condition.names().find_map(|it| Some((it, missing(it)?))) else {
            return condition.holds(scope);
        };
        let text = format!(
            "note: the condition of breakpoint {} does not hold where %{name} is {reason}",
            id.0
        );
        let breakpoint = self.table.get_mut(id);
        if breakpoint.is_some_and(|it| !std::mem::replace(&mut it.is_blind, true)) {
            let source = machine.position();
            let source = source.and_then(|at| machine.program.source_line_at(level, at));
            self.log.send(LogMessage { breakpoint: id, text, source });
        }
        Ok(false)
    }

    /// Whether a breakpoint is about the command that the program has reached, if it has reached
    /// one: other commands may use the same dispatch.
    fn is_meant(&self, machine: &Machine, id: BreakpointId) -> bool {
        let Some(breakpoint) = self.table.get(id) else { return false };
        let command = machine.command(FrameIndex(0));
        let recorded_at = command.and_then(|command| command.recorded_at);
        let is_user = |place: &Position| match (breakpoint.used_by.get(place), recorded_at) {
            (Some(users), Some(command)) => users.contains(&command),
            _ => true,
        };
        if let Some(position) = machine.position() {
            return is_user(&position);
        }
        use BreakpointSpec::{Function, Line, Operation};
        if !matches!(breakpoint.spec, Line { .. } | Function { .. } | Operation { .. }) {
            return true;
        }
        // If the line has bytecode in the dispatch, the breakpoint stops there.
        let dispatch = machine.dispatch(FrameIndex(0));
        let function = dispatch.and_then(|it| machine.dispatch_function(&it));
        let is_inside = breakpoint
            .locations
            .iter()
            .any(|place| Some(place.function) == function && is_user(place));
        let is_it = command.is_some_and(|it| breakpoint.commands.iter().any(|at| at.fits(it)));
        is_it && !is_inside
    }

    /// Records that a condition cannot be evaluated, and returns whether to stop for that: only the
    /// first time. Passing in silence would look as if the condition were never true.
    fn condition_failed(&mut self, id: BreakpointId, error: &ExpressionError) -> bool {
        let Some(breakpoint) = self.table.get_mut(id) else { return false };
        if std::mem::replace(&mut breakpoint.has_failed, true) {
            return false;
        }
        breakpoint.message = Some(format!("the condition failed: {error}"));
        self.failed_conditions.push((id, error.to_string()));
        true
    }

    fn log_message(
        &mut self,
        scope: &mut FrameScope<'_>,
        breakpoint: BreakpointId,
        template: &Template,
    ) {
        if !self.log.is_set() {
            return;
        }
        let text = template.message(scope);
        let machine = scope.machine;
        let position = machine.position();
        let source = position.and_then(|at| machine.program.source_line_at(scope.level, at));
        self.log.send(LogMessage { breakpoint, text, source });
    }

    /// Sends a text on behalf of a breakpoint, with the place where the program stands.
    pub(crate) fn notice(&mut self, machine: &Machine, breakpoint: BreakpointId, text: String) {
        self.log.notice(machine, breakpoint, text);
    }

    /// Whether a breakpoint needs stops at dispatches.
    pub(crate) fn any_of_dispatches(&self) -> bool {
        self.table.iter().any(Breakpoint::is_of_dispatches)
    }
}

/// The line of a breakpoint in the dispatch before which the program stands.
fn line_ahead(machine: &Machine, breakpoint: &Breakpoint) -> Option<LineAhead> {
    let BreakpointSpec::Line { file, line, .. } = &breakpoint.spec else { return None };
    LineAhead::of(machine, file, breakpoint.line.unwrap_or(*line))
}

/// Checks that all names in an expression may stand for something at an instruction, or at those
/// that record commands for which it runs.
fn check_names(
    program: &Program,
    expression: &Expression,
    names: Names,
    (place, users): (Position, &[Position]),
) -> Result<(), ExpressionError> {
    let Names { level, calls } = names;
    let is_nested = program.module(place.function.module).is_some_and(|it| it.is_nested);
    let is_known = |name: &str| {
        let of_dispatch = is_nested && matches!(name, "workgroup_id" | "workgroup_count");
        let arguments = || program.argument_names();
        of_dispatch
            || matches!(name, "dispatch" | "line" | RUN)
            || program.meaning(level, place, calls, name, Given::Unknown).is_some()
            || users
                .iter()
                .any(|at| program.meaning(level, *at, None, name, Given::Unknown).is_some())
            || program.name_slot(level, place, calls, name).is_some()
            || (place.function == program.entry()
                && (name.starts_with("arg") || arguments().iter().any(|known| known == name)))
    };
    expression.check_names(&is_known)
}
