//! Data breakpoints and traps: stops where data is read, written or changed, a float goes bad, or
//! an integer overflows.
//!
//! While any are set, the program runs through the instrumented loop, which is asked before every
//! instruction: what has the one before it done, and what is the next about to do? A stop for data
//! is behind the instruction that did it, and shown at its line; one for a number is before it (see
//! `floats`, `overflow`). Memory is also looked at behind each command of a device, so that who
//! wrote it is known where machine code did. What the data is, and how it is looked at, is in
//! `watched`; what a stop says in `reasons`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use debuginfo::{RegisterSlot, SourcePosition};
use vm::{
    BoundaryKind, Context, FrameIndex, Invocation, ModuleIndex, Observer, Outcome, Position,
    Reaction, Stop, Value,
};

use crate::arming::LogMessage;
use crate::breakpoint::{BreakpointId, BreakpointSpec, BreakpointTable};
use crate::debugger::Debugger;
use crate::effects::Effects;
use crate::inspect;
use crate::overflow::{Integer, Meant, Overflow};
use crate::stop::StopReason;
use crate::watched::{Snapshot, WatchTarget, WhoseRegister};

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
    /// Who did it, as far as that is known.
    pub by: Option<DataUser>,
    /// Whether it was read, and not written.
    pub is_read: bool,
}

/// What uses data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataUser {
    /// An instruction.
    Instruction(Position),
    /// A call that returned in front of this instruction.
    Return(Position),
    /// A command of a device: the dispatch of this name, or none if it is of another kind.
    Command(String),
}

/// Numbers that stop the program where they go wrong: floats where they first appear, where no
/// operand was one already; integers where they overflow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traps {
    /// An instruction computes NaN; or a dispatch of machine code, whose instructions nobody sees,
    /// leaves one.
    pub nan: bool,
    /// The same for infinities.
    pub infinity: bool,
    /// A dispatch leaves more NaN in what it is bound to than it found.
    pub dispatch_nan: bool,
    /// The same for infinities.
    pub dispatch_infinity: bool,
    /// An operation on integers that the program was written with overflows, or shifts by too much.
    pub overflow: bool,
    /// Each of them stops, however often an operation makes them; otherwise an operation stops
    /// once.
    pub every: bool,
}

impl Traps {
    fn watches_floats(self) -> bool {
        self.nan || self.infinity
    }

    fn watches_instructions(self) -> bool {
        self.watches_floats() || self.overflow
    }

    pub(crate) fn watches_dispatches(self) -> bool {
        self.dispatch_nan || self.dispatch_infinity || self.watches_floats()
    }
}

#[derive(Debug)]
struct Item {
    id: BreakpointId,
    target: WatchTarget,
    access: DataAccess,
    /// The value of what is watched, and its text.
    last: Snapshot,
    shown: String,
    /// What was there when it was looked at last: of a register that something else is in, that.
    seen: Snapshot,
}

/// A float that has gone bad, by an instruction that has run.
#[derive(Clone, Debug)]
pub(crate) struct BadFloat {
    /// The instruction.
    pub(crate) at: Position,
    /// Frames on the stack.
    pub(crate) depth: usize,
    /// Where the result is, what it is, and what was there before.
    pub(crate) result: RegisterSlot,
    pub(crate) value: Value,
    pub(crate) before: Value,
}

/// A use of data that nobody has judged yet.
#[derive(Debug)]
pub(crate) struct Candidate {
    hit: DataHit,
    access: DataAccess,
    /// What the value is now.
    now: Snapshot,
    shown: String,
}

/// What the last instruction was about to do, asked for behind it.
#[derive(Default, Debug)]
struct Pending {
    /// The instruction, in the frame so far from the outermost.
    instruction: Option<(Position, usize)>,
    /// Items that it reads, and items that it writes.
    touched: Vec<(BreakpointId, bool)>,
    /// The register that it computes a float into, and what is in it before.
    float: Option<(RegisterSlot, Value)>,
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
    found: Vec<Candidate>,
    bad_float: Option<BadFloat>,
    /// What the source says of instructions of integer arithmetic that the program has come to.
    integers: HashMap<Position, Meant>,
    /// One that it has come to of which that is not known yet.
    unknown_integer: Option<Position>,
    overflow: Option<Overflow>,
    /// Registers whose frame has returned since somebody asked.
    returned: Vec<BreakpointId>,
    /// Instructions and operations whose floats were told already.
    pub(crate) caught: HashSet<Position>,
    pub(crate) caught_operations: HashSet<(ModuleIndex, SourcePosition)>,
    /// The instruction that is run again after it was told what it makes.
    pub(crate) passing: Option<Position>,
}

impl Debugger {
    /// Sets which floats stop the program where they first appear.
    pub fn set_traps(&mut self, traps: Traps) {
        if self.watcher.traps != traps {
            self.watcher.caught.clear();
            self.watcher.caught_operations.clear();
            self.caught_dispatches.clear();
        }
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
        let mut before: HashMap<BreakpointId, Item> =
            std::mem::take(&mut watcher.items).into_iter().map(|item| (item.id, item)).collect();
        let invocation = self.invocation();
        for breakpoint in self.breakpoints.iter() {
            let BreakpointSpec::Data { target, access } = &breakpoint.spec else { continue };
            let (id, access) = (breakpoint.id, *access);
            let (now, text) =
                invocation.map_or((None, String::new()), |it| target.look(&self.context, it));
            let known = before.remove(&id).filter(|item| item.last != item.seen);
            // Of a register that something else is in, the value is what it was.
            let (last, shown) = known.map_or((now.clone(), text), |item| (item.last, item.shown));
            let target = target.clone();
            watcher.items.push(Item { id, target, access, last, shown, seen: now });
        }
        watcher.pending = Pending::default();
        watcher.found.clear();
        self.watcher = watcher;
    }

    /// What a stretch of the program came to that was watched. None: nothing to report, go on.
    pub(crate) fn after_watched(&mut self, outcome: Outcome) -> Option<StopReason> {
        if !self.watcher.is_needed()
            || matches!(outcome, Outcome::Completed(_) | Outcome::Failed(_))
        {
            return self.settle(outcome);
        }
        let mut watcher = std::mem::take(&mut self.watcher);
        match (&outcome, self.invocation()) {
            // The last instruction was looked at, and the next one has not run.
            (Outcome::Stopped(Stop::Step(_)), _) => watcher.pending = Pending::default(),
            // The call that led here goes on.
            (Outcome::Stopped(Stop::Boundary | Stop::Attached), _) => {}
            (_, Some(invocation)) => watcher.look_behind(&self.context, invocation),
            (_, None) => {}
        }
        self.watcher = watcher;
        self.tell_returned();
        if let Some(at) = self.watcher.unknown_integer.take() {
            let meant = self.meant(at);
            self.watcher.integers.insert(at, meant);
        }
        if let Some(overflow) = self.watcher.overflow.take()
            && let Some(reason) = self.trap_overflow(overflow)
        {
            self.watcher.found.clear();
            return Some(reason);
        }
        if let Some(bad) = self.watcher.bad_float.take()
            && let Some(reason) = self.trap_float(&bad)
        {
            self.watcher.found.clear();
            return Some(reason);
        }
        let found = self.judge();
        let reason = self.settle(outcome);
        match found {
            Some(found) => {
                // Whatever stops at this place as well is told when the program goes on.
                self.also_here = reason.filter(|it| !matches!(it, StopReason::Pause));
                Some(found)
            }
            None => reason,
        }
    }

    /// What watching found; each hit whose condition holds is counted.
    fn judge(&mut self) -> Option<StopReason> {
        let found = std::mem::take(&mut self.watcher.found);
        if found.is_empty() {
            return None;
        }
        let mut judged: Vec<DataHit> = Vec::new();
        for candidate in found {
            judged.extend(self.judged(candidate));
        }
        let stopping = self.hit(judged.iter().map(|hit| hit.breakpoint).collect());
        judged.retain(|hit| stopping.contains(&hit.breakpoint));
        let first = judged.first()?;
        self.behind = match first.by {
            Some(DataUser::Instruction(at)) => Some(at),
            _ => None,
        };
        Some(StopReason::Data(judged))
    }

    /// Whether a use of data is one of the value that was asked about; a register may hold another
    /// by now.
    fn judged(&mut self, candidate: Candidate) -> Option<DataHit> {
        let Candidate { hit, access, now, shown } = candidate;
        let id = hit.breakpoint;
        let item = self.watcher.items.iter().find(|item| item.id == id)?;
        let target = item.target.clone();
        match self.whose_register(&target) {
            WhoseRegister::Its => {}
            WhoseRegister::AnothersForNow => return None,
            WhoseRegister::Anothers => {
                target.end();
                let text =
                    format!("{} is gone: its register is used for something else now", target.name);
                self.watch_ended(id, text);
                return None;
            }
        }
        let item = self.watcher.items.iter_mut().find(|item| item.id == id)?;
        let has_changed = item.last.is_some() && now != item.last;
        let old_shown = std::mem::replace(&mut item.shown, shown.clone());
        let old = std::mem::replace(&mut item.last, now);
        if access == DataAccess::Change && !has_changed {
            return None;
        }
        let part = match (&old, &item.last) {
            (Some(old), Some(new)) => target.changed_part(old, new),
            _ => None,
        };
        let (name, old, new) = part.unwrap_or_else(|| (target.name.clone(), old_shown, shown));
        Some(DataHit { name, old, new, is_read: hit.is_read && !has_changed, ..hit })
    }

    /// Tells of watches whose frame has returned.
    fn tell_returned(&mut self) {
        for id in std::mem::take(&mut self.watcher.returned) {
            let found = self.watcher.items.iter().find(|item| item.id == id);
            let Some(name) = found.map(|item| item.target.name.clone()) else { continue };
            self.watch_ended(id, format!("{name} is gone: its function has returned"));
        }
    }

    fn watch_ended(&mut self, id: BreakpointId, text: String) {
        if let Some(breakpoint) = self.breakpoints.get_mut(id) {
            breakpoint.message = Some(text.clone());
        }
        self.notice(id, text);
    }

    /// Says something on behalf of a breakpoint without a stop.
    pub(crate) fn notice(&mut self, breakpoint: BreakpointId, text: String) {
        let source = self.position().and_then(|position| self.source_line(position));
        self.tell(LogMessage { breakpoint, text, source });
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
        self.look_behind(context, invocation);
        let effects = self.effects_at(context, position);
        self.pending.instruction = Some((position, invocation.depth()));
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
        let is_passing = self.passing.take_if(|it| *it == position).is_some();
        let stops = self.traps.overflow && !is_passing && !self.caught.contains(&position) && {
            let integer = effects.integer.as_ref();
            integer.is_some_and(|integer| self.overflows(integer, invocation, position))
        };
        if self.traps.watches_floats()
            && let Some(result) = effects.float
            && !is_passing
            && !self.caught.contains(&position)
        {
            let is_clean = effects
                .registers
                .iter()
                .filter(|(_, is_write)| !is_write)
                .all(|(it, _)| !self.is_bad(invocation, *it));
            let before = inspect::register_value(invocation, FrameIndex(0), result);
            self.pending.float = before.filter(|_| is_clean).map(|before| (result, before));
        }
        stops || !self.found.is_empty() || self.bad_float.is_some() || !self.returned.is_empty()
    }

    /// Whether to stop before an instruction: it overflows, or nobody has asked yet what it means.
    fn overflows(&mut self, integer: &Integer, invocation: &Invocation, at: Position) -> bool {
        match self.integers.get(&at) {
            None => self.unknown_integer = Some(at),
            Some(Meant::Nothing) => return false,
            Some(Meant::Bits(bits)) => self.overflow = integer.overflow(invocation, at, *bits),
        }
        self.unknown_integer.is_some() || self.overflow.is_some()
    }

    /// Looks at memory behind a command of a device. Whether to stop.
    pub(crate) fn at_boundary(&mut self, context: &Context, invocation: &Invocation) -> bool {
        let Some(boundary) = invocation.boundary() else { return false };
        if boundary.kind != BoundaryKind::AfterStep {
            return false;
        }
        let by = DataUser::Command(boundary.name.clone());
        for item in self.items.iter_mut().filter(|item| item.target.is_memory()) {
            self.found.extend(item.look(context, invocation, None, Some(by.clone())));
        }
        !self.found.is_empty()
    }

    fn look_behind(&mut self, context: &Context, invocation: &Invocation) {
        let pending = std::mem::take(&mut self.pending);
        let by = pending.instruction.map(|(position, depth)| {
            let is_return = invocation.depth() < depth;
            let after = invocation.position(context).filter(|_| is_return);
            after.map_or(DataUser::Instruction(position), DataUser::Return)
        });
        for item in &mut self.items {
            let touched = pending.touched.iter().find(|(id, _)| *id == item.id);
            // Looking at much memory before every instruction would take forever.
            if item.target.is_large() && !pending.may_write_memory && touched.is_none() {
                continue;
            }
            let was_there = !item.target.is_gone();
            self.found.extend(item.look(context, invocation, touched.map(|it| it.1), by.clone()));
            if was_there && item.target.is_gone() {
                self.returned.push(item.id);
            }
        }
        let (Some((result, before)), Some((at, depth))) = (pending.float, pending.instruction)
        else {
            return;
        };
        if invocation.depth() == depth
            && self.is_bad(invocation, result)
            && let Some(value) = inspect::register_value(invocation, FrameIndex(0), result)
        {
            self.bad_float = Some(BadFloat { at, depth, result, value, before });
        }
    }

    /// Whether a register holds a float that somebody wants to know of.
    fn is_bad(&self, invocation: &Invocation, slot: RegisterSlot) -> bool {
        let value = match inspect::register_value(invocation, FrameIndex(0), slot) {
            Some(Value::F32(value)) => f64::from(value),
            Some(Value::F64(value)) => value,
            _ => return false,
        };
        value.is_nan() && self.traps.nan || value.is_infinite() && self.traps.infinity
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

impl Item {
    /// Looks at the data after somebody may have used it: `touched` says whether it was written or
    /// only read.
    fn look(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        touched: Option<bool>,
        by: Option<DataUser>,
    ) -> Option<Candidate> {
        let (now, shown) = self.target.look(context, invocation);
        let has_changed = now != self.seen && now.is_some() && self.seen.is_some();
        let is_hit = match self.access {
            DataAccess::Read => touched == Some(false),
            DataAccess::Change => has_changed,
            DataAccess::Write => has_changed || touched == Some(true),
            DataAccess::ReadWrite => has_changed || touched.is_some(),
        };
        let was_its_value = self.last == self.seen;
        self.seen.clone_from(&now);
        if !is_hit {
            // A change that nobody asked about is still one.
            if was_its_value && !self.target.is_gone() {
                (self.last, self.shown) = (now, shown);
            }
            return None;
        }
        let hit = DataHit {
            breakpoint: self.id,
            name: self.target.name.clone(),
            old: self.shown.clone(),
            new: shown.clone(),
            by,
            is_read: touched == Some(false),
        };
        Some(Candidate { hit, access: self.access, now, shown })
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

    fn at_boundary(&mut self, context: &Context, invocation: &Invocation) -> Reaction {
        let Some(boundary) = invocation.boundary() else { return Reaction::Continue };
        let is_found = self.watcher.at_boundary(context, invocation);
        let is_asked = self.breakpoints.is_at_boundary(boundary);
        if is_found || is_asked || self.watch.includes(boundary.kind) {
            return Reaction::Stop;
        }
        Reaction::Continue
    }
}
