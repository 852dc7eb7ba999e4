//! Stop reasons as sentences, the same for every client.

use vm::FrameIndex;

use super::breakpoints::spec::{BreakpointId, BreakpointSpec, DispatchMoment};
use super::breakpoints::table::Breakpoint;
use super::runner::Runner;
use super::stop::{DataHit, DataUser, StopReason, Trapped};
use crate::machine::Machine;

impl Runner {
    /// Why the program is stopped, and where: a sentence without its full stop.
    #[must_use]
    pub(crate) fn sentence(&self, reason: &StopReason) -> String {
        match reason {
            StopReason::Entry => with_place(&self.machine, "before the first instruction"),
            StopReason::Breakpoint(ids) => self.breakpoints_sentence(ids),
            StopReason::Step => with_place(&self.machine, "stepped"),
            StopReason::Pause => with_place(&self.machine, "paused"),
            StopReason::Begin => with_place(&self.machine, "at the beginning of the recording"),
            StopReason::Data(hits) => {
                hits.iter().map(|hit| self.data_sentence(hit)).collect::<Vec<_>>().join("; ")
            }
            StopReason::Trap(Trapped { text, .. }) | StopReason::Found(text) => text.clone(),
            StopReason::BreakInstruction => {
                with_place(&self.machine, "the program asked to stop (vm.break)")
            }
            StopReason::Failed(failure) => {
                with_place(&self.machine, &format!("failed: {}", failure.status))
            }
            StopReason::Completed(_) => "the program is over".to_owned(),
        }
    }

    /// `%sq changed: 99 → 1, by arith.addi at lists.mlir:44`.
    #[must_use]
    pub(crate) fn data_sentence(&self, hit: &DataHit) -> String {
        let DataHit { name, old, new, .. } = hit;
        let what = match () {
            () if hit.is_read => format!("{name} was read: {new}"),
            () if old == new => format!("{name} was written: {new} again"),
            () => format!("{name} changed: {old} → {new}"),
        };
        match hit.by.as_ref().and_then(|user| user_text(&self.machine, user)) {
            Some(user) => format!("{what}, by {user}"),
            None => what,
        }
    }

    /// `arith.addf at layer.mlir:18`
    pub(crate) fn user_text(&self, user: &DataUser) -> Option<String> {
        user_text(&self.machine, user)
    }

    /// The condition that could not be evaluated at this stop, and why.
    #[must_use]
    pub(crate) fn failed_condition(&self) -> Option<String> {
        let (id, why) = self.breakpoints.failed_conditions.first()?;
        Some(format!("the condition of breakpoint {} failed: {why}", id.0))
    }

    fn breakpoints_sentence(&self, ids: &[BreakpointId]) -> String {
        if let Some(text) = self.failed_condition() {
            return with_place(&self.machine, &text);
        }
        let numbers: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
        let hits = match ids {
            [only] => self.breakpoints.table.get(*only).map_or(0, Breakpoint::hits),
            _ => 0,
        };
        let times = if hits > 1 { format!(", hit {hits} times") } else { String::new() };
        let moment = ids.first().and_then(|id| self.breakpoints.table.get(*id)).map_or("", moment);
        let plural = if ids.len() == 1 { "" } else { "s" };
        with_place(
            &self.machine,
            &format!("breakpoint{plural} {}{times}{moment}", numbers.join(", ")),
        )
    }

    /// What [`crate::Traps`] look for now, one line each.
    #[must_use]
    pub(crate) fn catches(&self) -> Vec<String> {
        let traps = self.watcher.traps;
        let how_often = if traps.every { "each time" } else { "once per operation" };
        let by_operations = |what: &str| match traps.operations {
            true => format!(
                "{what}, where any operation makes it from operands that have none; {how_often}"
            ),
            false => format!(
                "{what} that dispatches leave or the program computes, where an operation makes it \
                 from operands that have none; {how_often}"
            ),
        };
        let by_dispatches =
            |what: &str| format!("{what} that a dispatch leaves in what it writes; {how_often}");
        let all = [
            (traps.nan, by_operations("NaN")),
            (traps.infinity, by_operations("infinity")),
            (traps.dispatch_nan, by_dispatches("NaN")),
            (traps.dispatch_infinity, by_dispatches("infinity")),
            (
                traps.overflow,
                format!("integers that overflow, in operations of the source; {how_often}"),
            ),
            (
                traps.difference,
                format!(
                    "dispatches that leave something else than their text says, in float64; \
                     {how_often}"
                ),
            ),
        ];
        let guard = self.machine.program.is_guarded().then(|| {
            "dispatches that read what nothing has written, or write what they do not declare; \
             once per operation"
                .to_owned()
        });
        all.into_iter().filter(|(is_on, _)| *is_on).map(|(_, text)| text).chain(guard).collect()
    }
}

/// The moment at which a breakpoint on dispatches stops, for sentences.
fn moment(breakpoint: &Breakpoint) -> &'static str {
    match &breakpoint.spec {
        BreakpointSpec::Dispatch { when: DispatchMoment::After, .. } => ", after a dispatch",
        _ => "",
    }
}

/// The user of data: `arith.addi at lists.mlir:44`.
fn user_text(machine: &Machine, user: &DataUser) -> Option<String> {
    match user {
        DataUser::Instruction(at) => {
            let name = operation_name(machine, *at)?;
            Some(match machine.own_source_line(*at) {
                Some(source) => format!("{name} at {}:{}", source.file, source.line),
                None => format!("{name} at {}", at.offset),
            })
        }
        DataUser::Return(_) => Some(with_place(machine, "a call that returned")),
        DataUser::Command(name) => {
            let what = match name.as_str() {
                "" => "a command of the device".to_owned(),
                name => format!("dispatch @{name}"),
            };
            let place = machine.dispatch_place(FrameIndex(0));
            Some(place.map_or(what.clone(), |place| format!("{what} at {place}")))
        }
    }
}

/// The operation of the source at an instruction, or else the instruction.
fn operation_name(machine: &Machine, at: vm::Position) -> Option<String> {
    let module = machine.program.module(at.function.module)?;
    let written = || {
        let place = *machine.path_of(at).last()?;
        let source = module.info.source(place.file)?;
        let name = source.operation_at(place.line, place.column)?;
        // The place of a function, or a place in a text that has changed, is no operation that
        // runs.
        (name.contains('.') && !source.is_function(place.line, place.column))
            .then(|| name.to_owned())
    };
    let code = module.module.function_bytecode(at.function.function);
    written().or_else(|| {
        let instruction = vmfb::decode(code, at.offset).ok()?;
        Some(format!("vm.{}", instruction.op.mnemonic()))
    })
}

/// A text with the place where the program stands: `stepped, in main at a.mlir:5`.
fn with_place(machine: &Machine, text: &str) -> String {
    let frames = machine.frames();
    let Some(frame) = frames.first() else { return text.to_owned() };
    match &frame.source {
        Some(source) => format!("{text}, in {} at {}:{}", frame.name, source.file, source.line),
        None => match frame.position {
            Some(position) => format!("{text}, in {} at {}", frame.name, position.offset),
            None => format!("{text}, in {}", frame.name),
        },
    }
}
