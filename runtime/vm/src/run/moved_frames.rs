//! Moving frames from one invocation to another.
//!
//! Workers run workgroups in their own contexts. When a worker is interrupted or fails, its frames
//! move to the stack of the program, where a user inspects frames and steps. The module must be the
//! same in both contexts. Its functions then translate to the same instructions, and a frame is its
//! function, an instruction in it, and registers.
//!
//! ```text
//! worker's context    [ workgroup | callee ]  ── take_frames ──> MovedFrames
//! program's context   [ main ] (activity) [ workgroup | callee ] <── Next::Adopt
//! ```

use super::invocation::Invocation;
use crate::code::plan_of_call;
use crate::context::Context;
use crate::errors::Status;
use crate::modules::Target;
use crate::native::MovedFrame;
use crate::native::MovedFrames;
use crate::position::{FunctionId, ModuleIndex};

impl Invocation {
    /// Takes all frames off the stack, if there are any and all are bytecode frames of one module.
    /// The invocation is over then.
    pub fn take_frames(&mut self, context: &Context) -> Option<MovedFrames> {
        let module = self.position(context)?.function.module;
        let slots = self.stack.frames.iter().map(|frame| &context.functions[frame.slot as usize]);
        if !self.natives.is_empty() || slots.into_iter().any(|slot| slot.module != module) {
            return None;
        }
        let frames = self.stack.frames.iter().map(|frame| {
            let (first_word, first_ref) = (frame.first_word as usize, frame.first_ref as usize);
            let words = first_word..first_word + frame.word_count as usize;
            let refs = first_ref..first_ref + frame.ref_count as usize;
            let code = context.code(frame.slot);
            MovedFrame {
                function: context.functions[frame.slot as usize].ordinal,
                index: frame.index,
                offset: code.offset_at(frame.index).0,
                words: self.stack.words[words].to_vec(),
                refs: self.stack.refs[refs].to_vec(),
            }
        });
        let is_native_to_blame = self.failed_native.is_some();
        let frames = frames.collect();
        let failure = self.give_up();
        let frames = MovedFrames { frames, is_native_to_blame, failure };
        while !self.stack.frames.is_empty() {
            self.stack.pop();
        }
        Some(frames)
    }

    /// Pushes frames, as functions of a module of this context, above the innermost activity.
    ///
    /// # Errors
    /// The failure that the frames bring along; or the frames do not fit the module.
    pub(crate) fn adopt(
        &mut self,
        context: &Context,
        module: ModuleIndex,
        frames: MovedFrames,
    ) -> Result<(), Status> {
        let MovedFrames { frames, is_native_to_blame, failure } = frames;
        self.note_adoption();
        for frame in frames {
            let MovedFrame { function, index, offset, words, refs } = frame;
            let slot = context.slot_index(FunctionId { module, function });
            let code = slot.map(|slot| (slot, context.code(slot)));
            let same = code.filter(|(_, code)| code.offset_at(index).0 == offset);
            let Some((slot, _)) = same else {
                return Err(Status::internal("frames were moved to another module"));
            };
            let (word_count, ref_count) = (words.len() as u32, refs.len() as u32);
            let base = self.stack.push(slot, word_count, ref_count, &context.limits)?;
            self.stack.words[base.word..base.word + words.len()].copy_from_slice(&words);
            for (register, value) in self.stack.refs[base.reference..].iter_mut().zip(refs) {
                *register = value;
            }
            self.stack.set_index(index as usize);
        }
        if let Some(frame) = self.stack.frames.last().filter(|_| is_native_to_blame) {
            let plan = plan_of_call(context.code(frame.slot), frame.index);
            if let Some(Target::Native(module, function)) = plan.map(|plan| plan.target) {
                self.failed_native = Some((module, function));
            }
        }
        failure.map_or(Ok(()), Err)
    }
}
