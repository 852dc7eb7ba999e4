//! The scopes of a frame, and what is inside them.

use debuginfo::Given;
use std::ops::Range;

use vm::FrameIndex;

use super::globals;
use crate::machine::Machine;
use crate::target::level::Level;
use crate::view::frame::FrameId;
use crate::view::memory::Memory;
use crate::view::register;
use crate::view::value::{self, variable};
use crate::view::variable::{Node, ScopeKind, Variable};

impl Machine {
    /// The scopes of a frame, in the order in which they are shown.
    #[must_use]
    pub fn scopes(&self, frame: impl Into<FrameId>) -> Vec<(ScopeKind, Node)> {
        let id = frame.into();
        let frame = id.index;
        let position = self.position_in(frame);
        let module = position.and_then(|it| self.program.module(it.function.module));
        let is_python = self.is_python(self.level, id);
        // Whether scopes are empty can be seen without evaluating their contents.
        let named = self.scope_of(self.level, id);
        let (has_locals, has_arguments) = match &named {
            _ if is_python => (true, false),
            Some(named) => (
                named.iter().any(|it| !it.is_constant),
                named.iter().any(|it| it.argument.is_some()),
            ),
            None => (
                !self.locals(self.level, id).is_empty(),
                !self.arguments(self.level, id).is_empty(),
            ),
        };
        let has_constants = named.is_some_and(|it| it.iter().any(|it| it.is_constant));
        let has_globals = module.is_some_and(|it| {
            let state = it.module.state();
            state.global_bytes > 0 || state.global_refs > 0
        });
        let has_dispatch = self.dispatch(frame).is_some();
        let kinds = [
            // Views may expand only the first scope: variables of Python, elsewhere the tensors of
            // a dispatch.
            (has_dispatch && !is_python, ScopeKind::Dispatch),
            (has_locals, ScopeKind::Locals),
            (has_dispatch && is_python, ScopeKind::Dispatch),
            (has_arguments, ScopeKind::Arguments),
            (has_constants && !is_python, ScopeKind::Constants),
            (!self.compiler_values(self.level, id).is_empty(), ScopeKind::Compiler),
            (position.is_some() || self.machine_state(frame).is_some(), ScopeKind::Registers),
            (has_globals, ScopeKind::Globals),
            (self.has_allocations(), ScopeKind::Device),
        ];
        // At the level of the model, the VM's own values are a level below.
        let is_shown = |kind: ScopeKind| match kind {
            ScopeKind::Compiler | ScopeKind::Device => !self.level.is_model(),
            ScopeKind::Registers => !self.level.is_model() || self.machine_state(frame).is_some(),
            _ => true,
        };
        kinds
            .into_iter()
            .filter(|(is_there, kind)| *is_there && is_shown(*kind))
            .map(|(_, kind)| (kind, Node::Scope(id, kind)))
            .collect()
    }

    /// What is inside a node; `range` picks elements of an indexed one.
    #[must_use]
    pub fn children(&self, node: &Node, range: Option<Range<usize>>) -> Vec<Variable> {
        self.children_at(self.level, node, range)
    }

    /// The same with the names of a level.
    pub(crate) fn children_at(
        &self,
        level: Level,
        node: &Node,
        range: Option<Range<usize>>,
    ) -> Vec<Variable> {
        match node {
            Node::Scope(frame, ScopeKind::Locals) => self.locals(level, *frame),
            Node::Scope(frame, ScopeKind::Compiler) => self.compiler_values(level, *frame),
            // What functions of Python are given, and weights, are variables like all others.
            Node::Scope(frame, ScopeKind::Arguments | ScopeKind::Constants)
                if self.is_python(level, *frame) =>
            {
                Vec::new()
            }
            Node::Scope(frame, ScopeKind::Arguments) => self.arguments(level, *frame),
            Node::Scope(frame, ScopeKind::Constants) => {
                self.scope_variables(level, *frame, &|it| it.is_constant).unwrap_or_default()
            }
            Node::Scope(frame, ScopeKind::Registers) => self.registers(frame.index),
            Node::Scope(frame, ScopeKind::Globals) => self.globals(frame.index),
            Node::Scope(frame, ScopeKind::Dispatch) => {
                let mut all = self.dispatch_variables(frame.index);
                all.extend(self.passed_variables(frame.index));
                all
            }
            Node::Passed(frame) => self.passed_variables(frame.index),
            Node::Scope(_, ScopeKind::Device) => self.allocations(),
            Node::Tensor(tensor) => {
                tensor.children(value::page(range, tensor.length().unwrap_or(0)))
            }
            Node::List(list) => value::list_children(list, 0..list.len(), range),
            Node::ListPart(list, first, end) => value::list_children(list, *first..*end, range),
            Node::Buffer(buffer, view) => value::buffer_children(buffer, *view, range),
        }
    }

    /// The values of a frame by name: those of the source, or those of the VM program if that is
    /// shown or the source is not available. The tensors that the source writes have a scope of
    /// their own.
    fn locals(&self, level: Level, frame: FrameId) -> Vec<Variable> {
        self.shown_in_python(level, frame)
            .or_else(|| self.scope_variables(level, frame, &|it| !it.is_constant))
            .unwrap_or_else(|| self.vm_values(level, frame, &|_| true))
    }

    /// Values of the compiler that have no name in the source.
    fn compiler_values(&self, level: Level, frame: FrameId) -> Vec<Variable> {
        let position = self.position_in(frame.index);
        let scope =
            position.and_then(|it| self.program.scope(level, it, frame.calls, Given::Unknown));
        scope.map_or_else(Vec::new, |_| self.vm_values(level, frame, &|_| true))
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
            let name = register::name(slot);
            let value = register::value(invocation, frame, slot)?;
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
        module.map_or_else(Vec::new, |it| globals::variables(it.globals(), &self.context, index))
    }

    /// The memory that contains an address, and the offset of the address: memory of the stopped
    /// program's frames, globals and device.
    #[must_use]
    pub fn memory_at(&self, address: u64) -> Option<(Memory, usize)> {
        let address = usize::try_from(address).ok()?;
        let frames = self.frames().into_iter();
        let scopes = frames.flat_map(|frame| self.scopes(frame.id()));
        let values = scopes.flat_map(|(_, node)| self.children(&node, None));
        let mut found = values.filter_map(|value| {
            let memory = Memory::of(value.children.as_ref()?)?;
            let offset = memory.offset_of(address)?;
            Some((memory, offset))
        });
        found.next()
    }
}
