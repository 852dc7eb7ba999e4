//! Who has written a value last.
//!
//! For registers, globals, lists and buffers of the VM, the instructions on the way to the present
//! say what they write. For memory of devices, the history knows which commands had a part in it,
//! the last one first. Fills and copies have written what they name. Whether a dispatch has written
//! an element of a binding is tried: the program goes back to before the dispatch, the element is
//! overwritten with a mark, and the dispatch runs. If the mark is gone, it was written, be it with
//! the value that was there. The mark is undone like all that ran after a moment to which the
//! program goes back.

use std::ops::Range;

use hal::{Buffer, Origin, QueueActivity, Span, Work};
use vm::{BoundaryKind, FrameIndex, Invocation, Moment, Position, Watch};

use super::back::Limit;
use super::seek::{Lost, Progress};
use super::tape::Recording;
use crate::control::breakpoints::spec::{BreakpointSpec, DataAccess};
use crate::control::breakpoints::table::BreakpointTable;
use crate::control::runner::Runner;
use crate::control::stop::{DataUser, StopReason};
use crate::inspect::watchable::WatchTarget;
use crate::target::resolve::Resolution;
use crate::view::frame::FrameId;

/// Bytes that a dispatch does not leave by chance, both times.
const MARKS: [u8; 2] = [0x5A, 0xA5];

/// A command that had a part in some memory.
struct Use {
    number: u64,
    /// The binding of a dispatch, and the bytes of it. `None`: the command has written them.
    binding: Option<(usize, Vec<Range<usize>>)>,
}

/// An instruction that has written something.
struct Written {
    /// The moment before it.
    before: Moment,
    at: Position,
    /// Whether it is the call that has passed an argument.
    is_call: bool,
}

impl Runner {
    /// Goes back to before the last write of what an expression names.
    ///
    /// # Errors
    /// It names nothing that can be written, nothing is recorded, or nothing has written it since;
    /// the program stands where it stood.
    pub(crate) fn who_wrote(&mut self, frame: FrameId, text: &str) -> Result<StopReason, String> {
        let target = self.machine.watch_target(frame, text)?;
        let ranges = target.memory_ranges();
        let device = self.machine.program.host().device().clone();
        let live = device.allocator().live().into_iter();
        let owner = ranges.first().and_then(|first| {
            live.clone().find(|it| {
                let start = it.allocation.storage().address() as usize;
                (start..start + it.allocation.storage().len()).contains(&first.start)
            })
        });
        let Some(owner) = owner else { return self.who_wrote_last(&target) };
        let uses = self.uses_of(&ranges);
        let origin = owner.origin;
        drop(owner);
        let name = target.name.clone();
        let outside = self.machine.program.host().outside().writer_of(&ranges);
        self.travel(|runner, recording| {
            for found in uses {
                if let Some((function, commands)) = &outside
                    && *commands >= found.number
                {
                    return Err(written_outside(&name, function));
                }
                if runner.has_written(recording, &found)? {
                    return runner.tell_writer(recording, &name, &found);
                }
            }
            Err(match &outside {
                Some((function, _)) => written_outside(&name, function),
                None => Lost::because(never_written(&name, origin)),
            })
        })
    }

    /// The same for what is not memory of a device: by looking at each instruction on the way.
    fn who_wrote_last(&mut self, target: &WatchTarget) -> Result<StopReason, String> {
        self.travel(|runner, recording| {
            let nothing = || {
                let name = &target.name;
                Lost::Because(format!("nothing has written {name} since the recording began"))
            };
            let found = runner.find_writer(recording, target)?.ok_or_else(nothing)?;
            runner.arrive(recording, &found.before)?;
            let by = runner.user_text(&DataUser::Instruction(found.at));
            let by = by.unwrap_or_else(|| format!("the instruction at {}", found.at.offset));
            let how = if found.is_call { "passed to this call by" } else { "written by" };
            Ok(StopReason::Found(format!("{} was {how} {by}", target.name)))
        })
    }

    /// The last instruction before the present that has written something.
    fn find_writer(
        &mut self,
        recording: &Recording,
        target: &WatchTarget,
    ) -> Result<Option<Written>, Lost> {
        let moments: Vec<Moment> =
            recording.tape().kept().iter().map(|kept| kept.moment().clone()).collect();
        let mut limit = Limit::at(self.moment(), self.machine.depth());
        for (index, moment) in moments.into_iter().enumerate().rev() {
            if limit.is_reached(&moment) {
                continue;
            }
            for start in limit.starts(&moment) {
                self.rewind(recording, index)?;
                if self.begin(&start, &limit)?
                    && let Some(found) = self.last_write(target, &limit)?
                {
                    return Ok(Some(found));
                }
            }
            limit = Limit::at(Some(moment), self.machine.depth());
        }
        Ok(None)
    }

    /// The last instruction that writes something on the way to the present. A register is that of
    /// one call: what was before the call does not count.
    fn last_write(&mut self, target: &WatchTarget, limit: &Limit) -> Result<Option<Written>, Lost> {
        let frame = target.frame_depth();
        self.unarmed(|runner| {
            let mut found = None;
            let mut call: Option<(Moment, Position)> = None;
            let mut depth = runner.machine.depth();
            loop {
                let Some(here) = runner.moment().filter(|here| !limit.is_reached(here)) else {
                    return Ok(found);
                };
                let is_new = frame
                    .is_some_and(|frame| depth <= frame && runner.machine.depth() == frame + 1);
                if is_new {
                    found = call.take().map(|(before, at)| Written { before, at, is_call: true });
                }
                depth = runner.machine.depth();
                if here.is_in_native() && !limit.is_inside(&here) {
                    runner.hop(Watch::Nothing, Invocation::run_native)?;
                    continue;
                }
                if let Some(at) = runner.machine.position() {
                    if runner.is_about_to_write(target, at) {
                        found = Some(Written { before: here.clone(), at, is_call: false });
                    }
                    call = Some((here, at));
                }
                if runner.machine.running().is_none() {
                    return Ok(found);
                }
                runner.hop(Watch::Nothing, Invocation::step)?;
            }
        })
    }

    fn is_about_to_write(&mut self, target: &WatchTarget, at: Position) -> bool {
        let Self { machine, watcher, .. } = self;
        let effects = watcher.effects_at(&machine.context, at);
        let Some(invocation) = machine.invocation() else { return false };
        target.is_touched(&machine.context, invocation, at, &effects) == Some(true)
    }

    /// The commands that had a part in some bytes, the last one first.
    fn uses_of(&self, ranges: &[Range<usize>]) -> Vec<Use> {
        let records = self.machine.program.host().device().history().records();
        let found = records.iter().rev().filter_map(|record| {
            let binding = match &record.work {
                Work::Fill(target) | Work::Update(target) | Work::Copy(_, target) => {
                    return (!parts_of(target, ranges).is_empty())
                        .then_some(Use { number: record.number, binding: None });
                }
                Work::Dispatch(dispatch) => {
                    let parts = dispatch.bindings.iter().map(|span| parts_of(span, ranges));
                    parts.enumerate().find(|(_, parts)| !parts.is_empty())?
                }
            };
            Some(Use { number: record.number, binding: Some(binding) })
        });
        found.collect()
    }

    /// Whether a command has written what it had a part in.
    fn has_written(&mut self, recording: &Recording, found: &Use) -> Result<bool, Lost> {
        let Some((binding, parts)) = &found.binding else { return Ok(true) };
        for mark in MARKS {
            self.run_to_command(recording, found.number)?;
            let buffer = self.bound(*binding)?;
            write_mark(&buffer, parts, mark)?;
            self.unarmed(|runner| runner.run_over(found.number))?;
            if self.machine.running().is_none() {
                // The mark was an index, perhaps, and the dispatch has failed.
                return self.has_changed(recording, found.number, *binding, parts);
            }
            if !is_marked(&buffer, parts, mark) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a dispatch leaves other bytes than there were before.
    fn has_changed(
        &mut self,
        recording: &Recording,
        number: u64,
        binding: usize,
        parts: &[Range<usize>],
    ) -> Result<bool, Lost> {
        self.run_to_command(recording, number)?;
        let buffer = self.bound(binding)?;
        let look = || -> Vec<Vec<u8>> {
            parts.iter().map(|part| buffer.read(part.start, part.len())).collect()
        };
        let before = look();
        self.unarmed(|runner| runner.run_over(number))?;
        Ok(look() != before)
    }

    /// Runs the command before which the program stands.
    fn run_over(&mut self, number: u64) -> Result<(), Lost> {
        while self.machine.running().is_some() && self.commands_run() < number {
            self.hop(Watch::Steps, Invocation::run)?;
        }
        Ok(())
    }

    /// The memory of a binding of the dispatch before which the program stands.
    fn bound(&self, binding: usize) -> Result<Buffer, Lost> {
        let activity = self.machine.queue_activity(FrameIndex(0));
        let dispatch = activity.and_then(|activity| activity.dispatch().ok().flatten());
        let buffer = dispatch.and_then(|dispatch| dispatch.buffers.get(binding).cloned());
        buffer.ok_or_else(|| Lost::because("the dispatch has another interface now"))
    }

    /// Stands before the command that has written, and says which it is.
    fn tell_writer(
        &mut self,
        recording: &Recording,
        name: &str,
        found: &Use,
    ) -> Result<StopReason, Lost> {
        let instruction = self.writing_instruction(recording, found)?;
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
        found: &Use,
    ) -> Result<Option<String>, Lost> {
        let Some((binding, parts)) = &found.binding else { return Ok(None) };
        self.run_to_command(recording, found.number)?;
        let activity = self.machine.queue_activity(FrameIndex(0));
        let dispatch = activity.and_then(|activity| activity.dispatch().ok().flatten());
        if dispatch.is_none_or(|dispatch| dispatch.executable.bytecode().is_none()) {
            return Ok(None);
        }
        let buffer = self.bound(*binding)?;
        write_mark(&buffer, parts, MARKS[0])?;
        let Some((part, workgroup)) =
            self.unarmed(|runner| runner.writing_workgroup(found.number, &buffer, parts))?
        else {
            return Ok(None);
        };
        self.arrive(recording, &part)?;
        let by = self.watch_workgroup(&part, *binding, parts)?;
        let [x, y, z] = workgroup;
        let by = by.map(|by| format!(", by {by}")).unwrap_or_default();
        Ok(Some(format!("in workgroup ({x},{y},{z}){by}")))
    }

    /// The last workgroup that writes marked bytes: the moment before it, and its place.
    fn writing_workgroup(
        &mut self,
        number: u64,
        buffer: &Buffer,
        parts: &[Range<usize>],
    ) -> Result<Option<(Moment, [u32; 3])>, Lost> {
        let look = || -> Vec<Vec<u8>> {
            parts.iter().map(|part| buffer.read(part.start, part.len())).collect()
        };
        let (mut last, mut found, mut ahead) = (look(), None, None);
        while self.machine.running().is_some() && self.commands_run() < number {
            self.hop(Watch::Parts, Invocation::run)?;
            let now = look();
            if now != last {
                found = ahead.take().or(found);
                // Another workgroup that writes the same value is seen, too.
                write_mark(buffer, parts, MARKS[0])?;
                last = look();
            }
            let boundary = self.machine.invocation().and_then(Invocation::boundary);
            let is_part = boundary.is_some_and(|it| it.kind == BoundaryKind::BeforePart);
            let workgroup =
                self.machine.queue_activity(FrameIndex(0)).and_then(QueueActivity::workgroup);
            ahead = self.moment().filter(|_| is_part).zip(workgroup);
        }
        Ok(found)
    }

    /// Runs a workgroup under a watch of some bytes; returns what has written them last.
    fn watch_workgroup(
        &mut self,
        part: &Moment,
        binding: usize,
        parts: &[Range<usize>],
    ) -> Result<Option<String>, Lost> {
        let buffer = self.bound(binding)?;
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(None) };
        let target = WatchTarget::of_memory(&buffer.storage(), first.start..last.end);
        let target = target.map_err(Lost::Because)?;
        let mut table = BreakpointTable::default();
        let access = DataAccess::Write;
        table.add(BreakpointSpec::Data { target, access }, Resolution::default());
        let table = std::mem::replace(&mut self.breakpoints.table, table);
        self.machine.context.set_watch(Watch::Parts);
        let Self { machine, watcher, breakpoints, .. } = self;
        watcher.begin(machine, &breakpoints.table);
        let mut by = None;
        while self.moment().is_some_and(|here| is_same_part(&here, part)) {
            match self.run_on() {
                Some(StopReason::Data(hits)) => {
                    self.also_here = None;
                    let user = hits.last().and_then(|hit| hit.by.clone());
                    by = user.and_then(|user| match user {
                        DataUser::Instruction(_) => self.user_text(&user),
                        _ => None,
                    });
                }
                Some(StopReason::Pause) => {
                    self.breakpoints.table = table;
                    return Err(Lost::Paused);
                }
                _ => {}
            }
        }
        self.breakpoints.table = table;
        Ok(by)
    }
}

/// The bytes of a span that are among some addresses, counted from its begin.
fn parts_of(span: &Span, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let Some(bytes) = span.bytes() else { return Vec::new() };
    let start = bytes.address() as usize;
    let end = start + bytes.len();
    let parts = ranges.iter().map(|range| range.start.max(start)..range.end.min(end));
    parts.filter(|part| part.start < part.end).map(|it| it.start - start..it.end - start).collect()
}

fn write_mark(buffer: &Buffer, parts: &[Range<usize>], mark: u8) -> Result<(), Lost> {
    for part in parts {
        let written = buffer.write_for_trial(part.start, &vec![mark; part.len()]);
        written.map_err(|status| Lost::Because(status.to_string()))?;
    }
    Ok(())
}

fn is_marked(buffer: &Buffer, parts: &[Range<usize>], mark: u8) -> bool {
    let bytes = |part: &Range<usize>| buffer.read(part.start, part.len());
    parts.iter().all(|part| bytes(part).iter().all(|byte| *byte == mark))
}

fn is_same_part(here: &Moment, part: &Moment) -> bool {
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
