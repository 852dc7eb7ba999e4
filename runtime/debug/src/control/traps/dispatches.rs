//! Checks before and after each dispatch: floats that go bad, guarded memory, and results that are
//! not what the text says.

use std::collections::HashSet;

use vm::{Boundary, BoundaryKind, FrameIndex, Invocation};

use super::difference::DifferenceTrap;
use super::dispatch_floats::FloatsBefore;
use super::guarded_memory::{GuardedMemory, unwritten_operand};
use super::settings::Traps;
use crate::control::breakpoints::log::LogSink;
use crate::control::breakpoints::spec::BreakpointId;
use crate::machine::Machine;
use crate::opinion::Evaluated;
use crate::tensor::TensorView;

/// The checks of dispatches, with what was found before the one that runs.
#[derive(Default, Debug)]
pub(crate) struct DispatchTraps {
    /// NaN and infinities in the tensors of the dispatch.
    floats: Option<FloatsBefore>,
    /// The contents of memory, if it is guarded.
    memory: Option<GuardedMemory>,
    /// What the dispatch should leave.
    difference: DifferenceTrap,
    /// Dispatches, by name and line, that were reported.
    caught: HashSet<(String, Option<u32>)>,
    /// Dispatches whose outputs are not known; that is reported once for each.
    opaque: HashSet<String>,
}

impl DispatchTraps {
    /// Forgets which dispatches were reported, so that they are reported again.
    pub(crate) fn forget_caught(&mut self) {
        self.caught.clear();
    }

    /// Checks the dispatch at whose boundary the program stands: an error that it is about to make,
    /// or has made.
    pub(crate) fn at_boundary(
        &mut self,
        machine: &Machine,
        traps: Traps,
        log: &mut LogSink,
        boundary: &Boundary,
    ) -> Option<String> {
        let Boundary { kind, name } = boundary;
        if name.is_empty() {
            return None;
        }
        let floats = self.check_floats(machine, traps, log, *kind, name);
        let memory = self.check_memory(machine, traps, *kind, name);
        let difference = self.check_difference(machine, traps, log, *kind, name);
        memory.or(floats).or(difference)
    }

    /// Checks again the dispatch before which the program stands, as memory may have been changed.
    pub(crate) fn look_again(&mut self, machine: &Machine, traps: Traps, log: &mut LogSink) {
        let boundary = machine.invocation().and_then(Invocation::boundary);
        let before = boundary.filter(|it| it.kind == BoundaryKind::BeforeStep);
        if let Some(boundary) = before.filter(|_| traps.looks_at_floats()) {
            self.look_at_floats(machine, traps, log, &boundary.name);
        }
        if before.is_some_and(|it| !it.name.is_empty()) && traps.difference {
            self.difference.before(machine, log);
        }
        if self.memory.is_some()
            && let Some(dispatch) = machine.dispatch(FrameIndex(0))
        {
            self.memory = Some(GuardedMemory::before(machine, &dispatch));
        }
    }

    fn check_floats(
        &mut self,
        machine: &Machine,
        traps: Traps,
        log: &mut LogSink,
        kind: BoundaryKind,
        name: &str,
    ) -> Option<String> {
        if !traps.looks_at_floats() {
            return None;
        }
        match kind {
            BoundaryKind::BeforePart => None,
            BoundaryKind::BeforeStep => {
                self.look_at_floats(machine, traps, log, name);
                None
            }
            BoundaryKind::AfterStep => {
                let before = self.floats.take()?;
                let dispatch = machine.dispatch(FrameIndex(0))?;
                let text = before.sentence(machine, traps, &dispatch, name)?;
                self.is_first_catch(machine, traps, name).then_some(text)
            }
        }
    }

    fn check_difference(
        &mut self,
        machine: &Machine,
        traps: Traps,
        log: &mut LogSink,
        kind: BoundaryKind,
        name: &str,
    ) -> Option<String> {
        if !traps.difference {
            return None;
        }
        match kind {
            BoundaryKind::BeforePart => None,
            BoundaryKind::BeforeStep => {
                self.difference.before(machine, log);
                None
            }
            BoundaryKind::AfterStep => {
                let text = self.difference.after(machine, log)?;
                self.is_first_catch(machine, traps, name).then_some(text)
            }
        }
    }

    /// What a tensor should be that the last dispatch has left, if it was judged.
    pub(crate) fn expected(&self, machine: &Machine, tensor: &TensorView) -> Option<Evaluated> {
        self.difference.expected(machine, tensor)
    }

    /// The user has changed values.
    pub(crate) fn values_changed(&mut self) {
        self.difference.values_changed();
    }

    fn look_at_floats(&mut self, machine: &Machine, traps: Traps, log: &mut LogSink, name: &str) {
        self.floats = None;
        let Some(dispatch) = machine.dispatch(FrameIndex(0)) else { return };
        let is_native = machine.dispatch_function(&dispatch).is_none();
        if !is_native && !traps.dispatch_nan && !traps.dispatch_infinity {
            return;
        }
        let before = FloatsBefore::look(machine, &dispatch);
        if before.is_blind() && self.opaque.insert(name.to_owned()) {
            let text = format!(
                "note: what dispatch @{name} writes is not known (`iree-dbg compile` writes that \
                 down), so bad floats in it are not seen"
            );
            log.notice(machine, BreakpointId(0), text);
        }
        self.floats = Some(before);
    }

    fn check_memory(
        &mut self,
        machine: &Machine,
        traps: Traps,
        kind: BoundaryKind,
        name: &str,
    ) -> Option<String> {
        if !machine.program.is_guarded() {
            return None;
        }
        let text = match kind {
            BoundaryKind::BeforePart => return None,
            BoundaryKind::BeforeStep => {
                let dispatch = machine.dispatch(FrameIndex(0))?;
                self.memory = Some(GuardedMemory::before(machine, &dispatch));
                unwritten_operand(machine, &dispatch, name)?
            }
            BoundaryKind::AfterStep => self.memory.take()?.stray_write(machine, name)?,
        };
        self.is_first_catch(machine, traps, name).then_some(text)
    }

    /// Whether a dispatch, at its line, was not reported before, or every time counts.
    fn is_first_catch(&mut self, machine: &Machine, traps: Traps, name: &str) -> bool {
        let line = machine.dispatch_source(FrameIndex(0)).map(|source| source.line);
        let is_new = self.caught.insert((name.to_owned(), line));
        is_new || traps.every
    }
}
