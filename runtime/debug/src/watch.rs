//! Data breakpoints and traps: stops where data is read, written or changed, or a float goes bad.
//!
//! While any are set, the program runs through the instrumented loop, which is asked before every
//! instruction: what has the one before it done, and what is the next about to do? The stop is behind
//! the instruction that did it. What native code does to memory is seen where bytecode goes on.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use debuginfo::RegisterSlot;
use vm::{
    Buffer, Context, FrameIndex, FunctionId, Invocation, List, ModuleIndex, Observer, Position,
    Reaction, Ref, Value,
};
use vmfb::isa::Bank;

use crate::breakpoint::{BreakpointId, BreakpointSpec, BreakpointTable};
use crate::debugger::Debugger;
use crate::effects::{AccessKind, Effects, buffer_range, overlap};
use crate::expression::datum::Place;
use crate::expression::{Expression, Limits};
use crate::globals;
use crate::inspect;
use crate::tensor::TensorView;

/// Memory up to this size is compared byte by byte; of more, nobody would see what changed.
const MAX_RANGE: usize = 1 << 20;

/// What a data breakpoint looks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataAccess {
    /// The data is read.
    Read,
    /// It is written, with whatever value.
    Write,
    /// It gets another value.
    Change,
    /// It is read or written.
    ReadWrite,
}

/// Data that can be watched. What it is was settled when it was named: a register of one call of a
/// function, an element of one list.
#[derive(Clone, Debug)]
pub struct WatchTarget {
    /// The expression that named it.
    pub name: String,
    place: Watched,
    /// The memory with its type, to show it.
    view: Option<TensorView>,
    /// Whether the frame has returned whose register it is.
    is_gone: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
enum Watched {
    /// A register of the frame so far from the outermost.
    Register(FunctionId, usize, RegisterSlot),
    GlobalBytes(ModuleIndex, usize, Bank),
    GlobalRef(ModuleIndex, usize),
    ListElement(Arc<List>, usize),
    /// Bytes from, to.
    Memory(Arc<Buffer>, usize, usize),
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
            (Watched::Memory(one, a, b), Watched::Memory(other, c, d)) => {
                one.address() == other.address() && (a, b) == (c, d)
            }
            _ => false,
        };
        is_same && self.name == other.name
    }
}

impl Eq for WatchTarget {}

/// A data breakpoint that was hit.
#[derive(Clone, Debug)]
pub struct DataHit {
    /// The breakpoint.
    pub breakpoint: BreakpointId,
    /// What it watches.
    pub name: String,
    /// The value before.
    pub old: String,
    /// The value now; the same where it was only read or written again.
    pub new: String,
}

/// Floats that stop the program where they first appear: where no operand was one already.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traps {
    /// An instruction computes NaN.
    pub nan: bool,
    /// An instruction computes an infinity.
    pub infinity: bool,
    /// A dispatch leaves more NaN in what it is bound to than it found.
    pub dispatch_nan: bool,
    /// The same for infinities.
    pub dispatch_infinity: bool,
}

impl Traps {
    fn watches_instructions(self) -> bool {
        self.nan || self.infinity
    }

    pub(crate) fn watches_dispatches(self) -> bool {
        self.dispatch_nan || self.dispatch_infinity
    }
}

/// What is kept of data to notice a change.
type Snapshot = Option<Vec<u8>>;

#[derive(Debug)]
struct Item {
    id: BreakpointId,
    target: WatchTarget,
    access: DataAccess,
    last: Snapshot,
    shown: String,
}

/// What the last instruction was about to do, asked for behind it.
#[derive(Default, Debug)]
struct Pending {
    /// Items that it reads, and items that it writes.
    touched: Vec<(BreakpointId, bool)>,
    /// The register that it computes a float into, in the frame so far from the outermost.
    float: Option<(RegisterSlot, usize, Position)>,
    /// Whether memory has to be looked at.
    may_write_memory: bool,
}

/// Watches while the program runs.
#[derive(Default, Debug)]
pub(crate) struct Watcher {
    items: Vec<Item>,
    pub(crate) traps: Traps,
    effects: HashMap<Position, Arc<Effects>>,
    pending: Pending,
    pub(crate) hits: Vec<DataHit>,
    pub(crate) trapped: Option<String>,
}

impl Debugger {
    /// What an expression names in a frame, to be watched.
    ///
    /// # Errors
    /// It names nothing that stays where it is; the message says what does.
    pub fn watch_target(&self, frame: FrameIndex, text: &str) -> Result<WatchTarget, String> {
        let expression = Expression::parse(text).map_err(|error| error.to_string())?;
        let item = self.item(frame, expression.root(), Limits::default());
        let item = item.map_err(|error| error.to_string())?;
        let view = item.datum.tensor();
        let memory = |tensor: &TensorView| {
            let (buffer, start) = tensor.memory_from();
            let element = tensor.tensor_type().element_type;
            let length = element.packed_byte_count(tensor.count()).unwrap_or(usize::MAX);
            if !tensor.is_contiguous() {
                return Err("a slice with gaps cannot be watched".to_owned());
            }
            range(buffer, start, length)
        };
        let place = match item.place {
            Some(Place::Register(frame, slot)) => {
                let depth =
                    self.depth().checked_sub(1 + frame.0).ok_or("there is no such frame")?;
                let position = self.position_in(frame).ok_or("native code has no registers")?;
                Watched::Register(position.function, depth, slot)
            }
            Some(Place::GlobalBytes(module, at, bank)) => Watched::GlobalBytes(module, at, bank),
            Some(Place::GlobalRef(module, index)) => Watched::GlobalRef(module, index),
            Some(Place::ListElement(list, index)) => Watched::ListElement(list, index),
            Some(Place::Element(tensor)) => memory(&tensor)?,
            None => match (&view, item.datum.memory()) {
                (Some(tensor), _) => memory(tensor)?,
                (None, Some(buffer)) => {
                    let length = buffer.len();
                    range(&buffer, 0, length)?
                }
                (None, None) => {
                    return Err(format!(
                        "{} is computed; a register, a global, an element or memory can be watched",
                        text.trim()
                    ));
                }
            },
        };
        let name = text.trim().to_owned();
        Ok(WatchTarget { name, place, view, is_gone: Arc::default() })
    }

    /// Sets which floats stop the program where they first appear.
    pub fn set_traps(&mut self, traps: Traps) {
        self.watcher.traps = traps;
        self.rearm();
    }

    /// Which floats stop the program.
    #[must_use]
    pub fn traps(&self) -> Traps {
        self.watcher.traps
    }

    /// Takes what is watched from the breakpoints, with its values now.
    pub(crate) fn begin_watching(&mut self) {
        let mut watcher = std::mem::take(&mut self.watcher);
        watcher.items = self
            .breakpoints
            .iter()
            .filter_map(|breakpoint| match &breakpoint.spec {
                BreakpointSpec::Data { target, access } => Some(Item {
                    id: breakpoint.id,
                    target: target.clone(),
                    access: *access,
                    last: None,
                    shown: String::new(),
                }),
                _ => None,
            })
            .collect();
        watcher.pending = Pending::default();
        if let Some(invocation) = self.invocation() {
            for item in &mut watcher.items {
                (item.last, item.shown) = item.target.look(&self.context, invocation);
            }
        }
        self.watcher = watcher;
    }

    /// What watching found; each hit whose condition holds is counted.
    pub(crate) fn found_by_watching(&mut self) -> Option<crate::stop::StopReason> {
        use crate::stop::StopReason;
        let found = std::mem::take(&mut self.watcher.hits);
        if !found.is_empty() {
            let stopping = self.hit(found.iter().map(|hit| hit.breakpoint).collect());
            let hits: Vec<DataHit> =
                found.into_iter().filter(|hit| stopping.contains(&hit.breakpoint)).collect();
            if !hits.is_empty() {
                self.watcher.trapped = None;
                return Some(StopReason::Data(hits));
            }
        }
        self.watcher.trapped.take().map(StopReason::Trap)
    }
}

fn range(buffer: &Arc<Buffer>, start: usize, length: usize) -> Result<Watched, String> {
    if length > MAX_RANGE {
        return Err(format!(
            "{length} bytes are too many to watch, more than {MAX_RANGE}; take a slice"
        ));
    }
    Ok(Watched::Memory(Arc::clone(buffer), start, start + length))
}

impl WatchTarget {
    /// Whether it is there in another run of the program too: globals are, what is made on the way is
    /// not.
    #[must_use]
    pub fn is_global(&self) -> bool {
        matches!(self.place, Watched::GlobalBytes(..) | Watched::GlobalRef(..))
    }

    /// Its bytes and its text; no bytes where it is no more.
    fn look(&self, context: &Context, invocation: &Invocation) -> (Snapshot, String) {
        let value = |value: Option<Value>| match value {
            Some(value) => (Some(bits(&value)), inspect::value_text(&value)),
            None => (None, "gone".to_owned()),
        };
        match &self.place {
            Watched::Register(..) if self.is_gone.load(Ordering::Relaxed) => value(None),
            Watched::Register(function, depth, slot) => {
                // Another call may come to the same depth, and is another frame all the same.
                self.is_gone.store(invocation.depth() <= *depth, Ordering::Relaxed);
                let found = frame_of(context, invocation, *function, *depth);
                value(found.and_then(|frame| inspect::register_value(invocation, frame, *slot)))
            }
            Watched::GlobalBytes(module, at, bank) => {
                value(globals::read(context.global_bytes(*module), *at, *bank))
            }
            Watched::GlobalRef(module, index) => {
                value(context.global_refs(*module).get(*index).cloned().map(Value::Ref))
            }
            Watched::ListElement(list, index) => value(list.get(*index)),
            Watched::Memory(buffer, start, end) => {
                let bytes = buffer.read(*start, end - start);
                let text = match &self.view {
                    Some(view) => view.short(),
                    None => format!("{} bytes", bytes.len()),
                };
                (Some(bytes), text)
            }
        }
    }

    /// Whether an instruction that is about to run in the innermost frame touches it.
    fn is_touched(
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
            // An instruction that reads and writes it is told as a write.
            return uses.map(|(_, is_write)| *is_write).max();
        }
        let access = effects.object?;
        let frame = FrameIndex(0);
        let is_it = match (&self.place, access.kind) {
            (Watched::Memory(buffer, start, end), kind @ AccessKind::Buffer { .. }) => {
                let (from, to) = buffer_range(invocation, kind)?;
                let base = buffer.address() as usize;
                from < base + end && base + start < to
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

/// The bits that a value is compared by.
fn bits(value: &Value) -> Vec<u8> {
    match value {
        Value::I32(value) => value.to_le_bytes().to_vec(),
        Value::I64(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
        Value::Ref(value) => value.address().to_le_bytes().to_vec(),
    }
}

/// The frame so far from the outermost, if it still runs the function.
fn frame_of(
    context: &Context,
    invocation: &Invocation,
    function: FunctionId,
    depth: usize,
) -> Option<FrameIndex> {
    let index = invocation.depth().checked_sub(depth + 1)?;
    // Looking for the function each time would cost a walk over all frames; the innermost is known.
    let is_it = if index == 0 {
        invocation.position(context).is_some_and(|position| position.function == function)
    } else {
        true
    };
    is_it.then_some(FrameIndex(index))
}

impl Watcher {
    /// Whether the program has to be watched instruction by instruction.
    pub(crate) fn is_needed(&self) -> bool {
        !self.items.is_empty() || self.traps.watches_instructions()
    }

    /// Looks at what the last instruction has done, and at what the next one at `position` will do.
    /// Whether to stop.
    pub(crate) fn before(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> bool {
        let pending = std::mem::take(&mut self.pending);
        self.look_behind(context, invocation, &pending);
        let effects = self.effects_at(context, position);
        self.pending.may_write_memory = effects.may_write_memory();
        for item in &self.items {
            if matches!(item.access, DataAccess::Change) {
                continue;
            }
            if let Some(is_write) = item.target.is_touched(context, invocation, position, &effects)
            {
                self.pending.touched.push((item.id, is_write));
            }
        }
        if self.traps.watches_instructions()
            && let Some(result) = effects.float
        {
            let is_clean = effects
                .registers
                .iter()
                .filter(|(_, is_write)| !is_write)
                .all(|(it, _)| self.badness(invocation, *it).is_none());
            self.pending.float = is_clean.then(|| (result, invocation.depth(), position));
        }
        !self.hits.is_empty() || self.trapped.is_some()
    }

    fn look_behind(&mut self, context: &Context, invocation: &Invocation, pending: &Pending) {
        for item in &mut self.items {
            let touched = pending.touched.iter().find(|(id, _)| *id == item.id);
            // Looking at much memory before every instruction would take forever.
            let is_large =
                matches!(&item.target.place, Watched::Memory(_, from, to) if to - from > 64);
            if is_large && !pending.may_write_memory && touched.is_none() {
                continue;
            }
            let (now, shown) = item.target.look(context, invocation);
            let has_changed = now != item.last && now.is_some() && item.last.is_some();
            let is_hit = match (item.access, touched) {
                (DataAccess::Read, touched) => touched.is_some_and(|(_, is_write)| !is_write),
                (DataAccess::Change, _) => has_changed,
                (DataAccess::Write, touched) => {
                    has_changed || touched.is_some_and(|(_, is_write)| *is_write)
                }
                (DataAccess::ReadWrite, touched) => has_changed || touched.is_some(),
            };
            if now != item.last || is_hit {
                let old = std::mem::replace(&mut item.shown, shown.clone());
                item.last = now;
                if is_hit {
                    let name = item.target.name.clone();
                    self.hits.push(DataHit { breakpoint: item.id, name, old, new: shown });
                }
            }
        }
        let Some((slot, depth, position)) = pending.float else { return };
        if invocation.depth() == depth
            && let Some(what) = self.badness(invocation, slot)
        {
            let register = inspect::register_name(slot);
            self.trapped = Some(format!("{what} in {register}, computed at {}", position.offset));
        }
    }

    /// What is bad about a float, as far as somebody wants to know.
    fn badness(&self, invocation: &Invocation, slot: RegisterSlot) -> Option<&'static str> {
        let value = match inspect::register_value(invocation, FrameIndex(0), slot)? {
            Value::F32(value) => f64::from(value),
            Value::F64(value) => value,
            _ => return None,
        };
        if value.is_nan() && self.traps.nan {
            return Some("NaN");
        }
        (value.is_infinite() && self.traps.infinity).then_some("infinity")
    }

    fn effects_at(&mut self, context: &Context, position: Position) -> Arc<Effects> {
        let effects = self.effects.entry(position).or_insert_with(|| {
            let module = context.bytecode_module(position.function.module);
            Arc::new(module.map_or_else(Effects::default, |module| {
                Effects::of(module.function_bytecode(position.function.function), position.offset)
            }))
        });
        Arc::clone(effects)
    }
}

/// Runs under nothing but the watcher's eyes.
pub(crate) struct WatchObserver<'a> {
    pub(crate) watcher: &'a mut Watcher,
    pub(crate) breakpoints: &'a BreakpointTable,
    pub(crate) watch: vm::Watch,
}

impl Observer for WatchObserver<'_> {
    fn before_instruction(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> Reaction {
        if self.watcher.before(context, invocation, position) {
            return Reaction::Stop;
        }
        Reaction::Continue
    }

    fn at_boundary(&mut self, _context: &Context, invocation: &Invocation) -> Reaction {
        let Some(boundary) = invocation.boundary() else { return Reaction::Continue };
        if self.breakpoints.is_at_boundary(boundary) || self.watch.includes(boundary.kind) {
            return Reaction::Stop;
        }
        Reaction::Continue
    }
}
