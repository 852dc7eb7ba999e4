//! Looking at the stopped program: frames, scopes, variables, names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use debuginfo::SourcePosition;
use vm::{FrameFunction, FrameIndex, Position};

use crate::debugger::Debugger;
use crate::inlined::FrameId;
use crate::inspect::{self, variable};
use crate::view::{Frame, Node, ScopeKind, Variable};

impl Debugger {
    /// The call stack, innermost frame first; empty when nothing runs.
    #[must_use]
    pub fn frames(&self) -> Vec<Frame> {
        self.frames_in(0..usize::MAX)
    }

    /// Some frames of it, by their numbers from the innermost. Only these are made: a program that
    /// calls itself without an end has thousands of frames.
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

    /// How many frames there are, without making them.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        let Some(invocation) = self.invocation() else { return 0 };
        let mut known = KnownFrames::default();
        let frames = (0..).map(FrameIndex).zip(invocation.frames(&self.context));
        frames.map(|(index, frame)| known.shown(self, index, &frame).len()).sum()
    }

    /// The frame of a number from the innermost.
    #[must_use]
    pub fn frame_at(&self, number: usize) -> Option<Frame> {
        self.frames_in(number..number.saturating_add(1)).pop()
    }

    /// A frame of the machine with the calls that were inlined where it stands, innermost first.
    fn with_inlined_calls(&self, index: FrameIndex, frame: Frame) -> Vec<Frame> {
        if let Some(own) = frame.position.and_then(|position| self.own_path(index, position)) {
            let (module, path) = own;
            let source = path.last().map(|place| module.source_line(*place));
            return vec![Frame { source, ..frame }];
        }
        let found = frame.position.and_then(|position| {
            let module = self.program.module(position.function.module)?;
            let shown = self.shown_at(index, position);
            let is_inlined = self.program.path_of(shown).len() > 1;
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

    /// The places of the calls that lead to an instruction of a frame, without those that the
    /// program stands before.
    fn shown_path(&self, index: FrameIndex, position: Position) -> Vec<SourcePosition> {
        let mut path = self.program.path_of(position);
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
            name: if is_main || is_nested || position.is_none() {
                name
            } else {
                format!("{module}.{name}")
            },
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

    /// The instruction whose line is shown for a frame that stands at another.
    pub(crate) fn shown_at(&self, index: FrameIndex, position: Position) -> Position {
        let behind = self.behind.filter(|behind| behind.function == position.function);
        behind.filter(|_| index == FrameIndex(0)).unwrap_or(position)
    }

    fn module_name(&self, index: vm::ModuleIndex) -> String {
        let mut modules = self.context.modules();
        modules
            .find(|(at, _, _)| *at == index)
            .map(|(_, name, _)| name.to_owned())
            .unwrap_or_default()
    }

    /// The text of a source file, by the name that the module knows it by.
    #[must_use]
    pub fn source_text(&self, file: &str) -> Option<String> {
        let mut named = self.program.files_named(file);
        named.find_map(|(info, id)| info.source(id).map(|source| source.text().to_owned()))
    }

    /// One line of it, from 1.
    #[must_use]
    pub fn line_of_source(&self, file: &str, line: u32) -> Option<String> {
        let mut named = self.program.files_named(file);
        named.find_map(|(info, id)| info.line_text(id, line).map(Cow::into_owned))
    }

    /// Whether it can be had at all.
    #[must_use]
    pub fn has_source(&self, file: &str) -> bool {
        self.program.files_named(file).any(|(info, id)| info.has_source(id))
    }

    /// The scopes of a frame, in the order in which they are shown.
    #[must_use]
    pub fn scopes(&self, frame: impl Into<FrameId>) -> Vec<(ScopeKind, Node)> {
        let id = frame.into();
        let frame = id.index;
        let position = self.position_in(frame);
        let module = position.and_then(|it| self.program.module(it.function.module));
        // What stands in them need not be worked out to know whether they are empty.
        let named =
            position.and_then(|position| self.scope_of(id, position, self.knows_arguments(frame)));
        let (has_locals, has_arguments) = match &named {
            Some(named) => (!named.is_empty(), named.iter().any(|it| it.argument.is_some())),
            None => (!self.locals(id).is_empty(), !self.arguments(id).is_empty()),
        };
        let has_globals = module.is_some_and(|it| {
            let state = it.module.state();
            state.global_bytes > 0 || state.global_refs > 0
        });
        let kinds = [
            // Tensors are what dispatches are about, and views may unfold the first scope only.
            (self.dispatch(frame).is_some(), ScopeKind::Dispatch),
            (has_locals, ScopeKind::Locals),
            (has_arguments, ScopeKind::Arguments),
            (!self.compiler_values(id).is_empty(), ScopeKind::Compiler),
            (position.is_some() || self.machine_state(frame).is_some(), ScopeKind::Registers),
            (has_globals, ScopeKind::Globals),
            (self.has_allocations(), ScopeKind::Device),
        ];
        kinds
            .into_iter()
            .filter(|(is_there, _)| *is_there)
            .map(|(_, kind)| (kind, Node::Scope(id, kind)))
            .collect()
    }

    /// What is inside a node; `range` picks elements of an indexed one.
    #[must_use]
    pub fn children(&self, node: &Node, range: Option<Range<usize>>) -> Vec<Variable> {
        match node {
            Node::Scope(frame, ScopeKind::Locals) => self.locals(*frame),
            Node::Scope(frame, ScopeKind::Compiler) => self.compiler_values(*frame),
            Node::Scope(frame, ScopeKind::Arguments) => self.arguments(*frame),
            Node::Scope(frame, ScopeKind::Registers) => self.registers(frame.index),
            Node::Scope(frame, ScopeKind::Globals) => self.globals(frame.index),
            Node::Scope(frame, ScopeKind::Dispatch) => self.dispatch_variables(frame.index),
            Node::Scope(_, ScopeKind::Device) => self.allocations(),
            Node::Tensor(tensor) => {
                tensor.children(inspect::page(range, tensor.length().unwrap_or(0)))
            }
            Node::List(list) => inspect::list_children(list, 0..list.len(), range),
            Node::ListPart(list, first, end) => inspect::list_children(list, *first..*end, range),
            Node::Buffer(buffer, view) => inspect::buffer_children(buffer, *view, range),
        }
    }

    /// The instruction that a frame stands at; none in native code.
    #[must_use]
    pub fn position_in(&self, frame: FrameIndex) -> Option<Position> {
        match self.invocation()?.frame(&self.context, frame)?.function {
            FrameFunction::Bytecode(position) => Some(position),
            FrameFunction::Native(_) | FrameFunction::Part { .. } => None,
        }
    }

    /// The values of a frame by name: those of the source, or of the VM program where that is shown
    /// or the source is not at hand.
    fn locals(&self, frame: FrameId) -> Vec<Variable> {
        match self.scope_variables(frame) {
            Some(named) => named.into_iter().map(|(_, shown)| shown).collect(),
            None => self.vm_values(frame, &|_| true),
        }
    }

    /// What the compiler has made beside the names of the source.
    fn compiler_values(&self, frame: FrameId) -> Vec<Variable> {
        let position = self.position_in(frame.index);
        let scope =
            position.and_then(|it| self.program.scope(self.program.level, it, frame.calls, false));
        scope.map_or_else(Vec::new, |_| self.vm_values(frame, &|_| true))
    }

    fn registers(&self, frame: FrameIndex) -> Vec<Variable> {
        let (Some(invocation), Some(position)) = (self.invocation(), self.position_in(frame))
        else {
            return self.machine_registers(frame);
        };
        let Some(module) = self.program.module(position.function.module) else {
            return Vec::new();
        };
        let slots = module.registers(position);
        let registers = slots.iter().copied().filter_map(|slot| {
            let name = inspect::register_name(slot);
            let value = inspect::register_value(invocation, frame, slot)?;
            let mut shown = variable(&name, &value);
            shown.evaluate_name = Some(name);
            Some(shown)
        });
        registers.collect()
    }

    fn globals(&self, frame: FrameIndex) -> Vec<Variable> {
        let Some(position) = self.position_in(frame) else { return Vec::new() };
        let index = position.function.module;
        let module = self.program.module(index);
        module.map_or_else(Vec::new, |it| it.globals().variables(&self.context, index))
    }
}

/// Frames that were shown already, by the instruction that they stand at: what is recursive stands
/// at the same ones again and again. The innermost frame may stand before inlined calls, and is
/// made for itself.
#[derive(Default)]
pub(crate) struct KnownFrames {
    /// Frames of the machine that were looked at, and those that were made to be shown.
    #[cfg(test)]
    pub(crate) visited: usize,
    #[cfg(test)]
    pub(crate) made: usize,
    by_position: HashMap<Position, Vec<Frame>>,
    /// What another one was shown as.
    other: Vec<Frame>,
}

impl KnownFrames {
    /// What a frame of the machine is shown as, innermost first; one of the same instruction may
    /// have made it.
    fn shown(&mut self, debugger: &Debugger, index: FrameIndex, frame: &vm::Frame) -> &[Frame] {
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
        let make = || debugger.with_inlined_calls(index, debugger.frame_view(index, frame));
        match frame.function {
            FrameFunction::Bytecode(position) if index.0 > 0 => {
                self.by_position.entry(position).or_insert_with(make)
            }
            _ => {
                self.other = make();
                &self.other
            }
        }
    }
}
