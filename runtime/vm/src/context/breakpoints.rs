//! Breakpoints: patches of a copy of a function's code.

use std::collections::BTreeMap;

use vmfb::BytecodeOffset;

use super::linked::Context;
use crate::code::{Armed, Code, Guarded, alone};
use crate::errors::BreakpointError;
use crate::machine::{CheckedCode, FunctionCode};
use crate::modules::LinkedKind;
use crate::position::{FunctionId, ModuleIndex};
use crate::stack::Guard;

/// Above this number of changes, a whole function is made again, instead of the surroundings of
/// each change.
const FEW_CHANGES: usize = 8;

impl Context {
    /// Whether a breakpoint is in a module.
    #[must_use]
    pub(crate) fn has_breakpoints(&self, module: ModuleIndex) -> bool {
        let Some(LinkedKind::Bytecode { module, first_function, .. }) =
            self.modules.get(module.index()).map(|module| &module.kind)
        else {
            return false;
        };
        let first = *first_function as usize;
        let functions = self.functions.get(first..first + module.functions().len());
        functions.is_some_and(|functions| functions.iter().any(|slot| slot.armed.is_some()))
    }

    /// Sets a breakpoint: the invocation stops before the instruction at `offset` runs. Branches
    /// skip block markers, so a breakpoint on a marker slips to the instruction after it. Returns
    /// where the breakpoint is. Setting it twice has no further effect. May be called whenever
    /// nothing runs.
    ///
    /// # Errors
    /// No instruction starts there.
    pub fn set_breakpoint(
        &mut self,
        function: FunctionId,
        offset: BytecodeOffset,
    ) -> Result<BytecodeOffset, BreakpointError> {
        let slot = self.slot_index(function).ok_or(BreakpointError::NoSuchFunction)?;
        let code = self.code(slot);
        let Some(index) = stoppable_index(code, offset) else {
            let before = code.starts.iter().rev().find(|(start, _)| *start < offset.0);
            let before = BytecodeOffset(before.map_or(0, |(start, _)| *start));
            return Err(BreakpointError::NotAnInstruction { offset, before });
        };
        let set_at = code.offset_at(index);
        let slot = &mut self.functions[slot as usize];
        let Some(code) = slot.code.get() else { return Err(BreakpointError::NoSuchFunction) };
        let armed = slot.armed.get_or_insert_with(|| Armed::new(code));
        if armed.indices.insert(index) {
            armed.instructions.arm(index);
            armed.update(code, index);
        }
        Ok(set_at)
    }

    /// Removes some breakpoints and sets others, as far as possible. Many changes to one function
    /// are made at once, as the code of an instruction depends on the breakpoints around it.
    pub fn change_breakpoints(
        &mut self,
        cleared: impl IntoIterator<Item = (FunctionId, BytecodeOffset)>,
        set: impl IntoIterator<Item = (FunctionId, BytecodeOffset)>,
    ) {
        let mut changes: BTreeMap<u32, Vec<(BytecodeOffset, bool)>> = BTreeMap::new();
        let cleared = cleared.into_iter().map(|place| (place, false));
        for ((function, offset), is_set) in cleared.chain(set.into_iter().map(|it| (it, true))) {
            if let Some(slot) = self.slot_index(function) {
                changes.entry(slot).or_default().push((offset, is_set));
            }
        }
        for (slot, changes) in changes {
            if changes.len() > FEW_CHANGES {
                self.change_many(slot, &changes);
                continue;
            }
            let function = self.functions[slot as usize].id();
            for (offset, is_set) in changes {
                if is_set {
                    // What is no instruction is not armed.
                    let _ = self.set_breakpoint(function, offset);
                } else {
                    self.clear_breakpoint(function, offset);
                }
            }
        }
    }

    fn change_many(&mut self, slot: u32, changes: &[(BytecodeOffset, bool)]) {
        let code = self.code(slot);
        let changes: Vec<(u32, bool)> = changes
            .iter()
            .filter_map(|(offset, is_set)| Some((stoppable_index(code, *offset)?, *is_set)))
            .collect();
        let slot = &mut self.functions[slot as usize];
        let Some(code) = slot.code.get() else { return };
        let armed = slot.armed.get_or_insert_with(|| Armed::new(code));
        for (index, is_set) in changes {
            if is_set {
                armed.indices.insert(index);
                armed.instructions.arm(index);
            } else {
                armed.indices.remove(&index);
                armed.guards.remove(&index);
                armed.instructions.disarm(index, &code.instructions);
            }
        }
        armed.free = CheckedCode::free(&armed.instructions);
        for guarded in armed.guards.keys() {
            armed.free.guard(&code.instructions, *guarded);
        }
        if armed.indices.is_empty() {
            slot.armed = None;
        }
    }

    /// Removes a breakpoint; returns whether there was one.
    pub fn clear_breakpoint(&mut self, function: FunctionId, offset: BytecodeOffset) -> bool {
        let Some(slot) = self.slot_index(function) else { return false };
        let Some(index) = stoppable_index(self.code(slot), offset) else { return false };
        let slot = &mut self.functions[slot as usize];
        let (Some(armed), Some(code)) = (&mut slot.armed, slot.code.get()) else { return false };
        let removed = armed.indices.remove(&index);
        armed.guards.remove(&index);
        armed.instructions.disarm(index, &code.instructions);
        armed.update(code, index);
        if armed.indices.is_empty() {
            slot.armed = None;
        }
        removed
    }

    /// Lets a guard decide whether a breakpoint stops while nothing observes; without a guard it
    /// always stops. Returns whether there is a breakpoint.
    pub fn set_guard(
        &mut self,
        function: FunctionId,
        offset: BytecodeOffset,
        guard: Option<Guard>,
    ) -> bool {
        let Some(slot) = self.slot_index(function) else { return false };
        let Some(index) = stoppable_index(self.code(slot), offset) else { return false };
        let slot = &mut self.functions[slot as usize];
        let (Some(armed), Some(code)) = (&mut slot.armed, slot.code.get()) else { return false };
        if !armed.indices.contains(&index) {
            return false;
        }
        match guard {
            Some(guard) => {
                let handler = alone(&code.instructions, index as usize);
                armed.guards.insert(index, Guarded { guard, handler });
            }
            None => {
                armed.guards.remove(&index);
            }
        }
        armed.update(code, index);
        true
    }

    /// All breakpoints.
    pub fn breakpoints(&self) -> impl Iterator<Item = (FunctionId, BytecodeOffset)> {
        self.functions.iter().flat_map(|slot| {
            let indices = slot.armed.iter().flat_map(|armed| armed.indices.iter());
            indices.filter_map(|index| Some((slot.id(), slot.code.get()?.offset_at(*index))))
        })
    }
}

/// The instruction at `offset`, or the one after it if it is a block marker.
fn stoppable_index(code: &FunctionCode, offset: BytecodeOffset) -> Option<u32> {
    let index = code.index_of(offset)?;
    let is_marker = code.instructions[index as usize].code == Code::Block;
    Some(if is_marker { index + 1 } else { index })
}
