//! Inspecting an invocation while it does not run: reading and changing frames and registers.
//!
//! Frames are counted from the innermost. A native function that waits, runs in steps or failed is
//! a frame too, without registers; so is each part of its activity.

use vmfb::FunctionOrdinal;

use super::invocation::Invocation;
use super::native_frame::NativeFrame;
use super::reached::reached;
use crate::context::Context;
use crate::errors::FramePosition;
use crate::native::Activity;
use crate::objects::Ref;
use crate::position::{FunctionId, ModuleIndex, Position};
use crate::stack::FrameState;

/// A frame by its distance from the innermost one, which is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameIndex(pub usize);

/// What a frame runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameFunction {
    /// Bytecode.
    Bytecode(Position),
    /// A native function that waits, runs in steps, or failed.
    Native(FunctionId),
    /// A part of a native function's activity.
    Part {
        /// The native function.
        function: FunctionId,
        /// Which of [`crate::Activity::parts`].
        level: usize,
    },
}

/// A frame, for looking at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The module that it runs in.
    pub module: ModuleIndex,
    /// What it runs. The offset is that of the next instruction in the innermost frame, of the
    /// instruction that failed, or of the call that has not returned yet in the other frames.
    pub function: FrameFunction,
    /// The number of its 32-bit registers.
    pub i32_register_count: u16,
    /// The number of its ref registers.
    pub ref_register_count: u16,
}

impl Frame {
    fn native(id: FunctionId, function: FrameFunction) -> Self {
        Self { module: id.module, function, i32_register_count: 0, ref_register_count: 0 }
    }
}

/// Where a frame is kept.
enum FrameStorage<'a> {
    Bytecode(&'a FrameState),
    /// Without a frame if the function failed at once.
    Native(FunctionId, Option<&'a NativeFrame>),
    Part(&'a NativeFrame, usize),
}

impl FrameStorage<'_> {
    fn frame(&self, context: &Context) -> Frame {
        match self {
            FrameStorage::Bytecode(frame) => {
                let position = position(context, frame);
                let id = position.function;
                let module = context.bytecode_module(id.module);
                let function = module.and_then(|module| module.function(id.function));
                Frame {
                    module: id.module,
                    function: FrameFunction::Bytecode(position),
                    i32_register_count: function.map_or(0, |function| function.i32_register_count),
                    ref_register_count: function.map_or(0, |function| function.ref_register_count),
                }
            }
            FrameStorage::Native(id, _) => Frame::native(*id, FrameFunction::Native(*id)),
            FrameStorage::Part(native, level) => {
                let function = native.id();
                Frame::native(function, FrameFunction::Part { function, level: *level })
            }
        }
    }
}

impl Invocation {
    /// Every object that registers and globals lead to, directly or by lists, once each. What only
    /// native modules lead to is not among them.
    #[must_use]
    pub fn reached(&self, context: &Context) -> Vec<Ref> {
        reached(context, &self.stack.refs)
    }

    /// The frames, innermost first.
    pub fn frames<'a>(&'a self, context: &'a Context) -> impl Iterator<Item = Frame> + 'a {
        self.places().map(|place| place.frame(context))
    }

    /// One frame; the others are not looked at.
    #[must_use]
    pub fn frame(&self, context: &Context, frame: FrameIndex) -> Option<Frame> {
        Some(self.place(frame)?.frame(context))
    }

    /// The number of frames.
    #[must_use]
    pub fn depth(&self) -> usize {
        let natives: usize = self.natives.iter().map(NativeFrame::frame_count).sum();
        self.stack.frames.len() + natives + usize::from(self.failed_native.is_some())
    }

    /// The activity of a frame: of a native function or of a part of it.
    #[must_use]
    pub fn activity(&self, frame: FrameIndex) -> Option<&dyn Activity> {
        match self.place(frame)? {
            FrameStorage::Part(native, _) | FrameStorage::Native(_, Some(native)) => {
                native.activity()
            }
            FrameStorage::Native(_, None) | FrameStorage::Bytecode(_) => None,
        }
    }

    /// The activity of the innermost native function, if no bytecode runs inside it. A debugger
    /// that knows the kind of activity can change what it does next.
    pub fn innermost_activity_mut(&mut self) -> Option<&mut dyn Activity> {
        let native = self.natives.last_mut()?;
        if self.failed_native.is_some() || self.stack.frames.len() > native.depth {
            return None;
        }
        native.activity_mut()
    }

    /// The description of a [`FrameFunction::Part`], from its activity.
    #[must_use]
    pub fn part(&self, frame: FrameIndex) -> Option<String> {
        match self.place(frame)? {
            FrameStorage::Part(native, level) => native.parts().into_iter().nth(level),
            FrameStorage::Native(..) | FrameStorage::Bytecode(_) => None,
        }
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

    /// Writes a 32-bit register; returns whether it exists.
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

    /// Writes the register pair that starts at the even `ordinal`; returns whether it exists.
    pub fn set_register_i64(&mut self, frame: FrameIndex, ordinal: u16, value: i64) -> bool {
        let index = self.word_index(frame, ordinal).filter(|_| ordinal & 1 == 0);
        let word = index.and_then(|index| self.stack.words.get_mut(index));
        word.map(|word| *word = value.cast_unsigned()).is_some()
    }

    /// Writes a ref register; returns whether it exists.
    pub fn set_register_ref(&mut self, frame: FrameIndex, ordinal: u16, value: Ref) -> bool {
        let index = self.ref_index(frame, ordinal);
        let register = index.and_then(|index| self.stack.refs.get_mut(index));
        register.map(|register| *register = value).is_some()
    }

    /// Where each frame is, innermost first.
    pub(crate) fn backtrace(&self, context: &Context) -> Vec<FramePosition> {
        let frames = self.places().map(|place| {
            let (id, bytecode, part) = match place {
                FrameStorage::Bytecode(frame) => {
                    let Position { function, offset } = position(context, frame);
                    (function, Some((function.function, offset)), None)
                }
                FrameStorage::Native(id, _) => (id, None, None),
                FrameStorage::Part(native, level) => {
                    (native.id(), None, native.parts().into_iter().nth(level))
                }
            };
            FramePosition {
                module: id.module,
                module_name: context.module_name(id.module).to_owned(),
                function_name: context.function_name(id),
                bytecode,
                part,
            }
        });
        frames.collect()
    }

    /// Every frame, innermost first.
    fn places(&self) -> impl Iterator<Item = FrameStorage<'_>> {
        (0..self.depth()).filter_map(|index| self.place(FrameIndex(index)))
    }

    /// Where a frame is kept. This walks the native functions inside the frame but no bytecode
    /// frames: a program that recurses without end has many thousands.
    fn place(&self, frame: FrameIndex) -> Option<FrameStorage<'_>> {
        let mut left = frame.0;
        if let Some((module, function)) = self.failed_native {
            let module = ModuleIndex(module);
            let id = FunctionId { module, function: FunctionOrdinal(function) };
            match left.checked_sub(1) {
                Some(rest) => left = rest,
                None => return Some(FrameStorage::Native(id, None)),
            }
        }
        let mut depth = self.stack.frames.len();
        for native in self.natives.iter().rev() {
            let inside = depth.saturating_sub(native.depth);
            if left < inside {
                break;
            }
            (left, depth) = (left - inside, native.depth);
            let parts = native.activity().map_or(0, Activity::part_count);
            match left {
                part if part < parts => return Some(FrameStorage::Part(native, parts - 1 - part)),
                own if own == parts => {
                    return Some(FrameStorage::Native(native.id(), Some(native)));
                }
                _ => left -= parts + 1,
            }
        }
        let index = depth.checked_sub(left + 1)?;
        self.stack.frames.get(index).map(FrameStorage::Bytecode)
    }

    fn frame_state(&self, frame: FrameIndex) -> Option<&FrameState> {
        match self.place(frame)? {
            FrameStorage::Bytecode(state) => Some(state),
            FrameStorage::Native(..) | FrameStorage::Part(..) => None,
        }
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
