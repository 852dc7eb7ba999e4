//! The call stack of the model: the source's functions and inlined calls, with the operation that
//! runs as the innermost place.
//!
//! ```text
//!  the machine                                   the model
//!  command 4: dispatch @main_dispatch_2      ┐   block, inlined, at its line, and the command
//!  hal.device.queue.execute (native)         ├─> main, at the call
//!  main$async, which waits                   ┘
//!  main, which waits for main$async          ┘
//! ```

use vm::{FrameFunction, FrameIndex, Position};

use crate::machine::Machine;
use crate::view::frame::Frame;

impl Machine {
    /// Whether another frame stands for this one: the native code and the function that has
    /// submitted a command, or one half of a function that the compiler has split.
    pub(crate) fn is_stood_for(&self, index: FrameIndex, frame: &vm::Frame) -> bool {
        let inner = |steps: usize| {
            let index = index.0.checked_sub(steps).map(FrameIndex)?;
            let inner = self.invocation()?.frame(&self.context, index)?;
            Some((index, inner.function))
        };
        match (frame.function, inner(1)) {
            (FrameFunction::Native(_), Some((at, FrameFunction::Part { .. }))) => {
                self.operation_path(at).is_some()
            }
            (FrameFunction::Bytecode(_), Some((_, FrameFunction::Native(_)))) => match inner(2) {
                Some((at, FrameFunction::Part { .. })) => self.operation_path(at).is_some(),
                _ => false,
            },
            (FrameFunction::Bytecode(outer), Some((_, FrameFunction::Bytecode(inner)))) => {
                outer.function != inner.function
                    && self.program.is_same_source(outer.function, inner.function)
            }
            _ => false,
        }
    }

    /// The frames of the operation that a command runs, innermost first.
    pub(crate) fn operation_frames(
        &self,
        index: FrameIndex,
        frame: &vm::Frame,
    ) -> Option<Vec<Frame>> {
        let FrameFunction::Part { level: 0, .. } = frame.function else { return None };
        let (recorded_at, holder) = self.operation_path(index)?;
        let module = self.program.module(recorded_at.function.module)?;
        let path = self.program.path_at(self.level, recorded_at);
        let innermost = path.len().checked_sub(1)?;
        let command = self.invocation()?.part(index)?;
        let run = self.run_of(index).filter(|run| *run > 1);
        let again = run.map_or_else(String::new, |run| format!(", run {run}"));
        let function = self.program.function_name(holder.function).unwrap_or_default();
        // The compiler's name for the half that does not wait for itself.
        let function = function.strip_suffix("$async").map_or(function.clone(), str::to_owned);
        let whole = Frame {
            index,
            calls: None,
            python: None,
            name: function.clone(),
            layer: None,
            module: self.module_name(holder.function.module),
            position: None,
            source: None,
            is_inlined: false,
            is_part: true,
        };
        let note = format!(", {command}{again}");
        if let Some(frames) = self.frames_of_python(module, &path, &whole, &note) {
            return Some(frames);
        }
        let frames = path.iter().enumerate().map(|(calls, place)| {
            let of_python = |place| module.info.python_function(place).map(|it| it.to_string());
            let inlined = || module.info.function_around(*place).map(str::to_owned);
            let name = match calls {
                0 => of_python(*place).unwrap_or_else(|| function.clone()),
                _ => inlined().unwrap_or_else(|| function.clone()),
            };
            let is_innermost = calls == innermost;
            Frame {
                calls: (innermost > 0).then_some(calls),
                name: if is_innermost { name + &note } else { name },
                source: Some(module.source_line(*place)),
                is_inlined: calls > 0,
                ..whole.clone()
            }
        });
        Some(frames.rev().collect())
    }

    /// Where the command of a frame was recorded, and where the function stands that waits for it;
    /// if that is the function whose operation it is.
    fn operation_path(&self, frame: FrameIndex) -> Option<(Position, Position)> {
        let recorded_at = self.command(frame)?.recorded_at?;
        let holder = self.position_in(self.holder(frame))?;
        let path = self.program.path_at(self.level, recorded_at);
        let is_own = recorded_at.function == holder.function
            || self.program.is_same_source(recorded_at.function, holder.function);
        (is_own && !path.is_empty()).then_some((recorded_at, holder))
    }
}
