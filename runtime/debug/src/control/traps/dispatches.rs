//! Checks before and after each dispatch: floats that go bad, guarded memory, and results that are
//! not what the text says.

use std::collections::HashSet;

use vm::{Boundary, BoundaryKind, FrameIndex, Invocation};

use super::difference::DifferenceTrap;
use super::dispatch_floats::{FloatsBefore, Run};
use super::guarded_memory::GuardedMemory;
use super::guarded_reads::{IndexCheck, unwritten_operand};
use super::settings::Traps;
use crate::control::breakpoints::log::LogSink;
use crate::control::breakpoints::spec::BreakpointId;
use crate::control::stop::{TrapKind, Trapped};
use crate::machine::Machine;
use crate::opinion::Evaluated;
use crate::tensor::TensorView;

/// The checks of dispatches, with what was found before the one that runs.
#[derive(Default, Debug)]
pub(crate) struct DispatchTraps {
    /// What the dispatch overwrites, if its floats are looked at.
    pub(crate) floats: Option<FloatsBefore>,
    /// The contents of memory, if it is guarded.
    memory: Option<GuardedMemory>,
    /// Whether indices lead outside of tensors, if memory is guarded.
    indices: IndexCheck,
    /// What the dispatch should leave.
    difference: DifferenceTrap,
    /// Dispatches, by name and line, that were reported.
    caught: HashSet<(String, Option<u32>)>,
    /// Dispatches whose floats are not known; that is noted once for each.
    opaque: HashSet<String>,
}

impl DispatchTraps {
    /// Forgets which dispatches were reported, so that they are reported again.
    pub(crate) fn forget_caught(&mut self) {
        self.caught.clear();
    }

    /// Checks the dispatch at whose boundary the program stands: an error that it is about to make,
    /// or has made. What it has done to floats is known already.
    pub(crate) fn at_boundary(
        &mut self,
        machine: &Machine,
        traps: Traps,
        log: &mut LogSink,
        boundary: &Boundary,
        floats: Option<Trapped>,
    ) -> Option<Trapped> {
        let Boundary { kind, name } = boundary;
        if name.is_empty() {
            return None;
        }
        if *kind == BoundaryKind::BeforeStep {
            self.keep_floats(machine, traps, log, name);
        }
        let memory = self.check_memory(machine, traps, *kind, name);
        let difference = self.check_difference(machine, traps, log, *kind, name);
        let memory = memory.map(|text| Trapped { kind: TrapKind::Memory, text });
        let difference = difference.map(|text| Trapped { kind: TrapKind::Difference, text });
        memory.or(floats).or(difference)
    }

    /// Checks again the dispatch before which the program stands, as memory may have been changed.
    pub(crate) fn look_again(&mut self, machine: &Machine, traps: Traps, log: &mut LogSink) {
        let boundary = machine.invocation().and_then(Invocation::boundary);
        let before = boundary.filter(|it| it.kind == BoundaryKind::BeforeStep);
        if let Some(boundary) = before.filter(|it| !it.name.is_empty()) {
            match &mut self.floats {
                Some(floats) if floats.run == Run::Search => floats.begin_search(),
                _ => self.keep_floats(machine, traps, log, &boundary.name),
            }
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
        if let Some(floats) = &mut self.floats {
            floats.may_run_again = false;
        }
    }

    /// Keeps what the dispatch overwrites before which the program stands.
    pub(crate) fn keep_floats(
        &mut self,
        machine: &Machine,
        traps: Traps,
        log: &mut LogSink,
        name: &str,
    ) {
        self.floats = None;
        let Some(dispatch) = machine.dispatch(FrameIndex(0)).filter(|_| traps.looks_at_floats())
        else {
            return;
        };
        let before = FloatsBefore::keep(machine, &dispatch);
        let is_native = machine.dispatch_function(&dispatch).is_none();
        if is_native && before.is_blind() {
            let text = format!(
                "note: what dispatch @{name} writes is not known (`iree-dbg compile` writes that \
                 down), so bad floats in it are not seen"
            );
            self.note_once(machine, log, name, text);
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
                let unwritten = unwritten_operand(machine, &dispatch, name);
                unwritten.or_else(|| self.indices.outside(machine, &dispatch, name))?
            }
            BoundaryKind::AfterStep => self.memory.take()?.stray_write(machine, name)?,
        };
        self.is_first_catch(machine, traps, name).then_some(text)
    }

    /// Sends a note, once for each dispatch.
    pub(crate) fn note_once(
        &mut self,
        machine: &Machine,
        log: &mut LogSink,
        name: &str,
        text: String,
    ) {
        if self.opaque.insert(name.to_owned()) {
            log.notice(machine, BreakpointId(0), text);
        }
    }

    /// Whether a dispatch, at its line, was not reported before, or every time counts.
    pub(crate) fn is_first_catch(&mut self, machine: &Machine, traps: Traps, name: &str) -> bool {
        let line = machine.dispatch_source(FrameIndex(0)).map(|source| source.line);
        let is_new = self.caught.insert((name.to_owned(), line));
        is_new || traps.every
    }
}
