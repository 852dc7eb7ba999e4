//! Data that is watched: its bytes, its text, and whether it was touched.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use abi::element_type::ElementType;
use debuginfo::RegisterSlot;
use vm::{
    Buffer, Context, FrameIndex, FunctionId, Invocation, List, ModuleIndex, Position, Ref, Value,
};
use vmfb::BytecodeOffset;
use vmfb::isa::Bank;

use super::globals;
use super::not_watchable::NotWatchable;
use crate::target::instruction_effects::{AccessKind, Effects};
use crate::target::level::Level;
use crate::target::registers::overlap;
use crate::tensor::TensorView;
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
pub(super) struct NamedValue {
    /// The name without its `%`.
    pub(super) name: String,
    /// Where the name has its meaning: the level, and how many inlined calls lead to the frame.
    pub(super) level: Level,
    pub(super) calls: usize,
    /// The instruction at which it was named.
    pub(super) named_at: Position,
}

/// The bytes that are kept to notice a change.
pub(crate) type Snapshot = Option<Vec<u8>>;

/// Data that is watched: a register of one call of a function, an element of one list, a global, or
/// memory.
#[derive(Clone, Debug)]
pub struct WatchTarget {
    /// The expression or the range of memory that named it.
    pub name: String,
    pub(super) place: Watched,
    /// The memory with its type, for its text.
    pub(super) view: Option<TensorView>,
    /// Whether the name is an expression, so that elements can be named with an index.
    pub(super) is_expression: bool,
    /// The watched value, if the register may hold others, too.
    pub(super) value: Option<NamedValue>,
    /// Whether the register's frame has returned, or the value does not come back.
    pub(super) is_gone: Arc<AtomicBool>,
    /// Whether the program goes back in time, where what is not there yet is not gone.
    pub(super) may_come: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
pub(super) enum Watched {
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

pub(super) fn of_bytes(
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
pub(super) fn of_tensor(tensor: &TensorView) -> Result<Watched, NotWatchable> {
    let ranges = tensor.byte_ranges(MAX_RANGES).ok_or(NotWatchable::Gaps { most: MAX_RANGES })?;
    of_ranges(tensor.memory_from().0, ranges)
}

pub(super) fn of_ranges(
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
