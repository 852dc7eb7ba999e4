//! Going elsewhere than on: to a place, into a chosen call, to another instruction, to the
//! beginning of a frame. And what a tensor is like as a whole.

use debuginfo::{RegisterSlot, SourcePosition};
use vm::{FrameIndex, Position};
use vmfb::decode::{Instruction, Operand};
use vmfb::{Callee, Op};

use crate::breakpoint::BreakpointSpec;
use crate::debugger::{Debugger, Phase};
use crate::expression::Limits;
use crate::expression::datum::Datum;
use crate::expression::statistics::{self, Wanted};
use crate::inlined::FrameId;
use crate::inspect;
use crate::stop::{Granularity, StepKind, StopReason};
use crate::view::{Children, Node, SourceLine};

/// A call that can be gone into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The instruction that calls, or the first one of a call that was inlined.
    pub position: Position,
    /// How many inlined calls lead into it from the function of the machine's frame; none for a
    /// call that is one of the machine.
    pub(crate) inlined: Option<usize>,
}

/// A call of a line that can be stepped into.
#[derive(Clone, Debug)]
pub struct StepInTarget {
    /// The call: for [`crate::Resume::StepInto`].
    pub call: Call,
    /// What is called.
    pub label: String,
    /// Where the call came from.
    pub source: Option<SourceLine>,
}

/// What a tensor is like as a whole.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Elements that were looked at.
    pub count: usize,
    /// Elements that there are.
    pub total: usize,
    /// The smallest that is no NaN, as text.
    pub minimum: Option<String>,
    /// The largest that is no NaN, as text.
    pub maximum: Option<String>,
    /// The mean.
    pub mean: f64,
    /// How many are 0.
    pub zeros: usize,
    /// How many are NaN.
    pub nans: usize,
    /// How many are infinite.
    pub infinities: usize,
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let (Some(minimum), Some(maximum)) = (&self.minimum, &self.maximum) {
            write!(f, "min {minimum}, max {maximum}, mean {}, ", self.mean)?;
        }
        write!(f, "{} zero, {} NaN, {} inf", self.zeros, self.nans, self.infinities)?;
        if self.count < self.total {
            write!(f, " in the first {} of {}", self.count, self.total)?;
        }
        Ok(())
    }
}

impl Debugger {
    /// What a tensor is like, looking at no more than so many of its elements; none for what is no
    /// tensor.
    #[must_use]
    pub fn summary(&self, children: &Children, most: usize) -> Option<Summary> {
        let tensor = match &children.node {
            Node::Tensor(tensor) => tensor.clone(),
            Node::Buffer(buffer, view) => {
                Datum::Buffer(std::sync::Arc::clone(buffer), *view).tensor()?
            }
            Node::Scope(..) | Node::List(_) | Node::ListPart(..) => return None,
        };
        let found = statistics::Summary::of(&tensor, most, Wanted::ALL).ok()?;
        Some(Summary {
            count: found.count,
            total: tensor.count(),
            minimum: found.smallest.map(|(_, number)| number.to_string()),
            maximum: found.largest.map(|(_, number)| number.to_string()),
            mean: found.mean(),
            zeros: found.zeros,
            nans: found.nans,
            infinities: found.infinities,
        })
    }

    /// How values are bounded that editors ask for by themselves.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits::default()
    }

    /// The calls of the line that the innermost frame stands on, those too that were inlined.
    #[must_use]
    pub fn step_in_targets(&self, frame: impl Into<FrameId>) -> Vec<StepInTarget> {
        let (frame, innermost) = (frame.into(), self.innermost_frame());
        let is_innermost = frame.index == innermost.index
            && (frame.calls.is_none() || frame.calls == Some(self.shown_calls()));
        let Some(position) = self.position().filter(|_| is_innermost) else { return Vec::new() };
        let Some(module) = self.program.module(position.function.module) else {
            return Vec::new();
        };
        let code = module.module.function_bytecode(position.function.function);
        let mut targets: Vec<StepInTarget> = Vec::new();
        let mut entered: Vec<Vec<SourcePosition>> = Vec::new();
        let instructions = vmfb::instructions(code).map_while(Result::ok);
        for instruction in instructions.filter(|it| it.op != Op::Block) {
            let at = Position { offset: instruction.offset, ..position };
            let path = self.program.path_of(at);
            let Some(calls) = self.calls_on_line(position, at, &path) else { continue };
            if let Some(call) = path.get(..=calls).filter(|_| path.len() > calls + 1) {
                if entered.iter().all(|known| known != call) {
                    entered.push(call.to_vec());
                    targets.push(StepInTarget {
                        call: Call { position: at, inlined: Some(calls + 1) },
                        label: module.info.function_around(path[calls + 1]).unwrap_or("?").into(),
                        source: Some(module.source_line(path[calls])),
                    });
                }
            } else if let Some(Callee::Internal(callee)) = callee(&instruction) {
                let function = vm::FunctionId { function: callee, ..position.function };
                targets.push(StepInTarget {
                    call: Call { position: at, inlined: None },
                    label: self.program.function_label(function),
                    source: self.source_line(at),
                });
            }
        }
        targets
    }

    /// How many inlined calls lead to the innermost frame that is shown.
    fn shown_calls(&self) -> usize {
        let path = self.position().map_or_else(Vec::new, |at| self.program.path_of(at));
        path.len().saturating_sub(1 + self.hidden_calls)
    }

    /// How many inlined calls lead to the innermost frame, if an instruction with a path is on the
    /// line where that stands, or in a call there.
    fn calls_on_line(
        &self,
        here: Position,
        at: Position,
        path: &[SourcePosition],
    ) -> Option<usize> {
        let own = self.program.path_of(here);
        let calls = self.shown_calls();
        let Some(stands) = own.get(calls) else { return (at == here).then_some(0) };
        let there = path.get(calls).filter(|_| path[..calls] == own[..calls])?;
        ((there.file, there.line) == (stands.file, stands.line)).then_some(calls)
    }

    /// Runs to the call, and into it.
    pub(crate) fn step_into(&mut self, call: Call) -> StopReason {
        if self.position() != Some(call.position) {
            let depth = self.depth();
            match self.run_to_any(&[call.position], Some(depth)) {
                StopReason::Step => {}
                other => return other,
            }
        }
        match call.inlined {
            None => self.step(StepKind::Into, Granularity::Line, 0),
            Some(calls) => {
                let path = self.position().filter(|at| *at == call.position);
                let path = path.map_or_else(Vec::new, |at| self.program.path_of(at));
                self.hidden_calls = path.len().saturating_sub(1 + calls);
                StopReason::Step
            }
        }
    }

    /// Runs to a place, or to whatever stops the program before.
    ///
    /// # Errors
    /// The place is nowhere; the message says why.
    pub fn run_to(&mut self, spec: &BreakpointSpec) -> Result<StopReason, String> {
        let found = self.program.resolve(spec);
        if found.locations.is_empty() {
            return Err(found.message.unwrap_or_else(|| "there is no such place".to_owned()));
        }
        let reason = self.after(|debugger| debugger.run_to_any(&found.locations, None));
        if matches!(reason, StopReason::Step) {
            self.stand_at(spec, (found.line, found.column));
        }
        Ok(reason)
    }

    /// Runs to one of several places, in a frame so deep if that matters.
    fn run_to_any(&mut self, places: &[Position], depth: Option<usize>) -> StopReason {
        self.arm(places.iter().copied());
        loop {
            if let Some(reason) = self.run_on() {
                return reason;
            }
            let is_there = self.position().is_some_and(|at| places.contains(&at));
            if is_there && depth.is_none_or(|depth| self.depth() == depth) {
                return StopReason::Step;
            }
            if depth.is_some_and(|depth| self.depth() < depth) {
                return StopReason::Step;
            }
        }
    }

    /// The instructions that the innermost frame may be made to go on at, for a place.
    ///
    /// # Errors
    /// The place is nowhere, or not in the frame's function.
    pub fn goto_targets(&self, spec: &BreakpointSpec) -> Result<Vec<Position>, String> {
        let here = self.position().ok_or("native code cannot be made to go on elsewhere")?;
        let found = self.program.resolve(spec);
        let inside: Vec<Position> =
            found.locations.iter().filter(|at| at.function == here.function).copied().collect();
        match (found.locations.is_empty(), inside.is_empty()) {
            (true, _) => Err(found.message.unwrap_or_else(|| "there is no such place".to_owned())),
            (false, true) => {
                let name = self.program.function_label(here.function);
                Err(format!("that is not in {name}, which the innermost frame runs"))
            }
            (false, false) => Ok(inside),
        }
    }

    /// Makes the innermost frame go on at another instruction of its function. Nothing is run.
    ///
    /// # Errors
    /// The instruction is elsewhere, or what it and those behind it read is not there.
    pub fn jump(&mut self, target: Position) -> Result<(), String> {
        let here = self.position().ok_or("native code cannot be made to go on elsewhere")?;
        if here.function != target.function {
            return Err("a jump leads to another instruction of the same function".to_owned());
        }
        let module = self.program.module(here.function.module).ok_or("there is no such module")?;
        let present = module.registers(here);
        let missing = module.registers(target).iter().copied().find(|slot| !present.contains(slot));
        if let Some(slot) = missing {
            return Err(format!(
                "the code there expects {} in {}, which nothing has written yet here",
                slot_type(slot),
                inspect::register_name(slot)
            ));
        }
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) = &mut self.phase else {
            return Err("nothing runs".to_owned());
        };
        if invocation.jump(&self.context, target.offset) {
            (self.hidden_calls, self.behind) = (0, None);
            return Ok(());
        }
        Err(format!("no instruction starts at {}", target.offset))
    }

    /// Makes a frame begin anew, with the arguments that it was called with; the program then
    /// stands before its first instruction. What it has done to globals and objects stays done.
    ///
    /// # Errors
    /// It is native, native code has called it, or an argument is gone.
    pub fn restart_frame(&mut self, frame: FrameIndex) -> Result<StopReason, String> {
        let total = self.depth();
        let depth = total.checked_sub(1 + frame.0).ok_or("there is no such frame")?;
        self.position_in(frame).ok_or("native code cannot be restarted")?;
        if depth == 0 {
            if !matches!(self.phase, Phase::Running(_)) {
                return Err("only the function that was launched can begin anew".to_owned());
            }
            let invocation = self.program.entry_invocation(&self.context);
            let invocation = invocation.map_err(|status| status.to_string())?;
            self.interrupt.attach(invocation.interrupt());
            self.phase = Phase::Running(invocation);
            return Ok(match self.after(Self::run_to_entry) {
                StopReason::Entry => StopReason::Step,
                other => other,
            });
        }
        let caller = FrameIndex(frame.0 + 1);
        let call = self
            .position_in(caller)
            .ok_or("the frame was called by native code, which does not call it a second time")?;
        self.check_call_again(call)?;
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) = &mut self.phase else {
            return Err("nothing runs".to_owned());
        };
        if !invocation.unwind(depth - 1) {
            return Err("native code is in the middle of something above the frame".to_owned());
        }
        self.hidden_calls = 0;
        Ok(self.resume(crate::stop::Resume::Step(StepKind::Into, Granularity::Line)))
    }

    /// Whether the arguments of a call are still in the caller's registers.
    fn check_call_again(&self, call: Position) -> Result<(), String> {
        let module = self.program.module(call.function.module).ok_or("there is no such module")?;
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

pub(crate) fn callee(instruction: &Instruction<'_>) -> Option<Callee> {
    let is_call = matches!(
        instruction.op,
        Op::Call | Op::CallVariadic | Op::CallYieldable | Op::CallVariadicYieldable
    );
    let mut operands = instruction.operands.iter();
    operands.find_map(|operand| match operand {
        Operand::Function(callee) if is_call => Some(*callee),
        _ => None,
    })
}
