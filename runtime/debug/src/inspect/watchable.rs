//! Data that can be watched. An expression or an address names it once; from then on it is fixed.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use abi::tensor::TensorType;
use debuginfo::RegisterSlot;
use vm::{FrameIndex, Position};
use vmfb::BytecodeOffset;

use super::not_watchable::NotWatchable;
use super::watch_target::{NamedValue, WatchTarget, Watched, of_bytes, of_ranges, of_tensor};
use crate::expression::{Expression, Item, Place};
use crate::machine::Machine;
use crate::target::instruction_effects::Effects;
use crate::target::registers::overlap;
use crate::tensor::TensorView;
use crate::view::frame::FrameId;
use crate::view::memory::Memory;

/// The value in a watched register after a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WhoseRegister {
    /// The watched value, or any value if a plain register is watched.
    Its,
    /// Another value; the watched one may come back, in a loop.
    AnothersForNow,
    /// Another value, for the rest of the call.
    Anothers,
}

impl Machine {
    /// The data that an expression names in a frame.
    ///
    /// # Errors
    /// It names nothing that stays in place; the message says what does.
    pub fn watch_target(
        &self,
        frame: impl Into<FrameId>,
        text: &str,
    ) -> Result<WatchTarget, NotWatchable> {
        let frame = frame.into();
        let item = self.watched_item(frame, text)?;
        let view = item.datum.tensor();
        let memory = || match (&view, item.datum.memory()) {
            (Some(tensor), _) => Some(of_tensor(tensor)),
            (None, Some(buffer)) => {
                let whole = 0..buffer.len();
                Some(of_ranges(&buffer, iter::once(whole)))
            }
            (None, None) => None,
        };
        // A named value keeps its reference, so its contents are watched.
        let by_name = memory().filter(|_| item.declared.is_some());
        let place = match (by_name, &item.place) {
            (Some(place), _) => place?,
            (None, Some(place)) => self.watched_place(place)?,
            (None, None) => memory()
                .ok_or_else(|| NotWatchable::Computed { name: text.trim().to_owned() })??,
        };
        let name = text.trim().to_owned();
        let value = self.value_of_register(&place, frame, &name);
        let (is_gone, may_come) = Default::default();
        Ok(WatchTarget { name, place, view, is_expression: true, value, is_gone, may_come })
    }

    /// The first `count` bytes of the data that an expression names in a frame.
    ///
    /// # Errors
    /// It names no memory, or less memory.
    pub fn watch_bytes(
        &self,
        frame: impl Into<FrameId>,
        text: &str,
        count: usize,
    ) -> Result<WatchTarget, NotWatchable> {
        let frame = frame.into();
        let item = self.watched_item(frame, text)?;
        let (buffer, start) = match (item.datum.tensor(), item.datum.memory()) {
            (Some(tensor), _) => {
                let (buffer, start) = tensor.memory_from();
                (Arc::clone(buffer), start)
            }
            (None, Some(buffer)) => (buffer, 0),
            (None, None) => {
                let target = self.watch_target(frame, text)?;
                return match item.datum.number().map(|_| target.width()) {
                    Some(width) if (1..=width).contains(&count) => Ok(target),
                    _ => Err(NotWatchable::NotInMemory { name: text.trim().to_owned() }),
                };
            }
        };
        let name = format!("{count} bytes from {}", text.trim());
        let view = item.datum.tensor().and_then(|tensor| {
            let element_type = tensor.tensor_type().element_type;
            let width = element_type.byte_count();
            let fits = !element_type.is_packed() && width > 0 && count.is_multiple_of(width);
            let shape = vec![fits.then_some(count / width)? as u64];
            let part = buffer.subspan(start, count).ok()?;
            TensorView::new(Arc::new(part), TensorType { shape, element_type }).ok()
        });
        of_bytes(&buffer, start, count, name, view)
    }

    /// The `count` bytes of memory from an offset on.
    ///
    /// # Errors
    /// The memory has fewer bytes.
    pub fn watch_memory(
        &self,
        memory: &Memory,
        offset: usize,
        count: usize,
    ) -> Result<WatchTarget, NotWatchable> {
        let (buffer, start) = memory.place();
        let start = start.checked_add(offset).ok_or(NotWatchable::NoMemory)?;
        let address = (buffer.address() as usize).wrapping_add(start);
        of_bytes(buffer, start, count, format!("{count} bytes at {address:#x}"), None)
    }

    fn watched_item(&self, frame: impl Into<FrameId>, text: &str) -> Result<Item, NotWatchable> {
        let expression = Expression::parse(text)?;
        Ok(self.place_item(frame, &expression)?)
    }

    fn watched_place(&self, place: &Place) -> Result<Watched, NotWatchable> {
        Ok(match place {
            Place::Register(frame, slot) => {
                let depth = self.depth().checked_sub(1 + frame.0).ok_or(NotWatchable::NoFrame)?;
                let position = self.position_in(*frame).ok_or(NotWatchable::Native)?;
                Watched::Register(position.function, depth, *slot)
            }
            Place::GlobalBytes(module, at, bank) => Watched::GlobalBytes(*module, *at, *bank),
            Place::GlobalRef(module, index) => Watched::GlobalRef(*module, *index),
            Place::ListElement(list, index) => Watched::ListElement(Arc::clone(list), *index),
            Place::Element(tensor) => of_tensor(tensor)?,
        })
    }
}

impl Machine {
    /// The value in a register, if the name is one in the frame.
    fn value_of_register(&self, place: &Watched, frame: FrameId, name: &str) -> Option<NamedValue> {
        let Watched::Register(_, _, slot) = place else { return None };
        let named_at = self.position_in(frame.index)?;
        let name = name.strip_prefix('%')?.to_owned();
        let level = self.level;
        let innermost = self.program.path_at(level, named_at).len().saturating_sub(1);
        let calls = frame.calls.unwrap_or(innermost);
        let value = NamedValue { name, level, calls, named_at };
        self.holds_value(*slot, &value, named_at, frame.index).then_some(value)
    }

    /// Whether a register holds a value before an instruction of a frame.
    fn holds_value(
        &self,
        slot: RegisterSlot,
        value: &NamedValue,
        at: Position,
        frame: FrameIndex,
    ) -> bool {
        let NamedValue { name, level, calls, .. } = value;
        let is_in_frame = *calls < self.program.path_at(*level, at).len().max(1);
        let given = self.given(frame);
        let meaning = || self.program.meaning(*level, at, Some(*calls), name, given);
        let held = is_in_frame.then(meaning).flatten().and_then(|meaning| meaning.register());
        held.is_some_and(|held| held.ordinal() == slot.ordinal() && held.is_ref() == slot.is_ref())
    }

    /// The instructions ahead from which on a watched register that holds something else for now
    /// holds the watched value without another write.
    pub(crate) fn named_from(&self, target: &WatchTarget) -> BTreeSet<BytecodeOffset> {
        let (Watched::Register(function, depth, slot), Some(value)) =
            (&target.place, &target.value)
        else {
            return BTreeSet::new();
        };
        let frame = self.depth().checked_sub(depth + 1).map(FrameIndex);
        let here = frame.and_then(|frame| Some((frame, self.position_in(frame)?)));
        let module = self.program.module(function.module);
        let (Some((frame, here)), Some(module)) = (here, module) else { return BTreeSet::new() };
        let code = module.module.function_bytecode(function.function);
        let is_wanted = |offset| {
            let at = Position { function: *function, offset };
            self.holds_value(*slot, value, at, frame)
        };
        let writes = |offset| {
            let effects = Effects::of(code, offset);
            let mut used = effects.registers.iter();
            used.any(|(used, is_write)| *is_write && overlap(*used, *slot))
        };
        first_reached(code, here.offset, is_wanted, writes)
    }

    /// Whose value a watched register holds after a write.
    pub(crate) fn whose_register(&self, target: &WatchTarget) -> WhoseRegister {
        let (Watched::Register(function, depth, slot), Some(value)) =
            (&target.place, &target.value)
        else {
            return WhoseRegister::Its;
        };
        let frame = self.depth().checked_sub(depth + 1).map(FrameIndex);
        let here = frame.and_then(|frame| Some((frame, self.position_in(frame)?)));
        let module = self.program.module(function.module);
        let (Some((frame, here)), Some(module)) = (here, module) else {
            return WhoseRegister::Its;
        };
        if self.holds_value(*slot, value, here, frame) {
            return WhoseRegister::Its;
        }
        let code = module.module.function_bytecode(function.function);
        if reaches(code, here.offset, value.named_at.offset) {
            WhoseRegister::AnothersForNow
        } else {
            WhoseRegister::Anothers
        }
    }
}

/// The instructions to which control flows from one, unless it passes one at which `ends` holds:
/// those at which `is_wanted` first does.
fn first_reached(
    code: &[u8],
    from: BytecodeOffset,
    is_wanted: impl Fn(BytecodeOffset) -> bool,
    ends: impl Fn(BytecodeOffset) -> bool,
) -> BTreeSet<BytecodeOffset> {
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    let mut pending = vec![from];
    while let Some(mut at) = pending.pop() {
        while seen.insert(at) {
            let Ok(instruction) = vmfb::decode(code, at) else { break };
            if is_wanted(at) {
                found.insert(at);
                // A program never stands at the mark of a block, but at what follows.
                if instruction.op == vmfb::Op::Block {
                    found.insert(instruction.end);
                }
                break;
            }
            if ends(at) {
                break;
            }
            pending.extend(instruction.successors().into_iter().map(|(target, _)| target));
            if instruction.op.is_terminator() {
                break;
            }
            at = instruction.end;
        }
    }
    found
}

/// Whether control can flow from one instruction of a function to another.
fn reaches(code: &[u8], from: BytecodeOffset, to: BytecodeOffset) -> bool {
    let mut seen = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(mut at) = pending.pop() {
        while seen.insert(at) {
            if at == to {
                return true;
            }
            let Ok(instruction) = vmfb::decode(code, at) else { break };
            pending.extend(instruction.successors().into_iter().map(|(target, _)| target));
            if instruction.op.is_terminator() {
                break;
            }
            at = instruction.end;
        }
    }
    false
}
