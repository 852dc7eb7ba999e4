//! The call stack: frames of the machine, and the calls that were inlined in them.

use std::collections::HashMap;
use std::ops::Range;

use debuginfo::SourcePosition;
use vm::{FrameFunction, FrameIndex, Position};

use crate::machine::Machine;
use crate::target::level::Level;
use crate::view::frame::{Frame, FrameId};

impl Machine {
    /// The call stack, innermost frame first; empty when nothing runs.
    #[must_use]
    pub fn frames(&self) -> Vec<Frame> {
        self.frames_in(0..usize::MAX)
    }

    /// Some frames of the call stack, numbered from the innermost. Only these are built, because
    /// endless recursion has thousands of frames.
    #[must_use]
    pub fn frames_in(&self, range: Range<usize>) -> Vec<Frame> {
        self.frames_by(&mut KnownFrames::default(), range)
    }

    pub(crate) fn frames_by(&self, known: &mut KnownFrames, range: Range<usize>) -> Vec<Frame> {
        let Some(invocation) = self.invocation() else { return Vec::new() };
        let mut frames = Vec::new();
        let mut number = 0;
        for index in (0..invocation.depth()).map(FrameIndex) {
            if number >= range.end {
                break;
            }
            let Some(frame) = invocation.frame(&self.context, index) else { break };
            let shown = known.shown(self, index, &frame);
            let numbered = (number..).zip(shown).filter(|(number, _)| range.contains(number));
            frames.extend(numbered.map(|(_, frame)| Frame { index, ..frame.clone() }));
            number += shown.len();
        }
        frames
    }

    /// The innermost frame that is shown. It excludes inlined calls that the program has not
    /// entered yet.
    #[must_use]
    pub fn innermost_frame(&self) -> FrameId {
        let shown = self.position().map(|at| self.shown_at(FrameIndex(0), at));
        let path = shown.map_or_else(Vec::new, |at| self.path_of(at));
        let hidden = if self.python_calls().is_empty() { self.hidden_calls } else { 0 };
        let calls = path.len().checked_sub(1 + hidden);
        self.named_by_depth(FrameId {
            calls: calls.filter(|_| path.len() > 1),
            ..FrameIndex(0).into()
        })
    }

    /// The number of frames, without building them all.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        let Some(invocation) = self.invocation() else { return 0 };
        let mut known = KnownFrames::default();
        let frames = (0..).map(FrameIndex).zip(invocation.frames(&self.context));
        frames.map(|(index, frame)| known.shown(self, index, &frame).len()).sum()
    }

    /// The frame with a number, counted from the innermost.
    #[must_use]
    pub fn frame_at(&self, number: usize) -> Option<Frame> {
        self.frames_in(number..number.saturating_add(1)).pop()
    }

    /// A frame of the machine as it is shown: not at all, or with inlined calls.
    fn shown_frames(&self, index: FrameIndex, frame: &vm::Frame) -> Vec<Frame> {
        if self.level.is_model() {
            if self.is_stood_for(index, frame) {
                return Vec::new();
            }
            if let Some(frames) = self.operation_frames(index, frame) {
                return frames;
            }
        }
        self.with_inlined_calls(index, self.frame_view(index, frame))
    }

    /// A frame of the machine, together with the inlined calls at its instruction; innermost first.
    fn with_inlined_calls(&self, index: FrameIndex, frame: Frame) -> Vec<Frame> {
        if let Some(own) =
            frame.position.and_then(|position| self.own_path(self.level, index, position))
        {
            let (module, path) = own;
            let source = module.line_of_path(self.level, &path);
            return vec![Frame { source, ..frame }];
        }
        let in_python = frame.position.and_then(|position| {
            let module = self.program.module(position.function.module)?;
            let path = self.path_of(self.shown_at(index, position));
            if !module.is_nested {
                return self.frames_of_python(module, &path, &frame, "");
            }
            // The operation that a dispatch runs for has frames of its own.
            let source = module.line_of_path(self.level, &path);
            let is_one = self.level == Level::Python && source.is_some();
            is_one.then(|| vec![Frame { source, ..frame.clone() }])
        });
        if let Some(frames) = in_python {
            return frames;
        }
        let found = frame.position.and_then(|position| {
            let module = self.program.module(position.function.module)?;
            let shown = self.shown_at(index, position);
            let is_inlined = self.path_of(shown).len() > 1;
            is_inlined.then(|| (module, self.shown_path(index, shown)))
        });
        let Some((module, path)) = found else { return vec![frame] };
        let frames = path.iter().enumerate().map(|(level, place)| {
            let inlined = (level > 0).then(|| match module.info.function_around(*place) {
                Some(name) => name.to_owned(),
                None => frame.name.clone(),
            });
            Frame {
                calls: Some(level),
                is_inlined: inlined.is_some(),
                name: inlined.unwrap_or_else(|| frame.name.clone()),
                source: Some(module.source_line(*place)),
                ..frame.clone()
            }
        });
        frames.rev().collect()
    }

    /// The places of the calls that lead to an instruction of a frame, without calls that the
    /// program has not entered yet.
    fn shown_path(&self, index: FrameIndex, position: Position) -> Vec<SourcePosition> {
        let mut path = self.path_of(position);
        if index == FrameIndex(0) && path.len() > 1 {
            path.truncate(path.len().saturating_sub(self.hidden_calls).max(1));
        }
        path
    }

    fn frame_view(&self, index: FrameIndex, frame: &vm::Frame) -> Frame {
        let (function, position) = match &frame.function {
            FrameFunction::Bytecode(position) => (position.function, Some(*position)),
            FrameFunction::Native(function) | FrameFunction::Part { function, .. } => {
                (*function, None)
            }
        };
        let name = self.program.function_name(function);
        let module = self.module_name(frame.module);
        let is_part = matches!(frame.function, FrameFunction::Part { .. });
        let part = self.invocation().filter(|_| is_part).and_then(|it| it.part(index));
        let name = part
            .or(name)
            .unwrap_or_else(|| format!("{module}.{}", self.context.function_name(function)));
        let is_nested = self.program.module(frame.module).is_some_and(|it| it.is_nested);
        let is_main = frame.module == self.program.entry().module;
        Frame {
            index,
            calls: None,
            python: None,
            name: if is_main || is_nested || position.is_none() {
                name
            } else {
                format!("{module}.{name}")
            },
            layer: None,
            module,
            position,
            is_part,
            is_inlined: false,
            source: match frame.function {
                FrameFunction::Part { .. } => self.dispatch_source(index),
                _ => position.and_then(|position| self.source_line(self.shown_at(index, position))),
            },
        }
    }

    /// The instruction whose line is shown for a frame.
    pub(crate) fn shown_at(&self, index: FrameIndex, position: Position) -> Position {
        let just_ran = self.stands_after.filter(|it| it.function == position.function);
        just_ran.filter(|_| index == FrameIndex(0)).unwrap_or(position)
    }

    pub(super) fn module_name(&self, index: vm::ModuleIndex) -> String {
        let mut modules = self.context.modules();
        modules
            .find(|(at, _, _)| *at == index)
            .map(|(_, name, _)| name.to_owned())
            .unwrap_or_default()
    }
}

/// Frames that were built already, by their instruction: recursive calls all stand at the same
/// instructions. The innermost frame may stand before inlined calls, and is built separately.
#[derive(Default)]
pub(crate) struct KnownFrames {
    /// Frames of the machine that were visited, and how many of them were built.
    #[cfg(test)]
    pub(crate) visited: usize,
    #[cfg(test)]
    pub(crate) made: usize,
    by_position: HashMap<Position, Vec<Frame>>,
    /// The frames of the last one that was built separately.
    other: Vec<Frame>,
}

/// Frames nearer to the innermost one than this may belong to a command that runs.
const OPERATION_DEPTH: usize = 16;

impl KnownFrames {
    /// A frame of the machine as it is shown, innermost first; taken over from a frame at the same
    /// instruction, if there is one.
    fn shown(&mut self, machine: &Machine, index: FrameIndex, frame: &vm::Frame) -> &[Frame] {
        #[cfg(test)]
        {
            self.visited += 1;
            let is_known = |position| index.0 > 0 && self.by_position.contains_key(position);
            let is_made = match &frame.function {
                FrameFunction::Bytecode(position) => !is_known(position),
                FrameFunction::Native(_) | FrameFunction::Part { .. } => true,
            };
            self.made += usize::from(is_made);
        }
        let make = || machine.shown_frames(index, frame);
        match frame.function {
            // A frame may be hidden by the one inside it.
            FrameFunction::Bytecode(position)
                if index.0 > 0 && (!machine.level.is_model() || index.0 > OPERATION_DEPTH) =>
            {
                self.by_position.entry(position).or_insert_with(make)
            }
            _ => {
                self.other = make();
                &self.other
            }
        }
    }
}
