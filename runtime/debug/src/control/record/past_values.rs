//! All values that something had since the recording began.
//!
//! What commands wrote into memory of devices is in the journal, so nothing has to run for it.
//! For registers, globals, lists and buffers of the VM the program runs again, instruction by
//! instruction, from the last checkpoint, then from the one before, until there are enough values.

use std::collections::VecDeque;
use std::ops::Range;

use hal::Work;
use vm::{Invocation, Moment, Position, Watch};

use super::limit::Limit;
use super::lines::Fork;
use super::seek::Lost;
use super::suspects::{Change, changes};
use super::tape::Recording;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::DataUser;
use crate::inspect::watch_target::WatchTarget;
use crate::inspect::watchable::WhoseRegister;
use crate::machine::Machine;
use crate::view::frame::FrameId;
use crate::view::tensor_memory::CommandUses;

/// The most values that are kept, the last ones.
const MOST: usize = 100;

/// The most instructions that run for it.
const MOST_INSTRUCTIONS: usize = 20_000_000;

/// A value that something had.
#[derive(Clone, Debug)]
pub struct PastValue {
    /// The value.
    pub text: String,
    /// What has written it; `None`: it was there before all that is known.
    pub by: Option<String>,
    /// Where the program can go to see it written.
    pub place: Option<PastPlace>,
}

/// A place in the past, before something was written.
#[derive(Clone, Debug)]
pub enum PastPlace {
    /// Before a command, by its number among all that ran.
    Command(u64),
    /// Before an instruction.
    Moment(Moment),
}

/// The values that something had.
#[derive(Clone, Debug, Default)]
pub struct ValueHistory {
    /// Oldest first. Neighbours differ.
    pub values: Vec<PastValue>,
    /// Whether there were more before the first one, or may have been.
    pub has_more: bool,
}

/// A write by an instruction that has begun.
struct Begun {
    before: Moment,
    at: Position,
    depth: usize,
}

/// A value after a write by an instruction.
struct Seen {
    bytes: Option<Vec<u8>>,
    value: PastValue,
}

/// The values of a stretch, the last ones.
#[derive(Default)]
struct Stretch {
    seen: VecDeque<Seen>,
    has_more: bool,
    /// Whether the call of a register's frame is in it: what was before does not count.
    has_call: bool,
    instructions: usize,
}

impl Stretch {
    fn add(&mut self, seen: Seen) {
        if self.seen.back().is_some_and(|last| last.bytes == seen.bytes) {
            return;
        }
        self.seen.push_back(seen);
        if self.seen.len() > MOST {
            self.seen.pop_front();
            self.has_more = true;
        }
    }
}

impl Runner {
    /// The values that what an expression names had since the recording began; those of a register
    /// are of this call. The program stands where it stood.
    ///
    /// # Errors
    /// It names nothing that stays in place, or nothing is recorded.
    pub(crate) fn value_history(
        &mut self,
        frame: FrameId,
        text: &str,
    ) -> Result<ValueHistory, Refused> {
        let target = self.machine.watch_target(frame, text)?;
        if let Some(found) = self.values_in_memory(&target)? {
            return Ok(found);
        }
        self.look_back(|runner, recording| runner.values_of_instructions(recording, &target))
    }

    /// The values of device memory that only commands write; `None`: it is something else.
    fn values_in_memory(&self, target: &WatchTarget) -> Result<Option<ValueHistory>, Refused> {
        let ranges = target.memory_ranges();
        let machine = &self.machine;
        let device = machine.program.host().device();
        if machine.shares_storage() || machine.owner(&ranges).is_none() {
            return Ok(None);
        }
        let recording = self.recording.as_ref().ok_or(Refused::NotRecorded)?;
        let has_lost_begin = recording.tape().state().has_lost_begin;
        let known = changes(device.allocator().journal(), &ranges, |range| target.bytes_at(range));
        let end = device.allocator().journal().mark();
        let forks = self.forks_in_journal();
        let memory = machine.tensor_memory();
        let mut bytes: Vec<Vec<u8>> = ranges.iter().map(|range| target.bytes_at(range)).collect();
        let mut found = VecDeque::new();
        let mut last = target.text_of(&bytes.concat());
        let mut next = known.iter().peekable();
        while let Some(change) = next.next() {
            let command =
                memory.commands.iter().find(|it| it.record.journal.contains(&change.entry));
            let entries =
                command.map_or(change.entry..change.entry + 1, |it| it.record.journal.clone());
            undo(&mut bytes, &ranges, change);
            while let Some(other) = next.next_if(|it| entries.contains(&it.entry)) {
                undo(&mut bytes, &ranges, other);
            }
            let text = target.text_of(&bytes.concat());
            if text == last {
                continue;
            }
            if found.len() == MOST {
                return Ok(Some(ValueHistory { values: found.into(), has_more: true }));
            }
            let fork = forks.iter().find(|(hand, _)| hand.contains(&change.entry));
            let (by, place) = match (command, fork) {
                (Some(it), _) => {
                    (described(machine, it), Some(PastPlace::Command(it.record.number)))
                }
                (None, Some((_, fork))) => by_hand(fork),
                (None, None) if change.entry == end => ("the dispatch that runs".to_owned(), None),
                (None, None) => ("the program, not by a command".to_owned(), None),
            };
            let value = std::mem::replace(&mut last, text);
            found.push_front(PastValue { text: value, by: Some(by), place });
        }
        found.push_front(PastValue { text: last, by: None, place: None });
        Ok(Some(ValueHistory { values: found.into(), has_more: has_lost_begin }))
    }

    /// The values of what instructions write.
    fn values_of_instructions(
        &mut self,
        recording: &Recording,
        target: &WatchTarget,
    ) -> Result<ValueHistory, Lost> {
        let moments = recording.tape().moments();
        let mut limit = Limit::at(self.moment(), self.machine.depth());
        let mut present = limit.clone();
        let mut all: VecDeque<Seen> = VecDeque::new();
        let (mut has_more, mut instructions) = (recording.tape().state().has_lost_begin, 0);
        for (index, moment) in moments.into_iter().enumerate().rev() {
            // At a fork, what was set there is the last value.
            let is_at_fork = self.is_fork(recording, index) && limit.moment() == Some(&moment);
            if is_at_fork {
                self.add_set_value(recording, index, target, &mut all)?;
                self.leave_fork(recording, index);
            }
            if is_at_fork || limit.is_reached(&moment) {
                continue;
            }
            self.rewind(recording, index)?;
            let first = (index == 0 && target.is_global()).then(|| self.seen(target, None));
            let stretch = self.stretch(target, &limit, &present, instructions)?;
            instructions = stretch.instructions;
            for seen in stretch.seen.into_iter().rev().chain(first.flatten()) {
                let is_same = all.front().is_some_and(|next| next.bytes == seen.bytes);
                if is_same {
                    all.pop_front();
                }
                all.push_front(seen);
            }
            if stretch.has_call {
                has_more = stretch.has_more;
                break;
            }
            if stretch.has_more || all.len() > MOST || instructions > MOST_INSTRUCTIONS {
                has_more = true;
                break;
            }
            limit = Limit::at(Some(moment), self.machine.depth());
            if self.is_fork(recording, index) {
                // A value that is late to get its name does not get it in another line.
                present = limit.clone();
            }
            self.add_set_value(recording, index, target, &mut all)?;
            self.leave_fork(recording, index);
        }
        if all.len() > MOST {
            all.drain(..all.len() - MOST);
            has_more = true;
        }
        Ok(ValueHistory { values: all.into_iter().map(|it| it.value).collect(), has_more })
    }

    /// If a line begins at a place of the tape with another value, adds that, before the later
    /// ones.
    fn add_set_value(
        &mut self,
        recording: &Recording,
        index: usize,
        target: &WatchTarget,
        all: &mut VecDeque<Seen>,
    ) -> Result<(), Lost> {
        let Some((before, after)) = self.around_fork(recording, index, target)? else {
            return Ok(());
        };
        let fork = recording.tape().kept().get(index).and_then(|kept| kept.fork().cloned());
        let is_its = matches!(self.machine.whose_register(target), WhoseRegister::Its);
        if let Some(fork) = fork.filter(|_| is_its && before != after)
            && let Some(mut seen) = self.seen(target, None)
        {
            let (by, place) = by_hand(&fork);
            (seen.value.by, seen.value.place) = (Some(by), place);
            all.push_front(seen);
        }
        Ok(())
    }

    /// The values that are written on the way to the present.
    fn stretch(
        &mut self,
        target: &WatchTarget,
        limit: &Limit,
        present: &Limit,
        instructions: usize,
    ) -> Result<Stretch, Lost> {
        let frame = target.frame_depth();
        self.unarmed(|runner| {
            let mut stretch = Stretch { instructions, ..Stretch::default() };
            let is_argument = runner.machine.is_argument(target);
            let mut begun: Option<Begun> = None;
            let mut call: Option<(Moment, Position)> = None;
            let mut depth = runner.machine.depth();
            loop {
                let here = runner.moment();
                let now = runner.machine.depth();
                let is_in_native = here.as_ref().is_some_and(Moment::is_in_native);
                begun.take_if(|write| {
                    let is_done = !is_in_native && now <= write.depth;
                    is_done && runner.finish_write(target, write, &mut stretch)
                });
                // A value may get its name some instructions after it was written.
                let is_over = |here: &Moment| {
                    present.is_reached(here) || begun.is_none() && limit.is_reached(here)
                };
                let Some(here) = here.filter(|here| !is_over(here)) else {
                    return Ok(stretch);
                };
                let is_late = limit.is_reached(&here);
                if frame.is_some_and(|frame| depth <= frame && now == frame + 1) {
                    stretch = Stretch { instructions: stretch.instructions, ..Stretch::default() };
                    stretch.has_call = true;
                    if let Some((before, at)) = call.take().filter(|_| is_argument) {
                        let write = Begun { before, at, depth: now };
                        let _ = runner.finish_write(target, &write, &mut stretch);
                    }
                }
                depth = now;
                if is_in_native && !present.is_inside(&here) {
                    runner.hop(Watch::Nothing, Invocation::run_native)?;
                    continue;
                }
                if let Some(at) = runner.machine.position() {
                    if runner.is_about_to_write(target, at) {
                        if is_late {
                            return Ok(stretch);
                        }
                        begun = Some(Begun { before: here.clone(), at, depth: now });
                    }
                    call = Some((here.clone(), at));
                }
                stretch.instructions += 1;
                if runner.machine.running().is_none() {
                    return Ok(stretch);
                }
                let (blocks, at) = (runner.moved_to(target), runner.machine.position());
                runner.hop(Watch::Nothing, Invocation::step)?;
                if let Some(at) = at.filter(|_| runner.is_at_one_of(&blocks)) {
                    if is_late {
                        return Ok(stretch);
                    }
                    begun = Some(Begun { before: here, at, depth: now });
                }
            }
        })
    }

    /// Remembers what an instruction has written, once it is the value that is asked for: SSA
    /// values share registers.
    fn finish_write(&self, target: &WatchTarget, write: &Begun, stretch: &mut Stretch) -> bool {
        let is_its = matches!(self.machine.whose_register(target), WhoseRegister::Its);
        let seen = if is_its { self.seen(target, Some(write)) } else { None };
        seen.map(|seen| stretch.add(seen)).is_some()
    }

    /// The present value.
    fn seen(&self, target: &WatchTarget, write: Option<&Begun>) -> Option<Seen> {
        let invocation = self.machine.invocation()?;
        let (bytes, text) = target.look(&self.machine.context, invocation);
        bytes.as_ref()?;
        let by = write.map(|it| {
            let by = self.user_text(&DataUser::Instruction(it.at));
            by.unwrap_or_else(|| format!("the instruction at {}", it.at.offset))
        });
        let place = write.map(|it| PastPlace::Moment(it.before.clone()));
        Some(Seen { bytes, value: PastValue { text, by, place } })
    }
}

/// What a command is, and what it has left: `dispatch @d (%m) at layer.mlir:12`.
fn described(machine: &Machine, command: &CommandUses) -> String {
    let record = &command.record;
    let what = match &record.work {
        Work::Fill(_) => "fill".to_owned(),
        Work::Update(_) => "update".to_owned(),
        Work::Copy(..) => "copy".to_owned(),
        Work::Dispatch(dispatch) => {
            let name = dispatch.export().map(|export| format!("dispatch @{}", export.name));
            name.unwrap_or_else(|| "dispatch".to_owned())
        }
    };
    let module = record.recorded_at.function.module;
    let names = machine.result_names(module, command.operation);
    let names = names.first().map(|name| format!(" ({name})")).unwrap_or_default();
    let place = machine.own_source_line(record.recorded_at);
    let place = place.map(|at| format!(" at {}:{}", at.file, at.line)).unwrap_or_default();
    format!("{what}{names}{place}")
}

/// What has set a value where a line of time begins.
fn by_hand(fork: &Fork) -> (String, Option<PastPlace>) {
    let by = format!("set by hand, where line {} begins", fork.line);
    (by, Some(PastPlace::Moment(fork.moment.clone())))
}

/// Puts bytes back to what they were before a write.
fn undo(bytes: &mut [Vec<u8>], ranges: &[Range<usize>], change: &Change) {
    for (bytes, range) in bytes.iter_mut().zip(ranges) {
        if range.contains(&change.addresses.start) {
            let from = change.addresses.start - range.start;
            if let Some(part) = bytes.get_mut(from..from + change.before.len()) {
                part.copy_from_slice(&change.before);
            }
        }
    }
}
