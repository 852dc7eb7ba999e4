//! Why the program stands still, in a sentence: the same for every client.

use vm::FrameIndex;

use crate::breakpoint::{Breakpoint, BreakpointId, BreakpointSpec};
use crate::debugger::Debugger;
use crate::stop::StopReason;
use crate::watch::{DataHit, DataUser};

impl Debugger {
    /// Why the program stands still, and where: a sentence without its full stop.
    #[must_use]
    pub fn sentence(&self, reason: &StopReason) -> String {
        match reason {
            StopReason::Entry => self.with_place("before the first instruction"),
            StopReason::Breakpoint(ids) => self.breakpoints_sentence(ids),
            StopReason::Step => self.with_place("stepped"),
            StopReason::Pause => self.with_place("paused"),
            StopReason::Data(hits) => {
                hits.iter().map(|hit| self.data_sentence(hit)).collect::<Vec<_>>().join("; ")
            }
            StopReason::Trap(text) => text.clone(),
            StopReason::BreakInstruction => self.with_place("the program asked to stop (vm.break)"),
            StopReason::Failed(failure) => self.with_place(&format!("failed: {}", failure.status)),
            StopReason::Completed(_) => "the program is over".to_owned(),
        }
    }

    /// `%sq changed: 99 → 1, by arith.addi at lists.mlir:44`.
    #[must_use]
    pub fn data_sentence(&self, hit: &DataHit) -> String {
        let DataHit { name, old, new, .. } = hit;
        let what = match () {
            () if hit.is_read => format!("{name} was read: {new}"),
            () if old == new => format!("{name} was written: {new} again"),
            () => format!("{name} changed: {old} → {new}"),
        };
        match hit.by.as_ref().and_then(|user| self.user_text(user)) {
            Some(user) => format!("{what}, by {user}"),
            None => what,
        }
    }

    /// What uses data: `arith.addi at lists.mlir:44`.
    fn user_text(&self, user: &DataUser) -> Option<String> {
        match user {
            DataUser::Instruction(at) => {
                let name = self.operation_name(*at)?;
                Some(match self.source_line(*at) {
                    Some(source) => format!("{name} at {}:{}", source.file, source.line),
                    None => format!("{name} at {}", at.offset),
                })
            }
            DataUser::Return(_) => Some(self.with_place("a call that returned")),
            DataUser::Command(name) => {
                let what = match name.as_str() {
                    "" => "a command of the device".to_owned(),
                    name => format!("dispatch @{name}"),
                };
                let source = self.dispatch_source(FrameIndex(0));
                let source = source.map(|it| format!(" at {}:{}", it.file, it.line));
                Some(what + &source.unwrap_or_default())
            }
        }
    }

    /// The operation that an instruction was made from, else the instruction.
    fn operation_name(&self, at: vm::Position) -> Option<String> {
        let module = self.program.module(at.function.module)?;
        let written = || {
            let place = *self.program.path_of(at).last()?;
            let source = module.info.source(place.file)?;
            let name = source.operation_at(place.line, place.column)?;
            // A place of a function, or in a text that has changed, is no operation that does
            // something.
            (name.contains('.') && !source.is_function(place.line, place.column))
                .then(|| name.to_owned())
        };
        let code = module.module.function_bytecode(at.function.function);
        written().or_else(|| {
            let instruction = vmfb::decode(code, at.offset).ok()?;
            Some(format!("vm.{}", instruction.op.mnemonic()))
        })
    }

    /// Which condition could not be asked at this stop, and why.
    #[must_use]
    pub fn failed_condition(&self) -> Option<String> {
        let (id, why) = self.failed_conditions.first()?;
        Some(format!("the condition of breakpoint {} failed: {why}", id.0))
    }

    fn breakpoints_sentence(&self, ids: &[BreakpointId]) -> String {
        if let Some(text) = self.failed_condition() {
            return self.with_place(&text);
        }
        let numbers: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
        let hits = match ids {
            [only] => self.breakpoint(*only).map_or(0, Breakpoint::hits),
            _ => 0,
        };
        let times = if hits > 1 { format!(", hit {hits} times") } else { String::new() };
        let moment = ids.first().and_then(|id| self.breakpoint(*id)).map_or("", moment);
        let plural = if ids.len() == 1 { "" } else { "s" };
        self.with_place(&format!("breakpoint{plural} {}{times}{moment}", numbers.join(", ")))
    }

    /// A text with the place where the program stands: `stepped to a.mlir:5 in main`.
    fn with_place(&self, text: &str) -> String {
        let frames = self.frames();
        let Some(frame) = frames.first() else { return text.to_owned() };
        match &frame.source {
            Some(source) => format!("{text}, in {} at {}:{}", frame.name, source.file, source.line),
            None => match frame.position {
                Some(position) => format!("{text}, in {} at {}", frame.name, position.offset),
                None => format!("{text}, in {}", frame.name),
            },
        }
    }

    /// What [`crate::Traps`] look for just now, a line each.
    #[must_use]
    pub fn catches(&self) -> Vec<String> {
        let traps = self.traps();
        let how_often = if traps.every { "each time" } else { "once an operation" };
        let by_instructions = |what: &str| {
            format!(
                "{what}, where an instruction makes it of operands that are none, or a dispatch of \
                 machine code leaves it; {how_often}"
            )
        };
        let by_dispatches =
            |what: &str| format!("{what} that a dispatch leaves in what it writes; {how_often}");
        let all = [
            (traps.nan, by_instructions("NaN")),
            (traps.infinity, by_instructions("infinity")),
            (traps.dispatch_nan, by_dispatches("NaN")),
            (traps.dispatch_infinity, by_dispatches("infinity")),
            (
                traps.overflow,
                format!("integers that overflow, in operations of the source; {how_often}"),
            ),
        ];
        let guard = self.program.is_guarded().then(|| {
            "dispatches that read what nothing has written, or write what they do not declare; once \
             an operation"
                .to_owned()
        });
        all.into_iter().filter(|(is_on, _)| *is_on).map(|(_, text)| text).chain(guard).collect()
    }
}

/// When a breakpoint on dispatches stops.
fn moment(breakpoint: &Breakpoint) -> &'static str {
    match &breakpoint.spec {
        BreakpointSpec::Dispatch { when: crate::breakpoint::DispatchMoment::After, .. } => {
            ", behind a dispatch"
        }
        _ => "",
    }
}
