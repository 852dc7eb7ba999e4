//! Data that can be watched. An expression or an address names it once; from then on it is fixed.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use abi::element_type::ElementType;
use abi::tensor::TensorType;
use debuginfo::RegisterSlot;
use vm::{
    Buffer, Context, FrameIndex, FunctionId, Invocation, List, ModuleIndex, Position, Ref, Value,
};
use vmfb::BytecodeOffset;
use vmfb::isa::Bank;

use super::globals;
use super::not_watchable::NotWatchable;
use crate::expression::{Expression, Item, Place};
use crate::machine::Machine;
use crate::target::instruction_effects::{AccessKind, Effects};
use crate::target::level::Level;
use crate::target::registers::overlap;
use crate::tensor::TensorView;
use crate::view::frame::FrameId;
use crate::view::memory::Memory;
use crate::view::register;
use crate::view::text::value_text;

/// Largest memory that can be watched, in bytes: it is compared byte by byte.
const MAX_BYTES: usize = 1 << 20;

/// Most gaps in a slice that can be watched: every access to memory is compared with each range.
const MAX_RANGES: usize = 1024;

/// Largest memory, in bytes, that is read before every instruction; larger memory is read only
/// after instructions that may have written it.
const LARGE: usize = 64;

/// Bytes of plain memory that are shown.
const SHOWN_BYTES: usize = 8;

/// A value in a register. SSA values share registers, so not every write to the register changes
/// the value.
#[derive(Clone, Debug)]
struct NamedValue {
    /// The name without its `%`.
    name: String,
    /// Where the name has its meaning: the level, and how many inlined calls lead to the frame.
    level: Level,
    calls: usize,
    /// The instruction at which it was named.
    named_at: Position,
}

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

/// The bytes that are kept to notice a change.
pub(crate) type Snapshot = Option<Vec<u8>>;

/// Data that is watched: a register of one call of a function, an element of one list, a global, or
/// memory.
#[derive(Clone, Debug)]
pub struct WatchTarget {
    /// The expression or the range of memory that named it.
    pub name: String,
    place: Watched,
    /// The memory with its type, for its text.
    view: Option<TensorView>,
    /// Whether the name is an expression, so that elements can be named with an index.
    is_expression: bool,
    /// The watched value, if the register may hold others, too.
    value: Option<NamedValue>,
    /// Whether the register's frame has returned, or the value does not come back.
    is_gone: Arc<AtomicBool>,
    /// Whether the program goes back in time, where what is not there yet is not gone.
    may_come: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
enum Watched {
    /// A register of a frame, which is counted from the outermost.
    Register(FunctionId, usize, RegisterSlot),
    GlobalBytes(ModuleIndex, usize, Bank),
    GlobalRef(ModuleIndex, usize),
    ListElement(Arc<List>, usize),
    /// Ranges of bytes.
    Memory(Arc<Buffer>, Arc<[Range<usize>]>),
}

impl PartialEq for WatchTarget {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (&self.place, &other.place) {
            (Watched::Register(f, d, s), Watched::Register(g, e, t)) => (f, d, s) == (g, e, t),
            (Watched::GlobalBytes(m, at, _), Watched::GlobalBytes(n, to, _))
            | (Watched::GlobalRef(m, at), Watched::GlobalRef(n, to)) => (m, at) == (n, to),
            (Watched::ListElement(one, at), Watched::ListElement(other, to)) => {
                Arc::ptr_eq(one, other) && at == to
            }
            (Watched::Memory(one, ranges), Watched::Memory(other, others)) => {
                one.address() == other.address() && ranges == others
            }
            _ => false,
        };
        is_same && self.name == other.name
    }
}

impl Eq for WatchTarget {}

impl Hash for WatchTarget {
    /// Equal targets have equal names.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
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
        let knows_arguments = self.knows_arguments(frame);
        let meaning = || self.program.meaning(*level, at, Some(*calls), name, knows_arguments);
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

impl WatchTarget {
    /// A range of memory.
    ///
    /// # Errors
    /// The memory does not have it, or it is too large to be watched.
    pub(crate) fn of_memory(
        buffer: &Arc<Buffer>,
        range: Range<usize>,
    ) -> Result<Self, NotWatchable> {
        let name = format!("{} bytes", range.len());
        of_bytes(buffer, range.start, range.len(), name, None)
    }

    /// The register that it is, if it is one: its function, the frame from the outermost, itself.
    pub(crate) fn register(&self) -> Option<(FunctionId, usize, RegisterSlot)> {
        match self.place {
            Watched::Register(function, depth, slot) => Some((function, depth, slot)),
            _ => None,
        }
    }

    /// The frame of a register, counted from the outermost.
    pub(crate) fn frame_depth(&self) -> Option<usize> {
        match self.place {
            Watched::Register(_, depth, _) => Some(depth),
            _ => None,
        }
    }

    /// The type of its elements, if it is part of a tensor.
    pub(crate) fn element_type(&self) -> Option<ElementType> {
        Some(self.view.as_ref()?.tensor_type().element_type)
    }

    /// Some of its bytes, by their addresses.
    pub(crate) fn bytes_at(&self, addresses: &Range<usize>) -> Vec<u8> {
        let Watched::Memory(buffer, _) = &self.place else { return Vec::new() };
        let start = addresses.start.wrapping_sub(buffer.address() as usize);
        buffer.read(start, addresses.len())
    }

    /// The text that it would have with these bytes instead of its own.
    pub(crate) fn text_of(&self, bytes: &[u8]) -> String {
        let whole = self.view.as_ref().filter(|view| view.is_contiguous() && !view.is_packed());
        let view = whole.and_then(|view| {
            let buffer = Buffer::from_bytes(bytes).ok()?;
            TensorView::new(Arc::new(buffer), view.tensor_type().clone()).ok()
        });
        view.map_or_else(|| hexadecimal(bytes), |view| view.short())
    }

    /// The addresses of its bytes, if it is memory.
    #[must_use]
    pub fn memory_ranges(&self) -> Vec<Range<usize>> {
        let Watched::Memory(buffer, ranges) = &self.place else { return Vec::new() };
        let start = buffer.address() as usize;
        ranges.iter().map(|range| start + range.start..start + range.end).collect()
    }
}

fn of_bytes(
    buffer: &Arc<Buffer>,
    start: usize,
    count: usize,
    name: String,
    view: Option<TensorView>,
) -> Result<WatchTarget, NotWatchable> {
    let left = buffer.len().saturating_sub(start);
    if count == 0 || count > left {
        return Err(NotWatchable::Bytes { count, left });
    }
    let place = of_ranges(buffer, iter::once(start..start + count))?;
    let (is_gone, may_come) = Default::default();
    Ok(WatchTarget { name, place, view, is_expression: false, value: None, is_gone, may_come })
}

/// The memory of a tensor, which may have gaps.
fn of_tensor(tensor: &TensorView) -> Result<Watched, NotWatchable> {
    let ranges = tensor.byte_ranges(MAX_RANGES).ok_or(NotWatchable::Gaps { most: MAX_RANGES })?;
    of_ranges(tensor.memory_from().0, ranges)
}

fn of_ranges(
    buffer: &Arc<Buffer>,
    ranges: impl IntoIterator<Item = Range<usize>>,
) -> Result<Watched, NotWatchable> {
    let ranges: Arc<[Range<usize>]> = ranges.into_iter().collect();
    let length: usize = ranges.iter().map(Range::len).sum();
    if length > MAX_BYTES {
        return Err(NotWatchable::TooManyBytes { length, most: MAX_BYTES });
    }
    Ok(Watched::Memory(Arc::clone(buffer), ranges))
}

impl WatchTarget {
    /// The target under another name, which a view has for it.
    #[must_use]
    pub fn called(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Whether it is memory, which devices may write, too.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self.place, Watched::Memory(..))
    }

    /// Whether the program has its memory at this moment, if it is memory.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(&self.place, Watched::Memory(buffer, _) if !buffer.is_there())
    }

    /// What is said of it when its memory was released.
    pub(crate) fn released(&self) -> String {
        format!("{} is gone: its memory was released", self.name)
    }

    /// Whether it no longer exists.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    /// Marks it as gone, unless it may come.
    pub(crate) fn end(&self) {
        self.is_gone.store(!self.may_come(), Ordering::Relaxed);
    }

    /// Whether the program goes back in time.
    pub(crate) fn may_come(&self) -> bool {
        self.may_come.load(Ordering::Relaxed)
    }

    /// Says whether the program goes back in time.
    pub(crate) fn set_may_come(&self, may_come: bool) {
        self.may_come.store(may_come, Ordering::Relaxed);
    }

    /// Whether it exists in every run of the program: globals do, objects do not.
    #[must_use]
    pub fn is_global(&self) -> bool {
        matches!(self.place, Watched::GlobalBytes(..) | Watched::GlobalRef(..))
    }

    /// Its size in bytes; 0 for a reference global.
    #[must_use]
    pub fn width(&self) -> usize {
        match &self.place {
            Watched::Memory(_, ranges) => ranges.iter().map(Range::len).sum(),
            Watched::Register(_, _, RegisterSlot::I64(_) | RegisterSlot::F64(_))
            | Watched::GlobalBytes(_, _, Bank::I64 | Bank::F64) => 8,
            Watched::Register(..) | Watched::GlobalBytes(..) => 4,
            Watched::GlobalRef(..) => 0,
            Watched::ListElement(list, index) => {
                list.get(*index).map_or(0, |value| bits(&value).len())
            }
        }
    }

    /// Whether it is too large to be read before every instruction.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self.place, Watched::Memory(..)) && self.width() > LARGE
    }

    /// Whether the program stands at one of these instructions of the watched register's function.
    pub(crate) fn is_at(
        &self,
        context: &Context,
        invocation: &Invocation,
        offsets: &BTreeSet<BytecodeOffset>,
    ) -> bool {
        let Watched::Register(function, depth, _) = &self.place else { return false };
        let is_innermost = frame_of(context, invocation, *function, *depth) == Some(FrameIndex(0));
        let here = invocation.position(context);
        is_innermost && here.is_some_and(|here| offsets.contains(&here.offset))
    }

    /// Its bytes and its text; no bytes if it is gone.
    pub(crate) fn look(&self, context: &Context, invocation: &Invocation) -> (Snapshot, String) {
        let value = |value: Option<Value>| match value {
            Some(value) => (Some(bits(&value)), value_text(&value)),
            None => (None, "gone".to_owned()),
        };
        match &self.place {
            Watched::Register(..) if self.is_gone.load(Ordering::Relaxed) => value(None),
            Watched::Register(function, depth, slot) => {
                // Another call may reach the same depth; it has another frame all the same.
                if invocation.depth() <= *depth {
                    self.end();
                }
                let found = frame_of(context, invocation, *function, *depth);
                value(found.and_then(|frame| register::value(invocation, frame, *slot)))
            }
            Watched::GlobalBytes(module, at, bank) => {
                value(globals::read(context.global_bytes(*module), *at, *bank))
            }
            Watched::GlobalRef(module, index) => {
                value(context.global_refs(*module).get(*index).cloned().map(Value::Ref))
            }
            Watched::ListElement(list, index) => value(list.get(*index)),
            Watched::Memory(buffer, _) if !buffer.is_there() => value(None),
            Watched::Memory(buffer, ranges) => {
                let packed = self.view.as_ref().filter(|view| view.is_packed());
                let bytes = match packed {
                    Some(view) => view.unpacked(),
                    None => ranges.iter().flat_map(|it| buffer.read(it.start, it.len())).collect(),
                };
                let text = match &self.view {
                    Some(view) => view.short(),
                    None => hexadecimal(&bytes),
                };
                (Some(bytes), text)
            }
        }
    }

    /// The first part of memory that has changed: its name, its old text and its new text.
    pub(crate) fn changed_part(&self, old: &[u8], new: &[u8]) -> Option<(String, String, String)> {
        let Watched::Memory(..) = self.place else { return None };
        let first = old.iter().zip(new).position(|(old, new)| old != new)?;
        let width = self.view.as_ref().map_or(1, TensorView::element_width);
        let elements = old.chunks(width).zip(new.chunks(width));
        let others = elements.filter(|(old, new)| old != new).count() - 1;
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        let index = first / width;
        let Some(view) = &self.view else {
            let name = format!("{}, byte {index}{more}", self.name);
            return Some((name, hexadecimal(&old[first..]), hexadecimal(&new[first..])));
        };
        let part = match view.index_text(index) {
            Some(index) if self.is_expression => format!("{}[{index}]", self.name),
            Some(index) => format!("{}, element {index}", self.name),
            None => self.name.clone(),
        };
        let text = |bytes: &[u8]| Some(view.element_text(bytes.chunks(width).nth(index)?));
        Some((format!("{part}{more}"), text(old)?, text(new)?))
    }

    /// The blocks on the way to which the next instruction of the innermost frame writes it.
    pub(crate) fn moved_to(
        &self,
        context: &Context,
        invocation: &Invocation,
        effects: &Effects,
    ) -> Vec<BytecodeOffset> {
        let Watched::Register(function, depth, slot) = &self.place else { return Vec::new() };
        let moves = effects.moves.iter().filter(|(_, to)| overlap(*to, *slot));
        let blocks: Vec<_> = moves.map(|(block, _)| *block).collect();
        let is_here = !blocks.is_empty()
            && frame_of(context, invocation, *function, *depth) == Some(FrameIndex(0));
        if is_here { blocks } else { Vec::new() }
    }

    /// Whether the instruction that runs next in the innermost frame accesses it, and then whether
    /// it writes.
    pub(crate) fn is_touched(
        &self,
        context: &Context,
        invocation: &Invocation,
        at: Position,
        effects: &Effects,
    ) -> Option<bool> {
        if let Watched::Register(function, depth, slot) = &self.place {
            let is_here = !self.is_gone.load(Ordering::Relaxed)
                && frame_of(context, invocation, *function, *depth) == Some(FrameIndex(0));
            let uses =
                effects.registers.iter().filter(|(used, _)| is_here && overlap(*used, *slot));
            // An instruction that reads and writes it counts as a write.
            return uses.map(|(_, is_write)| *is_write).max();
        }
        let access = effects.object?;
        let frame = FrameIndex(0);
        let is_it = match (&self.place, access.kind) {
            (Watched::Memory(buffer, ranges), kind @ AccessKind::Buffer { .. }) => {
                let (from, to) = buffer_range(invocation, kind)?;
                let base = buffer.address() as usize;
                ranges.iter().any(|range| from < base + range.end && base + range.start < to)
            }
            (Watched::ListElement(list, wanted), AccessKind::List { list: register, index }) => {
                let index = usize::try_from(invocation.register_i32(frame, index)?).ok()?;
                let found = invocation.register_ref(frame, register)?;
                matches!(found, Ref::List(found) if Arc::ptr_eq(found, list)) && index == *wanted
            }
            (Watched::GlobalBytes(module, wanted, _), AccessKind::GlobalBytes(offset)) => {
                at.function.module == *module && offset as usize == *wanted
            }
            (Watched::GlobalRef(module, wanted), AccessKind::GlobalRef(index)) => {
                at.function.module == *module && index as usize == *wanted
            }
            _ => false,
        };
        is_it.then_some(access.is_write)
    }
}

/// The first bytes as hexadecimal text.
fn hexadecimal(bytes: &[u8]) -> String {
    let shown: Vec<String> =
        bytes.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > SHOWN_BYTES { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}

/// The bits by which values are compared.
fn bits(value: &Value) -> Vec<u8> {
    match value {
        Value::I32(value) => value.to_le_bytes().to_vec(),
        Value::I64(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
        Value::Ref(value) => value.address().to_le_bytes().to_vec(),
    }
}

/// The frame at a depth, counted from the outermost; the innermost only if it runs the function.
fn frame_of(
    context: &Context,
    invocation: &Invocation,
    function: FunctionId,
    depth: usize,
) -> Option<FrameIndex> {
    let index = invocation.depth().checked_sub(depth + 1)?;
    // Finding the function of an outer frame would walk over all frames; that of the innermost is
    // at hand.
    let is_it = if index == 0 {
        invocation.position(context).is_some_and(|position| position.function == function)
    } else {
        true
    };
    is_it.then_some(FrameIndex(index))
}

/// The addresses that a use of a buffer covers: first and end.
fn buffer_range(invocation: &Invocation, kind: AccessKind) -> Option<(usize, usize)> {
    let AccessKind::Buffer { buffer, index, width, count } = kind else { return None };
    let frame = FrameIndex(0);
    let Ref::Buffer(buffer) = invocation.register_ref(frame, buffer)? else { return None };
    let number = |register| usize::try_from(invocation.register_i64(frame, register)?).ok();
    let count = match count {
        Some(register) => number(register)?,
        None => 1,
    };
    let start = number(index)?.checked_mul(width)?;
    let start = (buffer.address() as usize).checked_add(start)?;
    Some((start, start.checked_add(count.checked_mul(width)?)?))
}
