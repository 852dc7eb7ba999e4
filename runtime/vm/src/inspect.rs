//! Looking at an invocation while it does not run: frames and registers, to read and to change.
//!
//! Frames are counted from the innermost. A native function that waits or failed is a frame too, the
//! innermost, without registers.

use vmfb::FunctionOrdinal;

use crate::context::{Context, FunctionId, ModuleIndex};
use crate::invocation::{Invocation, Position};
use crate::stack::FrameState;
use crate::status::FramePosition;
use crate::value::Ref;

/// A frame by its distance from the innermost one, which is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameIndex(pub usize);

/// What a frame runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameFunction {
    /// Bytecode.
    Bytecode(Position),
    /// A native function that waits or failed.
    Native(FunctionId),
}

/// A frame, for looking at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The module that it runs in.
    pub module: ModuleIndex,
    /// What it runs. The offset is that of the instruction that runs next in the innermost frame,
    /// or that failed, or the call that has not returned yet in the others.
    pub function: FrameFunction,
    /// 32-bit registers that it has.
    pub i32_register_count: u16,
    /// Ref registers that it has.
    pub ref_register_count: u16,
}

impl Invocation {
    /// The frames, innermost first.
    pub fn frames<'a>(&'a self, context: &'a Context) -> impl Iterator<Item = Frame> + 'a {
        let native = self.native_frame().map(|id| Frame {
            module: id.module,
            function: FrameFunction::Native(id),
            i32_register_count: 0,
            ref_register_count: 0,
        });
        let bytecode = self.stack.frames.iter().rev().map(|frame| {
            let position = position(context, frame);
            let id = position.function;
            let function =
                context.bytecode_module(id.module).and_then(|module| module.function(id.function));
            Frame {
                module: id.module,
                function: FrameFunction::Bytecode(position),
                i32_register_count: function.map_or(0, |function| function.i32_register_count),
                ref_register_count: function.map_or(0, |function| function.ref_register_count),
            }
        });
        native.into_iter().chain(bytecode)
    }

    /// How many frames there are.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.stack.frames.len() + usize::from(self.native_frame().is_some())
    }

    /// The instruction that runs next in the innermost bytecode frame.
    #[must_use]
    pub fn position(&self, context: &Context) -> Option<Position> {
        self.stack.frames.last().map(|frame| position(context, frame))
    }

    /// A 32-bit register; floats are its bits.
    #[must_use]
    pub fn register_i32(&self, frame: FrameIndex, ordinal: u16) -> Option<i32> {
        let word = *self.stack.words.get(self.word_index(frame, ordinal)?)?;
        Some((if ordinal & 1 == 0 { word } else { word >> 32 }) as i32)
    }

    /// The register pair that starts at the even `ordinal`; floats are its bits.
    #[must_use]
    pub fn register_i64(&self, frame: FrameIndex, ordinal: u16) -> Option<i64> {
        if ordinal & 1 != 0 {
            return None;
        }
        self.stack.words.get(self.word_index(frame, ordinal)?).map(|word| word.cast_signed())
    }

    /// A ref register.
    #[must_use]
    pub fn register_ref(&self, frame: FrameIndex, ordinal: u16) -> Option<&Ref> {
        self.stack.refs.get(self.ref_index(frame, ordinal)?)
    }

    /// Writes a 32-bit register; whether there is one.
    pub fn set_register_i32(&mut self, frame: FrameIndex, ordinal: u16, value: i32) -> bool {
        let index = self.word_index(frame, ordinal);
        let Some(word) = index.and_then(|index| self.stack.words.get_mut(index)) else {
            return false;
        };
        let shift = u32::from(ordinal & 1) * 32;
        *word &= !(u64::from(u32::MAX) << shift);
        *word |= u64::from(value.cast_unsigned()) << shift;
        true
    }

    /// Writes the register pair that starts at the even `ordinal`; whether there is one.
    pub fn set_register_i64(&mut self, frame: FrameIndex, ordinal: u16, value: i64) -> bool {
        let index = self.word_index(frame, ordinal).filter(|_| ordinal & 1 == 0);
        let word = index.and_then(|index| self.stack.words.get_mut(index));
        word.map(|word| *word = value.cast_unsigned()).is_some()
    }

    /// Writes a ref register; whether there is one.
    pub fn set_register_ref(&mut self, frame: FrameIndex, ordinal: u16, value: Ref) -> bool {
        let index = self.ref_index(frame, ordinal);
        let register = index.and_then(|index| self.stack.refs.get_mut(index));
        register.map(|register| *register = value).is_some()
    }

    /// Where each frame is, innermost first.
    pub(crate) fn backtrace(&self, context: &Context) -> Vec<FramePosition> {
        let frames = self.frames(context).map(|frame| {
            let (id, bytecode) = match frame.function {
                FrameFunction::Bytecode(Position { function, offset }) => {
                    (function, Some((function.function, offset)))
                }
                FrameFunction::Native(id) => (id, None),
            };
            FramePosition {
                module: id.module,
                module_name: context.module_name(id.module).to_owned(),
                function_name: context.function_name(id),
                bytecode,
            }
        });
        frames.collect()
    }

    fn native_frame(&self) -> Option<FunctionId> {
        let pending = self.pending.as_ref().map(|pending| (pending.module, pending.function));
        let (module, function) = pending.or(self.failed_native)?;
        Some(FunctionId { module: ModuleIndex(module), function: FunctionOrdinal(function) })
    }

    fn frame_state(&self, frame: FrameIndex) -> Option<&FrameState> {
        let from_innermost = frame.0.checked_sub(usize::from(self.native_frame().is_some()))?;
        self.stack.frames.iter().rev().nth(from_innermost)
    }

    fn word_index(&self, frame: FrameIndex, ordinal: u16) -> Option<usize> {
        let state = self.frame_state(frame)?;
        let word = u32::from(ordinal / 2);
        (word < state.word_count).then_some((state.first_word + word) as usize)
    }

    fn ref_index(&self, frame: FrameIndex, ordinal: u16) -> Option<usize> {
        let state = self.frame_state(frame)?;
        let ordinal = u32::from(ordinal);
        (ordinal < state.ref_count).then_some((state.first_ref + ordinal) as usize)
    }
}

fn position(context: &Context, frame: &FrameState) -> Position {
    let function = context.functions[frame.slot as usize].id();
    Position { function, offset: context.code(frame.slot).offset_at(frame.index) }
}
