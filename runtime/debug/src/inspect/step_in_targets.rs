//! The calls of a line that can be stepped into.

use debuginfo::SourcePosition;
use vm::Position;
use vmfb::{Callee, Op};

use crate::machine::Machine;
use crate::target::calls::callee;
use crate::view::frame::{FrameId, SourceLine};

/// A call that can be stepped into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The calling instruction, or the first instruction of an inlined call.
    pub position: Position,
    /// How many inlined calls lead into it from the function of the machine's frame; none for a
    /// call of the machine.
    pub(crate) inlined: Option<usize>,
}

/// A call of a line that can be stepped into.
#[derive(Clone, Debug)]
pub struct StepInTarget {
    /// The call, for [`crate::Resume::StepInto`].
    pub call: Call,
    /// The name of the called function.
    pub label: String,
    /// The source of the call.
    pub source: Option<SourceLine>,
}

impl Machine {
    /// The calls on the line where the innermost frame stands, including inlined calls.
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
            let path = self.path_of(at);
            let Some(calls) = self.calls_on_line(position, at, &path) else { continue };
            if let Some(call) = path.get(..=calls).filter(|_| path.len() > calls + 1) {
                if entered.iter().all(|known| known != call) {
                    entered.push(call.to_vec());
                    targets.push(StepInTarget {
                        call: Call { position: at, inlined: Some(calls + 1) },
                        label: module.info.function_around(path[calls + 1]).unwrap_or("?").into(),
                        source: module.line_of_path(self.level, &path[..=calls]),
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
        let path = self.position().map_or_else(Vec::new, |at| self.path_of(at));
        path.len().saturating_sub(1 + self.hidden_calls)
    }

    /// How many inlined calls lead to the innermost frame, if an instruction with this path is on
    /// the line of that frame, or in a call on it.
    fn calls_on_line(
        &self,
        here: Position,
        at: Position,
        path: &[SourcePosition],
    ) -> Option<usize> {
        let own = self.path_of(here);
        let calls = self.shown_calls();
        let Some(stands) = own.get(calls) else { return (at == here).then_some(0) };
        let there = path.get(calls).filter(|_| path[..calls] == own[..calls])?;
        ((there.file, there.line) == (stands.file, stands.line)).then_some(calls)
    }
}
