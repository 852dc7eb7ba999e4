//! Running to a place, jumping to another instruction, and restarting a frame.

use debuginfo::RegisterSlot;
use vm::{FrameIndex, Position};
use vmfb::decode::Operand;

use super::breakpoints::spec::BreakpointSpec;
use super::refused::Refused;
use super::runner::Runner;
use super::stop::{Granularity, Resume, StepKind, StopReason};
use crate::machine::{Machine, Phase};
use crate::target::resolve::Resolution;
use crate::view::register;

impl Runner {
    /// Runs to a place, unless something stops the program earlier.
    ///
    /// # Errors
    /// The place is nowhere; the message says why.
    pub(crate) fn run_to(&mut self, spec: &BreakpointSpec) -> Result<StopReason, Refused> {
        let found = spec.resolve(&self.machine.program);
        if found.locations.is_empty() {
            return Err(why_nowhere(found));
        }
        let reason = self.after(|debugger| debugger.run_to_any(&found.locations, None));
        if matches!(reason, StopReason::Step) {
            self.stand_at(spec, (found.line, found.column));
        }
        Ok(reason)
    }

    /// The instructions of a place at which the innermost frame can resume.
    ///
    /// # Errors
    /// The place is nowhere, or not in the frame's function.
    pub(crate) fn goto_targets(&self, spec: &BreakpointSpec) -> Result<Vec<Position>, Refused> {
        let here = self.machine.position().ok_or(Refused::NativeResumes)?;
        let found = spec.resolve(&self.machine.program);
        let inside: Vec<Position> =
            found.locations.iter().filter(|at| at.function == here.function).copied().collect();
        match (found.locations.is_empty(), inside.is_empty()) {
            (true, _) => Err(why_nowhere(found)),
            (false, true) => {
                let function = self.machine.program.function_label(here.function);
                Err(Refused::InOtherFunction { function })
            }
            (false, false) => Ok(inside),
        }
    }

    /// Makes the innermost frame resume at another instruction of its function. Nothing is run.
    ///
    /// # Errors
    /// The instruction is elsewhere, or the code from there on reads registers that nothing has
    /// written.
    pub(crate) fn jump(&mut self, target: Position) -> Result<(), Refused> {
        let here = self.machine.position().ok_or(Refused::NativeResumes)?;
        if here.function != target.function {
            return Err(Refused::JumpsOut);
        }
        let module = self.machine.program.module(here.function.module).ok_or(Refused::NoModule)?;
        let present = module.registers(here);
        let missing = module.registers(target).iter().copied().find(|slot| !present.contains(slot));
        if let Some(slot) = missing {
            let (what, register) = (slot_type(slot), register::name(slot));
            return Err(Refused::Unwritten { what, register });
        }
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) =
            &mut self.machine.phase
        else {
            return Err(Refused::NothingRuns);
        };
        if invocation.jump(&self.machine.context, target.offset) {
            (self.machine.hidden_calls, self.machine.stands_after) = (0, None);
            return Ok(());
        }
        Err(Refused::NoInstruction { offset: target.offset.to_string() })
    }

    /// Restarts a frame with the arguments that it was called with; the program then stands before
    /// the frame's first instruction. What the frame has done to globals and objects stays done.
    ///
    /// # Errors
    /// The frame is native, native code has called it, or an argument is gone.
    pub(crate) fn restart_frame(&mut self, frame: FrameIndex) -> Result<StopReason, Refused> {
        let total = self.machine.depth();
        let depth = total.checked_sub(1 + frame.0).ok_or(Refused::NoFrame)?;
        self.machine.position_in(frame).ok_or(Refused::NativeRestarts)?;
        if depth == 0 {
            if !matches!(self.machine.phase, Phase::Running(_)) {
                return Err(Refused::NotLaunched);
            }
            let invocation = self.machine.program.entry_invocation(&self.machine.context);
            let invocation = invocation.map_err(|status| Refused::Failed(status.to_string()))?;
            self.interrupt.attach(invocation.interrupt());
            self.machine.phase = Phase::Running(invocation);
            return Ok(match self.after(Self::run_to_entry) {
                StopReason::Entry => StopReason::Step,
                other => other,
            });
        }
        let caller = FrameIndex(frame.0 + 1);
        let call = self.machine.position_in(caller).ok_or(Refused::NativeCaller)?;
        check_call_again(&self.machine, call)?;
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) =
            &mut self.machine.phase
        else {
            return Err(Refused::NothingRuns);
        };
        if !invocation.unwind(depth - 1) {
            return Err(Refused::NativeAbove);
        }
        self.machine.hidden_calls = 0;
        Ok(self.resume(Resume::Step(StepKind::Into, Granularity::Line)))
    }
}

/// Checks that the arguments of a call are still in the caller's registers.
fn check_call_again(machine: &Machine, call: Position) -> Result<(), Refused> {
    let module = machine.program.module(call.function.module).ok_or(Refused::NoModule)?;
    let code = module.module.function_bytecode(call.function.function);
    let instruction =
        vmfb::decode(code, call.offset).map_err(|error| Refused::Failed(error.to_string()))?;
    for (field, operand) in instruction.fields() {
        let vmfb::isa::FieldKind::Reads(_) = field.kind else { continue };
        let Operand::Registers(list) = operand else { continue };
        if let Some(moved) = list.iter().find(|register| register.is_move()) {
            return Err(Refused::ArgumentGone { register: moved.ordinal() });
        }
    }
    Ok(())
}

fn slot_type(slot: RegisterSlot) -> &'static str {
    match slot {
        RegisterSlot::I32(_) => "an i32",
        RegisterSlot::I64(_) => "an i64",
        RegisterSlot::F32(_) => "an f32",
        RegisterSlot::F64(_) => "an f64",
        RegisterSlot::Ref(_) => "a reference",
    }
}

/// Why no instruction of the program around dispatches is at a place.
fn why_nowhere(found: Resolution) -> Refused {
    match (found.commands.is_empty(), found.message) {
        // The message says where a breakpoint stops.
        (false, _) => Refused::InDispatch,
        (true, message) => {
            Refused::Nowhere { why: message.unwrap_or_else(|| "there is no such place".to_owned()) }
        }
    }
}
