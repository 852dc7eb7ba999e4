//! Who has written a value last.
//!
//! For registers, globals, lists and buffers of the VM, the instructions on the way to the present
//! say what they write. For memory of devices, the history knows which commands had a part in it,
//! the last one first. Fills and copies have written what they name, and dispatches what is another
//! value after them. Whether a dispatch has written what was there already is tried: the program
//! goes back to before the dispatch, the element is overwritten with a mark, and the dispatch runs.
//! If the mark is gone, it was written. The mark is undone like all that ran after a moment to
//! which the program goes back.
//!
//! A dispatch that works in place may leave a mark: the greater of a mark and a number may be the
//! mark, and what adds zero leaves any mark. So marks are at both ends of the numbers, too, and a
//! dispatch of bytecode that leaves all of them runs once more under a watch, which sees each
//! store. Machine code that puts back what it has read, whatever that is, has not written.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use hal::{Buffer, Origin, QueueActivity};
use vm::{BoundaryKind, FrameIndex, Invocation, Moment, Position, Watch};
use vmfb::BytecodeOffset;

use super::limit::Limit;
use super::lines::Fork;
use super::seek::{Lost, Progress};
use super::suspects::{Part, Suspect, SuspectCommand, changes};
use super::tape::Recording;
use super::trial_marks::{Marks, is_marked, write_mark};
use crate::control::breakpoints::spec::{BreakpointSpec, DataAccess};
use crate::control::breakpoints::table::BreakpointTable;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::{DataUser, Granularity, StepKind, StopReason};
use crate::inspect::register_origin::RegisterOrigin;
use crate::inspect::watch_target::WatchTarget;
use crate::target::resolve::Resolution;
use crate::view::frame::FrameId;

/// An instruction that has written something.
struct Written {
    /// The moment before it.
    before: Moment,
    at: Position,
    /// Whether it is the call that has passed an argument.
    is_call: bool,
}

/// A store of a dispatch.
struct Store {
    workgroup: [u32; 3],
    /// Other workgroups that have written the same before it.
    others: Vec<[u32; 3]>,
    /// The instruction, as its user knows it.
    by: Option<String>,
}

/// The moment before the last workgroup that writes something, its place, and those of the others
/// that have written it before.
type LastWriter = (Moment, [u32; 3], Vec<[u32; 3]>);

/// What a stretch of the past shows.
enum Search {
    /// The last write.
    Found(Written),
    /// The user, where a line of time begins.
    ByHand(Arc<Fork>),
    /// The call of the register's frame, and no write: what was before does not count.
    CallOnly,
    /// Neither.
    Nothing,
}

impl Runner {
    /// Goes back to before the last write of what an expression names.
    ///
    /// # Errors
    /// It names nothing that can be written, nothing is recorded, or nothing has written it since;
    /// the program stands where it stood.
    pub(crate) fn who_wrote(&mut self, frame: FrameId, text: &str) -> Result<StopReason, Refused> {
        let target = self.machine.watch_target(frame, text)?;
        let ranges = target.memory_ranges();
        let device = self.machine.program.host().device().clone();
        let Some(owner) = self.machine.owner(&ranges).filter(|_| !self.machine.shares_storage())
        else {
            return self.who_wrote_last(&target);
        };
        let journal = device.allocator().journal();
        let known = changes(journal, &ranges, |range| target.bytes_at(range));
        let forks = self.forks_in_journal();
        let suspects = self.machine.suspects(&ranges, &known, self.moment().as_ref(), &forks);
        let origin = owner.origin;
        drop(owner);
        let (name, marks) = (target.name.clone(), Marks::of(&target));
        let outside = self.machine.program.host().outside().writer_of(&ranges);
        self.travel(|runner, recording| {
            for suspect in suspects {
                match (suspect, &outside) {
                    (Suspect::Command(command), Some((function, commands)))
                        if *commands >= command.number =>
                    {
                        return Err(written_outside(&name, function));
                    }
                    (Suspect::Program, Some((function, _))) => {
                        return Err(written_outside(&name, function));
                    }
                    (Suspect::ByHand(fork), _) => {
                        return runner.tell_set(recording, &name, &fork);
                    }
                    (Suspect::Program, None) => return Err(Lost::Because(stored(&name))),
                    (Suspect::Command(command), _) => {
                        if runner.has_written(recording, &command, &marks)? {
                            return runner.tell_writer(recording, &name, &command, &marks);
                        }
                    }
                }
            }
            Err(match &outside {
                Some((function, _)) => written_outside(&name, function),
                None => Lost::because(never_written(&name, origin)),
            })
        })
    }

    /// The same for what is not memory of a device: by looking at each instruction on the way.
    fn who_wrote_last(&mut self, target: &WatchTarget) -> Result<StopReason, Refused> {
        let origin = self.machine.origin_of_register(target);
        if origin == Some(RegisterOrigin::Nothing) {
            let why = format!("nothing in this call has written {}", target.name);
            return Err(Refused::NothingWrote { why });
        }
        let is_outermost = target.frame_depth() == Some(0);
        if origin == Some(RegisterOrigin::CallAlone) && is_outermost && self.recording.is_some() {
            let name = &target.name;
            let why = format!(
                "nothing has written {name}: the function was called with it, and none of its \
                 instructions writes it"
            );
            return Err(Refused::NothingWrote { why });
        }
        self.travel(|runner, recording| {
            let name = &target.name;
            let found = match runner.find_writer(recording, target)? {
                Search::Found(found) => found,
                Search::ByHand(fork) => return runner.tell_set(recording, name, &fork),
                Search::CallOnly => {
                    let reason = format!("nothing in this call has written {name}");
                    return Err(Lost::Because(reason));
                }
                Search::Nothing => {
                    let reason = format!("nothing has written {name} since the recording began");
                    return Err(Lost::Because(reason));
                }
            };
            runner.arrive(recording, &found.before)?;
            let by = runner.user_text(&DataUser::Instruction(found.at));
            let by = by.unwrap_or_else(|| format!("the instruction at {}", found.at.offset));
            let how = if found.is_call { "passed to this call by" } else { "written by" };
            Ok(StopReason::Found(format!("{} was {how} {by}", target.name)))
        })
    }

    /// The last instruction before the present that has written something.
    fn find_writer(&mut self, recording: &Recording, target: &WatchTarget) -> Result<Search, Lost> {
        let moments = recording.tape().moments();
        let mut limit = Limit::at(self.moment(), self.machine.depth());
        for (index, moment) in moments.into_iter().enumerate().rev() {
            let is_at_fork = self.is_fork(recording, index) && limit.moment() == Some(&moment);
            if limit.is_reached(&moment) && !is_at_fork {
                continue;
            }
            let starts = if is_at_fork { Vec::new() } else { limit.starts(&moment) };
            for start in starts {
                self.rewind(recording, index)?;
                if !self.begin(&start, &limit)? {
                    continue;
                }
                match self.last_write(target, &limit)? {
                    Search::Nothing => {}
                    found => return Ok(found),
                }
            }
            limit = Limit::at(Some(moment), self.machine.depth());
            if let Some(fork) = self.fork_that_sets(recording, index, target)? {
                return Ok(Search::ByHand(fork));
            }
            self.leave_fork(recording, index);
        }
        Ok(Search::Nothing)
    }

    /// The fork at a place of the tape, if its change by hand gives something another value.
    fn fork_that_sets(
        &mut self,
        recording: &Recording,
        index: usize,
        target: &WatchTarget,
    ) -> Result<Option<Arc<Fork>>, Lost> {
        let Some((before, after)) = self.around_fork(recording, index, target)? else {
            return Ok(None);
        };
        let fork = recording.tape().kept().get(index).and_then(|kept| kept.fork().cloned());
        Ok(fork.filter(|_| before != after))
    }

    /// Stands where a line begins that has set something by hand.
    fn tell_set(
        &mut self,
        recording: &Recording,
        name: &str,
        fork: &Arc<Fork>,
    ) -> Result<StopReason, Lost> {
        self.arrive(recording, &fork.moment)?;
        let line = fork.line;
        Ok(StopReason::Found(format!("{name} was set by hand here, where line {line} begins")))
    }

    /// The last instruction that writes something on the way to the present. A register is that of
    /// one call: what was before the call does not count.
    fn last_write(&mut self, target: &WatchTarget, limit: &Limit) -> Result<Search, Lost> {
        let frame = target.frame_depth();
        self.unarmed(|runner| {
            let mut found = Search::Nothing;
            let is_argument = runner.machine.is_argument(target);
            let mut call: Option<(Moment, Position)> = None;
            let mut depth = runner.machine.depth();
            loop {
                let Some(here) = runner.moment().filter(|here| !limit.is_reached(here)) else {
                    return Ok(found);
                };
                let is_new = frame
                    .is_some_and(|frame| depth <= frame && runner.machine.depth() == frame + 1);
                if is_new {
                    found = match call.take().filter(|_| is_argument) {
                        Some((before, at)) => Search::Found(Written { before, at, is_call: true }),
                        None => Search::CallOnly,
                    };
                }
                depth = runner.machine.depth();
                if here.is_in_native() && !limit.is_inside(&here) {
                    runner.hop(Watch::Nothing, Invocation::run_native)?;
                    continue;
                }
                if let Some(at) = runner.machine.position() {
                    if runner.is_about_to_write(target, at) {
                        let before = here.clone();
                        found = Search::Found(Written { before, at, is_call: false });
                    }
                    call = Some((here.clone(), at));
                }
                if runner.machine.running().is_none() {
                    return Ok(found);
                }
                let blocks = runner.moved_to(target);
                let at = runner.machine.position();
                runner.hop(Watch::Nothing, Invocation::step)?;
                if let Some(at) = at.filter(|_| runner.is_at_one_of(&blocks)) {
                    found = Search::Found(Written { before: here, at, is_call: false });
                }
            }
        })
    }

    /// The blocks on the way to which the next instruction writes something.
    pub(super) fn moved_to(&mut self, target: &WatchTarget) -> Vec<BytecodeOffset> {
        let Some(at) = self.machine.position() else { return Vec::new() };
        let Self { machine, watcher, .. } = self;
        let effects = watcher.effects_at(&machine.context, at);
        let invocation = machine.invocation();
        invocation.map_or_else(Vec::new, |it| target.moved_to(&machine.context, it, &effects))
    }

    pub(super) fn is_at_one_of(&self, blocks: &[BytecodeOffset]) -> bool {
        let Some(here) = self.machine.position() else { return false };
        blocks.iter().any(|block| {
            // The marker at the begin of a block is not executed.
            let begin = Position { offset: *block, ..here };
            let after = BytecodeOffset(block.0 + 1);
            *block == here.offset || self.machine.program.is_marker(begin) && after == here.offset
        })
    }

    pub(super) fn is_about_to_write(&mut self, target: &WatchTarget, at: Position) -> bool {
        let Self { machine, watcher, .. } = self;
        let effects = watcher.effects_at(&machine.context, at);
        let Some(invocation) = machine.invocation() else { return false };
        target.is_touched(&machine.context, invocation, at, &effects) == Some(true)
    }

    /// Whether a command has written what it had a part in.
    fn has_written(
        &mut self,
        recording: &Recording,
        found: &SuspectCommand,
        marks: &Marks,
    ) -> Result<bool, Lost> {
        if found.is_certain {
            return Ok(true);
        }
        if self.machine.program.has_recorded_results() {
            self.run_to_command(recording, found.number)?;
            if !self.is_before_bytecode() {
                return self.has_written_as_twin(found);
            }
        }
        for mark in &marks.marks {
            self.run_to_command(recording, found.number)?;
            let places = self.places(&found.parts)?;
            write_mark(&places, mark)?;
            match &found.until {
                None => self.unarmed(|runner| runner.run_over(found.number))?,
                Some(present) => self.run_to_moment(present)?,
            }
            if self.machine.running().is_none() {
                // The mark was an index, perhaps, and the dispatch has failed.
                return Ok(false);
            }
            if !is_marked(&places, mark) {
                return Ok(true);
            }
        }
        Ok(found.until.is_none() && self.last_store(recording, found)?.is_some())
    }

    /// Whether a dispatch whose results come from a recording has written what it had a part in:
    /// that shows where it has left what was there only if there is bytecode of it.
    fn has_written_as_twin(&mut self, found: &SuspectCommand) -> Result<bool, Lost> {
        let number = found.number;
        let (kind, granularity) = (StepKind::Into, Granularity::Line);
        self.twins.forget_outcome();
        let is_made = self.twin_to_compile(kind, granularity).is_none();
        if !is_made || self.enter_twin(kind, granularity).is_some() || !self.twins.is_awaited() {
            return Err(Lost::Because(format!(
                "command {number} may have written it and has left what was there; its code does \
                 not run, as its results come from the recording: debug it with --without-results \
                 (\"withoutResults\": true in a launch) to find out, or step into the command first"
            )));
        }
        self.hide_twin();
        let store = self.watch(&found.parts, |runner| runner.commands_run() < number)?;
        Ok(store.is_some())
    }

    /// Runs the command before which the program stands.
    pub(super) fn run_over(&mut self, number: u64) -> Result<(), Lost> {
        while self.machine.running().is_some() && self.commands_run() < number {
            self.hop(Watch::Steps, Invocation::run)?;
        }
        Ok(())
    }

    /// The memory of some parts of bindings of the dispatch before which the program stands.
    fn places(&self, parts: &[Part]) -> Result<Vec<(Buffer, Range<usize>)>, Lost> {
        let dispatch = self.standing_dispatch();
        let place = |(binding, part): &Part| {
            let buffer = dispatch.as_ref()?.buffers.get(*binding)?;
            Some((buffer.clone(), part.clone()))
        };
        let places: Option<Vec<_>> = parts.iter().map(place).collect();
        places.ok_or_else(|| Lost::because("the dispatch has another interface now"))
    }

    /// Stands before the command that has written, and says which it is.
    fn tell_writer(
        &mut self,
        recording: &Recording,
        name: &str,
        found: &SuspectCommand,
        marks: &Marks,
    ) -> Result<StopReason, Lost> {
        let instruction = self.writing_instruction(recording, found, marks)?;
        self.run_to_command(recording, found.number)?;
        let machine = &self.machine;
        let frames = machine.frames();
        let command = frames.first().map_or_else(String::new, |frame| {
            let place = frame.source.as_ref();
            let place = place.map(|at| format!(" at {}:{}", at.file, at.line));
            format!("{}{}", frame.name, place.unwrap_or_default())
        });
        let by = instruction.map(|text| format!(", {text}")).unwrap_or_default();
        Ok(StopReason::Found(format!("{name} was written by {command}{by}")))
    }

    /// The workgroup and the instruction of a dispatch of bytecode that has written last.
    fn writing_instruction(
        &mut self,
        recording: &Recording,
        found: &SuspectCommand,
        marks: &Marks,
    ) -> Result<Option<String>, Lost> {
        if found.parts.is_empty() || found.until.is_some() {
            return Ok(None);
        }
        // The last one without a mark: what is another value now.
        for mark in marks.marks.iter().map(Some).chain([None]) {
            self.run_to_command(recording, found.number)?;
            if !self.is_before_bytecode() {
                let store = self.writing_code(recording, found, marks)?;
                return Ok(store.map(|store| store.to_string()));
            }
            let places = self.places(&found.parts)?;
            if let Some(mark) = mark {
                write_mark(&places, mark)?;
            }
            let writes = |runner: &mut Self| runner.writing_workgroup(found.number, &places, mark);
            if let Some((part, workgroup, others)) = self.unarmed(writes)? {
                self.arrive(recording, &part)?;
                let in_part =
                    |runner: &Self| runner.moment().is_some_and(|here| is_same_part(&here, &part));
                let store = self.watch(&found.parts, in_part)?;
                let by = store.and_then(|store| store.by);
                return Ok(Some(Store { workgroup, others, by }.to_string()));
            }
        }
        Ok(self.last_store(recording, found)?.map(|store| store.to_string()))
    }

    /// The workgroup of machine code that has written last, as it shows when they run one by one;
    /// and the operation, if there is bytecode of the dispatch, whose workgroups may be others.
    fn writing_code(
        &mut self,
        recording: &Recording,
        found: &SuspectCommand,
        marks: &Marks,
    ) -> Result<Option<Store>, Lost> {
        let Some(dispatch) = self.standing_dispatch() else { return Ok(None) };
        let places = self.places(&found.parts)?;
        let written = marks.marks.iter().find_map(|mark| {
            let writers = dispatch.writers_of(&places, mark).ok()?;
            (!writers.is_empty()).then_some(writers)
        });
        let Some(mut others) = written else { return Ok(None) };
        let Some(workgroup) = others.pop() else { return Ok(None) };
        let by = self.operation_by_twin(recording, found)?;
        Ok(Some(Store { workgroup, others, by }))
    }

    /// The operation that has written last, by the bytecode of a dispatch of machine code. None is
    /// compiled for it.
    fn operation_by_twin(
        &mut self,
        recording: &Recording,
        found: &SuspectCommand,
    ) -> Result<Option<String>, Lost> {
        let (kind, granularity) = (StepKind::Into, Granularity::Line);
        if self.twin_to_compile(kind, granularity).is_some()
            || self.enter_twin(kind, granularity).is_some()
        {
            return Ok(None);
        }
        self.hide_twin();
        let store = self.watch(&found.parts, |runner| runner.commands_run() < found.number)?;
        self.run_to_command(recording, found.number)?;
        Ok(store.and_then(|store| store.by))
    }

    /// Runs a dispatch under a watch, if it is of bytecode.
    fn last_store(
        &mut self,
        recording: &Recording,
        found: &SuspectCommand,
    ) -> Result<Option<Store>, Lost> {
        self.run_to_command(recording, found.number)?;
        if !self.is_before_bytecode() {
            return Ok(None);
        }
        self.watch(&found.parts, |runner| runner.commands_run() < found.number)
    }

    /// Whether the program stands before a dispatch of bytecode.
    pub(super) fn is_before_bytecode(&self) -> bool {
        self.standing_dispatch().is_some_and(|it| it.executable.bytecode().is_some())
    }

    /// The last workgroup that writes marked bytes.
    fn writing_workgroup(
        &mut self,
        number: u64,
        places: &[(Buffer, Range<usize>)],
        mark: Option<&Vec<u8>>,
    ) -> Result<Option<LastWriter>, Lost> {
        let look = || -> Vec<Vec<u8>> {
            let bytes =
                |(buffer, part): &(Buffer, Range<usize>)| buffer.read(part.start, part.len());
            places.iter().map(bytes).collect()
        };
        let (mut last, mut found, mut ahead) = (look(), Vec::new(), None);
        while self.machine.running().is_some() && self.commands_run() < number {
            self.hop(Watch::Parts, Invocation::run)?;
            let now = look();
            if now != last {
                found.extend(ahead.take());
                // Another workgroup that writes the same value is seen, too.
                if let Some(mark) = mark {
                    write_mark(places, mark)?;
                }
                last = look();
            }
            let boundary = self.machine.invocation().and_then(Invocation::boundary);
            let is_part = boundary.is_some_and(|it| it.kind == BoundaryKind::BeforePart);
            let workgroup =
                self.machine.queue_activity(FrameIndex(0)).and_then(QueueActivity::workgroup);
            ahead = self.moment().filter(|_| is_part).zip(workgroup);
        }
        let others = |found: Vec<(Moment, [u32; 3])>| found.into_iter().map(|it| it.1).collect();
        Ok(found.pop().map(|(moment, workgroup)| (moment, workgroup, others(found))))
    }

    /// Runs under a watch of some bytes for as long as something holds; returns the last store.
    fn watch(
        &mut self,
        parts: &[Part],
        goes_on: impl Fn(&Self) -> bool,
    ) -> Result<Option<Store>, Lost> {
        let places = self.places(parts)?;
        let (Some((buffer, first)), Some((_, last))) = (places.first(), places.last()) else {
            return Ok(None);
        };
        let range = first.start..last.end.max(first.end);
        let target = WatchTarget::of_memory(&buffer.storage(), range);
        let target = target.map_err(|why| Lost::because(why.to_string()))?;
        let mut table = BreakpointTable::default();
        let access = DataAccess::Write;
        table.add(BreakpointSpec::Data { target, access }, Resolution::default());
        let table = std::mem::replace(&mut self.breakpoints.table, table);
        self.machine.context.set_watch(Watch::Parts);
        let Self { machine, watcher, breakpoints, .. } = self;
        watcher.begin(machine, &breakpoints.table);
        let mut store = None;
        while goes_on(self) {
            match self.run_on() {
                Some(StopReason::Data(hits)) => {
                    self.also_here = None;
                    let user = hits.last().and_then(|hit| hit.by.clone());
                    let by = user.and_then(|user| match user {
                        DataUser::Instruction(_) => self.user_text(&user),
                        _ => None,
                    });
                    let workgroup = self.machine.workgroup(FrameIndex(0));
                    if let Some((Some(workgroup), _)) = workgroup {
                        store = Some(Store { workgroup, others: Vec::new(), by });
                    }
                }
                Some(StopReason::Pause) => {
                    self.breakpoints.table = table;
                    return Err(Lost::Paused);
                }
                Some(reason) if reason.is_final() => break,
                _ => {}
            }
        }
        self.breakpoints.table = table;
        Ok(store)
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup: [x, y, z], others, by } = self;
        write!(f, "in workgroup ({x},{y},{z})")?;
        by.iter().try_for_each(|by| write!(f, ", by {by}"))?;
        let Some(([x, y, z], more)) = others.split_last() else { return Ok(()) };
        write!(f, "; workgroup ({x},{y},{z})")?;
        match more.len() {
            0 => f.write_str(" writes it too")?,
            count => write!(f, " and {count} more write it too")?,
        }
        f.write_str(", so they race: which of them is the last is not defined")
    }
}

/// Whether both are in one workgroup of one command.
pub(super) fn is_same_part(here: &Moment, part: &Moment) -> bool {
    let up_to =
        |moment: &Moment| moment.progress().get(..=Progress::WORKGROUP).map(<[u64]>::to_vec);
    here.is_in_same_call(part) && up_to(here) == up_to(part)
}

fn written_outside(name: &str, function: &str) -> Lost {
    Lost::Because(format!("{name} was written by {function}, outside of the program"))
}

fn never_written(name: &str, origin: Origin) -> String {
    match origin {
        Origin::Host => format!("no command has written {name}: the program was called with it"),
        Origin::Import => format!("no command has written {name}: it is a constant of the program"),
        Origin::Parameter => format!("no command has written {name}: it is a parameter"),
        Origin::Alloca | Origin::Allocate => {
            format!("no command has written {name} since the recording began")
        }
    }
}

fn stored(name: &str) -> String {
    format!(
        "the program itself has stored to {name} after the last command that wrote it; a watchpoint \
         finds where: `watch {name}`, then `reverse-continue`"
    )
}
