//! Running to a place, jumping to another instruction, and restarting a frame.

use debuginfo::RegisterSlot;
use vm::{FrameIndex, Position};
use vmfb::decode::Operand;

use super::breakpoints::spec::BreakpointSpec;
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
    pub(crate) fn run_to(&mut self, spec: &BreakpointSpec) -> Result<StopReason, String> {
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
    pub(crate) fn goto_targets(&self, spec: &BreakpointSpec) -> Result<Vec<Position>, String> {
        let here = self.machine.position().ok_or("native code cannot resume elsewhere")?;
        let found = spec.resolve(&self.machine.program);
        let inside: Vec<Position> =
            found.locations.iter().filter(|at| at.function == here.function).copied().collect();
        match (found.locations.is_empty(), inside.is_empty()) {
            (true, _) => Err(why_nowhere(found)),
            (false, true) => {
                let name = self.machine.program.function_label(here.function);
                Err(format!("that is not in {name}, which the innermost frame runs"))
            }
            (false, false) => Ok(inside),
        }
    }

    /// Makes the innermost frame resume at another instruction of its function. Nothing is run.
    ///
    /// # Errors
    /// The instruction is elsewhere, or the code from there on reads registers that nothing has
    /// written.
    pub(crate) fn jump(&mut self, target: Position) -> Result<(), String> {
        let here = self.machine.position().ok_or("native code cannot resume elsewhere")?;
        if here.function != target.function {
            return Err("a jump leads to another instruction of the same function".to_owned());
        }
        let module =
            self.machine.program.module(here.function.module).ok_or("there is no such module")?;
        let present = module.registers(here);
        let missing = module.registers(target).iter().copied().find(|slot| !present.contains(slot));
        if let Some(slot) = missing {
            return Err(format!(
                "the code there expects {} in {}, which nothing has written yet here",
                slot_type(slot),
                register::name(slot)
            ));
        }
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) =
            &mut self.machine.phase
        else {
            return Err("nothing runs".to_owned());
        };
        if invocation.jump(&self.machine.context, target.offset) {
            (self.machine.hidden_calls, self.machine.stands_after) = (0, None);
            return Ok(());
        }
        Err(format!("no instruction starts at {}", target.offset))
    }

    /// Restarts a frame with the arguments that it was called with; the program then stands before
    /// the frame's first instruction. What the frame has done to globals and objects stays done.
    ///
    /// # Errors
    /// The frame is native, native code has called it, or an argument is gone.
    pub(crate) fn restart_frame(&mut self, frame: FrameIndex) -> Result<StopReason, String> {
        let total = self.machine.depth();
        let depth = total.checked_sub(1 + frame.0).ok_or("there is no such frame")?;
        self.machine.position_in(frame).ok_or("native code cannot be restarted")?;
        if depth == 0 {
            if !matches!(self.machine.phase, Phase::Running(_)) {
                return Err("only the function that was launched can be restarted".to_owned());
            }
            let invocation = self.machine.program.entry_invocation(&self.machine.context);
            let invocation = invocation.map_err(|status| status.to_string())?;
            self.interrupt.attach(invocation.interrupt());
            self.machine.phase = Phase::Running(invocation);
            return Ok(match self.after(Self::run_to_entry) {
                StopReason::Entry => StopReason::Step,
                other => other,
            });
        }
        let caller = FrameIndex(frame.0 + 1);
        let call = self
            .machine
            .position_in(caller)
            .ok_or("the frame was called by native code, which does not call it a second time")?;
        check_call_again(&self.machine, call)?;
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) =
            &mut self.machine.phase
        else {
            return Err("nothing runs".to_owned());
        };
        if !invocation.unwind(depth - 1) {
            return Err("native code is in the middle of something above the frame".to_owned());
        }
        self.machine.hidden_calls = 0;
        Ok(self.resume(Resume::Step(StepKind::Into, Granularity::Line)))
    }
}

/// Checks that the arguments of a call are still in the caller's registers.
fn check_call_again(machine: &Machine, call: Position) -> Result<(), String> {
    let module = machine.program.module(call.function.module).ok_or("there is no such module")?;
    let code = module.module.function_bytecode(call.function.function);
    let instruction = vmfb::decode(code, call.offset).map_err(|error| error.to_string())?;
    for (field, operand) in instruction.fields() {
        let vmfb::isa::FieldKind::Reads(_) = field.kind else { continue };
        let Operand::Registers(list) = operand else { continue };
        if let Some(moved) = list.iter().find(|register| register.is_move()) {
            return Err(format!(
                "argument r{} was moved into the call and is gone",
                moved.ordinal()
            ));
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
fn why_nowhere(found: Resolution) -> String {
    match (found.commands.is_empty(), found.message) {
        // The message says where a breakpoint stops.
        (false, _) => "the place is in a dispatch, which runs from its beginning to its end; a \
                       breakpoint there stops before it"
            .to_owned(),
        (true, message) => message.unwrap_or_else(|| "there is no such place".to_owned()),
    }
}
