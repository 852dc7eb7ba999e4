//! Watchpoints and traps: stops where data is read, written or changed, a float goes bad, or an
//! integer overflows.
//!
//! While any are set, the program runs through the instrumented loop, which asks the watcher before
//! every instruction. The watcher looks at what the last instruction has done, and at what the next
//! one will do. A stop for data comes after the instruction that used it, and shows that
//! instruction's line; a stop for a number comes before it (see `traps`). Memory is also compared
//! after each command of a device, so the writer is known even if it is machine code.
//! `inspect::watchable` defines what can be watched; `sentences` says what a stop reports.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use debuginfo::{RegisterSlot, SourcePosition};
use vm::{
    BoundaryKind, Context, FrameIndex, Invocation, ModuleIndex, ModuleKind, Outcome, Position,
    Stop, Value,
};
use vmfb::BytecodeOffset;

use super::breakpoints::active::ActiveBreakpoints;
use super::breakpoints::spec::{BreakpointId, BreakpointSpec, DataAccess};
use super::breakpoints::table::BreakpointTable;
use super::stop::{DataHit, DataUser, StopReason, TrapKind, Trapped};
use super::traps::dispatch_floats::Bad;
use super::traps::float::BadFloat;
use super::traps::overflow::Overflow;
use super::traps::settings::Traps;
use crate::inspect::watch_target::{Snapshot, WatchTarget};
use crate::inspect::watchable::WhoseRegister;
use crate::machine::Machine;
use crate::target::arithmetic::Integer;
use crate::target::instruction_effects::Effects;
use crate::target::written_operation::Meant;
use crate::view::register;

#[derive(Debug)]
struct Item {
    id: BreakpointId,
    target: WatchTarget,
    access: DataAccess,
    /// The value of the watched data, and its text.
    last: Snapshot,
    shown: String,
    /// Whether it has had a value. On the way back from the future, its place may hold another
    /// value first.
    has_value: bool,
    /// The contents of the place when it was last read. They differ from the value while a register
    /// holds something else.
    seen: Snapshot,
    /// A write before the value has its name, as of a value that a loop carries, and the
    /// instructions at which it has: it counts there.
    early: Option<(DataHit, BTreeSet<BytecodeOffset>)>,
    /// Where a run on the way back has begun between such a write and the name: the instructions at
    /// which it has that.
    begun_early: Option<BTreeSet<BytecodeOffset>>,
}

/// A use of data that may turn out to be none of the watched value.
#[derive(Debug)]
struct Candidate {
    hit: DataHit,
    access: DataAccess,
    /// The value now.
    now: Snapshot,
    shown: String,
}

/// What the last instruction was about to do, which is evaluated after it.
#[derive(Default, Debug)]
struct Pending {
    /// The instruction, and the number of frames.
    instruction: Option<(Position, usize)>,
    /// Items that it accesses, each with whether it writes.
    touched: Vec<(BreakpointId, bool)>,
    /// The register that receives a float, its contents before, and the kinds of bad floats that
    /// no operand is.
    float: Option<(RegisterSlot, Value, [bool; 2])>,
    /// Whether memory has to be compared.
    may_write_memory: bool,
}

/// The state of watching.
#[derive(Default, Debug)]
pub(crate) struct Watcher {
    items: Vec<Item>,
    pub(crate) traps: Traps,
    effects: HashMap<Position, Arc<Effects>>,
    /// The modules that were asked whether they compute with floats.
    float_code: HashMap<ModuleIndex, bool>,
    pending: Pending,
    /// Whether the program was paused. What a command or a call in progress has done is judged when
    /// it is done, so a run that goes on from there keeps what was known.
    pub(crate) is_paused: bool,
    found: Vec<Candidate>,
    /// Whether a run has begun between a write and the name of what it has written, and come to the
    /// name: it cannot tell whether that was a change.
    is_unsettled: bool,
    bad_float: Option<BadFloat>,
    /// Whether an operation has made a bad float since this was last reset, reported or not.
    pub(crate) has_made_bad: bool,
    /// What the source says about the integer arithmetic that the program has reached.
    integers: HashMap<Position, Meant>,
    /// Integer arithmetic that the program has reached and that was not looked up yet.
    unknown_integer: Option<Position>,
    overflow: Option<Overflow>,
    /// Watched registers whose frame has returned since the last report.
    returned: Vec<BreakpointId>,
    /// Instructions and operations that were reported already.
    caught: HashSet<Position>,
    caught_operations: HashSet<(ModuleIndex, SourcePosition)>,
    /// An instruction that was reported and now runs.
    passing: Option<Position>,
}

impl Watcher {
    /// Whether data is watched.
    pub(crate) fn has_items(&self) -> bool {
        !self.items.is_empty()
    }

    /// Whether the program has to be watched instruction by instruction.
    pub(crate) fn is_needed(&self) -> bool {
        !self.items.is_empty() || self.traps.watches_instructions()
    }

    /// Looks at what the last instruction has done, and at what the next one, at `position`, will
    /// do. Returns whether to stop.
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
        {
            let read = || effects.registers.iter().filter(|(_, is_write)| !is_write);
            let is_new = Bad::ALL.map(|bad| {
                let is_in = |(slot, _): &(RegisterSlot, bool)| holds(invocation, *slot, bad);
                bad.is_trapped(self.traps) && !read().any(is_in)
            });
            let before = register::value(invocation, FrameIndex(0), result);
            let before = before.filter(|_| is_new.contains(&true));
            self.pending.float = before.map(|before| (result, before, is_new));
        }
        stops || !self.found.is_empty() || self.bad_float.is_some() || !self.returned.is_empty()
    }

    /// Whether to stop before an instruction, because it overflows or was not looked up yet.
    fn overflows(&mut self, integer: &Integer, invocation: &Invocation, at: Position) -> bool {
        match self.integers.get(&at) {
            None => self.unknown_integer = Some(at),
            Some(Meant::Nothing) => return false,
            Some(Meant::Bits(bits)) => self.overflow = Overflow::of(integer, invocation, at, *bits),
        }
        self.unknown_integer.is_some() || self.overflow.is_some()
    }

    /// Compares memory after a command of a device. Returns whether to stop.
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
            // Comparing large memory before every instruction would take too long.
            let is_known = item.seen.is_some() && item.target.is_there();
            if is_known && item.target.is_large() && !pending.may_write_memory && touched.is_none()
            {
                continue;
            }
            let was_there = !item.target.is_gone();
            let was_seen = item.seen.is_some();
            self.found.extend(item.look(context, invocation, touched.map(|it| it.1), by.clone()));
            let target = &item.target;
            if item.begun_early.take_if(|at| target.is_at(context, invocation, at)).is_some() {
                self.is_unsettled = true;
            }
            let is_released = was_seen && !item.target.is_there();
            if was_there && item.target.is_gone() || is_released {
                self.returned.push(item.id);
            }
        }
        let (Some((result, before, is_new)), Some((at, depth))) =
            (pending.float, pending.instruction)
        else {
            return;
        };
        let mut new = Bad::ALL.into_iter().zip(is_new).filter(|(_, is_new)| *is_new);
        if invocation.depth() == depth
            && new.any(|(bad, _)| holds(invocation, result, bad))
            && let Some(value) = register::value(invocation, FrameIndex(0), result)
        {
            self.has_made_bad = true;
            if !self.caught.contains(&at) {
                self.bad_float = Some(BadFloat { at, depth, result, value, before });
            }
        }
    }

    /// Whether neither an instruction nor its operation was reported yet, or all are to be
    /// reported.
    fn is_first_time(&mut self, machine: &Machine, at: Position) -> bool {
        let every = self.traps.every;
        let is_known = !every && !self.caught.insert(at);
        let place = machine.path_of(at).last().copied();
        let place = place.map(|place| match machine.lines().fused_sum(at) {
            Some((line, column)) => SourcePosition { line, column, ..place },
            None => place,
        });
        let operation = place.map(|place| (at.function.module, place));
        // An operation may be several instructions, if a loop was unrolled.
        let is_told = operation.is_some_and(|it| !self.caught_operations.insert(it) && !every);
        !is_known && !is_told
    }

    /// Whether code outside of dispatches computes with floats.
    pub(crate) fn has_float_code(&mut self, context: &Context) -> bool {
        let mut has_floats = false;
        for (index, _, kind) in context.modules() {
            let ModuleKind::Bytecode(module) = kind else { continue };
            if !context.is_attached(index) {
                let known = self.float_code.entry(index);
                has_floats |= *known.or_insert_with(|| Effects::has_floats(module));
            }
        }
        has_floats
    }

    /// What an instruction does, looked up once.
    pub(crate) fn effects_at(&mut self, context: &Context, position: Position) -> Arc<Effects> {
        let effects = self.effects.entry(position).or_insert_with(|| {
            let module = context.bytecode_module(position.function.module);
            Arc::new(module.map_or_else(Effects::default, |module| {
                Effects::of(module.function_bytecode(position.function.function), position.offset)
            }))
        });
        Arc::clone(effects)
    }
}

/// Whether a register holds a bad float.
fn holds(invocation: &Invocation, slot: RegisterSlot, bad: Bad) -> bool {
    match register::value(invocation, FrameIndex(0), slot) {
        Some(Value::F32(value)) => bad.is(value.into()),
        Some(Value::F64(value)) => bad.is(value),
        _ => false,
    }
}

impl Item {
    /// The program may stand between a write and the instructions at which what it has written has
    /// the name.
    fn begin_before_name(&mut self, names: BTreeSet<BytecodeOffset>) {
        if self.target.may_come() {
            self.begun_early = Some(names);
            return;
        }
        let is_news = self.access != DataAccess::Read
            && (self.seen != self.last || !self.has_value)
            && !names.is_empty();
        self.early = is_news.then(|| {
            let (name, old) = (self.target.name.clone(), self.shown.clone());
            let (breakpoint, new) = (self.id, String::new());
            (DataHit { breakpoint, name, old, new, by: None, is_read: false }, names)
        });
    }

    /// Looks at the data after a possible use; `touched` says whether it was written or only read.
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
            // What is computed may be what happened to be there.
            DataAccess::Change => has_changed || touched == Some(true) && !self.has_value,
            DataAccess::Write => has_changed || touched == Some(true),
            DataAccess::ReadWrite => has_changed || touched.is_some(),
        };
        let was_its_value = self.last == self.seen;
        self.seen.clone_from(&now);
        let target = &self.target;
        let early = self.early.take_if(|(_, at)| target.is_at(context, invocation, at));
        if let Some((hit, _)) = early.filter(|_| !has_changed && touched != Some(true)) {
            return Some(Candidate { hit, access: self.access, now, shown });
        }
        if !is_hit {
            // A change that does not count as a hit still changes the value.
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

impl Watcher {
    /// Sets which numbers stop the program.
    pub(crate) fn set_traps(&mut self, traps: Traps) {
        if self.traps != traps {
            self.forget_caught();
        }
        self.traps = traps;
    }

    /// The instruction before which the program stands was reported: it may run.
    pub(crate) fn pass(&mut self, machine: &Machine) {
        if let Some(at) = machine.position() {
            self.is_first_time(machine, at);
            self.passing = Some(at);
        }
    }

    /// Forgets what was reported, so that it is reported again.
    pub(crate) fn forget_caught(&mut self) {
        self.caught.clear();
        self.caught_operations.clear();
    }

    /// Takes over the watched data from the breakpoints, with its values now.
    pub(crate) fn begin(&mut self, machine: &Machine, table: &BreakpointTable) {
        let items = std::mem::take(&mut self.items);
        let mut before: HashMap<BreakpointId, Item> =
            items.into_iter().map(|item| (item.id, item)).collect();
        let invocation = machine.invocation();
        let goes_on = std::mem::take(&mut self.is_paused);
        for breakpoint in table.iter().filter(|it| it.is_enabled) {
            let BreakpointSpec::Data { target, access } = &breakpoint.spec else { continue };
            let (id, access) = (breakpoint.id, *access);
            if let Some(item) = before.remove(&id).filter(|_| goes_on) {
                self.items.push(item);
                continue;
            }
            let (now, text) =
                invocation.map_or((None, String::new()), |it| target.look(&machine.context, it));
            let known = before.remove(&id).filter(|item| item.last != item.seen);
            let is_there = target.frame_depth().is_none_or(|depth| machine.depth() > depth);
            let is_its = is_there && machine.whose_register(target) == WhoseRegister::Its;
            let has_value = known.is_some() || is_its;
            // While a register holds something else, the value stays.
            let (last, shown) = known.map_or((now.clone(), text), |item| (item.last, item.shown));
            let target = target.clone();
            let seen = now;
            let (early, begun_early) = (None, None);
            let mut item =
                Item { id, target, access, last, shown, has_value, seen, early, begun_early };
            if is_there && !is_its {
                item.begin_before_name(machine.named_from(&item.target));
            }
            self.items.push(item);
        }
        if !goes_on {
            self.pending = Pending::default();
        }
        self.found.clear();
    }

    /// Whether the last run cannot tell whether data that is watched has changed; the one before
    /// it can, if it goes on beyond where that run has begun.
    pub(crate) fn take_unsettled(&mut self) -> bool {
        std::mem::take(&mut self.is_unsettled)
    }

    /// The instruction that was reported, and may run unreported, if the program stands before it.
    pub(crate) fn passing(&self) -> Option<Position> {
        self.passing
    }

    /// The program stands at another moment, before an instruction that was reported there.
    pub(crate) fn replace_pass(&mut self, with: Option<Position>) {
        self.passing = with;
    }

    /// The program does not go on as before its last pause, or values were changed since.
    pub(crate) fn forget_pause(&mut self) {
        self.is_paused = false;
    }

    /// Looks at what the last instruction of a stretch has done.
    pub(crate) fn look_after(&mut self, machine: &Machine, outcome: &Outcome) {
        match (outcome, machine.invocation()) {
            // The last instruction was evaluated, and the next one has not run.
            (Outcome::Stopped(Stop::Step(_)), _) => self.pending = Pending::default(),
            // The call that led here has not returned.
            (Outcome::Stopped(Stop::Boundary | Stop::Attached), _) => {}
            (Outcome::Yielded, Some(it)) if it.position(&machine.context).is_none() => {}
            // The next instruction was looked at, and has not run.
            (Outcome::Stopped(Stop::Interrupted(at) | Stop::Turn(at)), Some(invocation))
                if self.pending.instruction == Some((*at, invocation.depth())) =>
            {
                self.pending = Pending::default();
            }
            (_, Some(invocation)) => self.look_behind(&machine.context, invocation),
            (_, None) => {}
        }
    }

    /// The trap that is due, if there is one.
    pub(crate) fn take_trap(&mut self, machine: &mut Machine) -> Option<StopReason> {
        if let Some(at) = self.unknown_integer.take() {
            self.integers.insert(at, machine.lines().meant(at));
        }
        let overflow = self.overflow.take().and_then(|it| self.trap_overflow(machine, it));
        let reason = match overflow {
            Some(reason) => reason,
            None => {
                let bad = self.bad_float.take()?;
                self.trap_float(machine, &bad)?
            }
        };
        self.found.clear();
        Some(reason)
    }

    /// Stops before an instruction that overflows. None: that was reported before.
    fn trap_overflow(&mut self, machine: &Machine, overflow: Overflow) -> Option<StopReason> {
        if !self.is_first_time(machine, overflow.at) {
            return None;
        }
        self.passing = Some(overflow.at);
        let text = overflow.sentence(machine);
        Some(StopReason::Trap(Trapped { kind: TrapKind::Overflow, text }))
    }

    /// Puts the program back before an instruction that has made a bad float. None: that was
    /// reported before.
    fn trap_float(&mut self, machine: &mut Machine, bad: &BadFloat) -> Option<StopReason> {
        if !self.is_first_time(machine, bad.at) || !bad.undo(machine) {
            return None;
        }
        self.passing = Some(bad.at);
        let kind = if bad.is_nan() { TrapKind::Nan } else { TrapKind::Infinity };
        Some(StopReason::Trap(Trapped { kind, text: bad.sentence(machine) }))
    }

    /// The watchpoints that were hit. Each whose condition holds is counted.
    pub(crate) fn take_hits(
        &mut self,
        machine: &Machine,
        breakpoints: &mut ActiveBreakpoints,
    ) -> Vec<DataHit> {
        let mut judged: Vec<DataHit> = Vec::new();
        for candidate in std::mem::take(&mut self.found) {
            judged.extend(self.judged(machine, breakpoints, candidate));
        }
        let stopping = breakpoints.hit(machine, judged.iter().map(|it| it.breakpoint).collect());
        judged.retain(|hit| stopping.contains(&hit.breakpoint));
        judged
    }

    /// Decides whether a use of data is one of the watched value; a register may hold another by
    /// now.
    fn judged(
        &mut self,
        machine: &Machine,
        breakpoints: &mut ActiveBreakpoints,
        candidate: Candidate,
    ) -> Option<DataHit> {
        let Candidate { hit, access, now, shown } = candidate;
        let id = hit.breakpoint;
        let item = self.items.iter().find(|item| item.id == id)?;
        let target = item.target.clone();
        match machine.whose_register(&target) {
            WhoseRegister::Its => {}
            WhoseRegister::AnothersForNow => {
                let named_at = machine.named_from(&target);
                let item = self.items.iter_mut().find(|item| item.id == id)?;
                let is_news = now != item.last || !item.has_value;
                let counts = !hit.is_read && is_news && !named_at.is_empty();
                item.early = counts.then_some((hit, named_at));
                return None;
            }
            WhoseRegister::Anothers => {
                target.end();
                let text =
                    format!("{} is gone: its register is used for something else now", target.name);
                watch_ended(machine, breakpoints, id, text);
                return None;
            }
        }
        let item = self.items.iter_mut().find(|item| item.id == id)?;
        // Its first value is told, whatever happens to be in the register before.
        let is_first = !std::mem::replace(&mut item.has_value, true);
        let has_changed = is_first || item.last.is_some() && now != item.last;
        let mut old_shown = std::mem::replace(&mut item.shown, shown.clone());
        if is_first {
            "another value".clone_into(&mut old_shown);
        }
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

    /// Reports watchpoints whose frame has returned.
    pub(crate) fn report_returned(
        &mut self,
        machine: &Machine,
        breakpoints: &mut ActiveBreakpoints,
    ) {
        for id in std::mem::take(&mut self.returned) {
            let found = self.items.iter().find(|item| item.id == id);
            let Some(target) = found.map(|item| &item.target) else { continue };
            let text = match target.is_there() {
                true => format!("{} is gone: its function has returned", target.name),
                false => target.released(),
            };
            watch_ended(machine, breakpoints, id, text);
        }
    }
}

fn watch_ended(
    machine: &Machine,
    breakpoints: &mut ActiveBreakpoints,
    id: BreakpointId,
    text: String,
) {
    if let Some(breakpoint) = breakpoints.table.get_mut(id) {
        breakpoint.message = Some(text.clone());
    }
    breakpoints.notice(machine, id, text);
}
