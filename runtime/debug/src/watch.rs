//! Data breakpoints and traps: stops where data is read, written or changed, or a float goes bad.
//!
//! While any are set, the program runs through the instrumented loop, which is asked before every
//! instruction: what has the one before it done, and what is the next about to do? The stop is behind
//! the instruction that did it. What native code does to memory is seen where bytecode goes on. What the
//! data is, and how it is looked at, is in `watched`.

use std::collections::HashMap;
use std::sync::Arc;

use debuginfo::RegisterSlot;
use vm::{Context, FrameIndex, Invocation, Observer, Position, Reaction, Value};

use crate::breakpoint::{BreakpointId, BreakpointSpec, BreakpointTable};
use crate::debugger::Debugger;
use crate::effects::Effects;
use crate::inspect;
use crate::watched::{Snapshot, WatchTarget};

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
            if item.target.is_large() && !pending.may_write_memory && touched.is_none() {
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
            if now == item.last && !is_hit {
                continue;
            }
            let old_shown = std::mem::replace(&mut item.shown, shown.clone());
            let old = std::mem::replace(&mut item.last, now);
            if is_hit {
                let part = match (&old, &item.last) {
                    (Some(old), Some(new)) => item.target.changed_part(old, new),
                    _ => None,
                };
                let (name, old, new) =
                    part.unwrap_or_else(|| (item.target.name.clone(), old_shown, shown));
                self.hits.push(DataHit { breakpoint: item.id, name, old, new });
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
