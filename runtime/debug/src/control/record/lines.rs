//! Lines of time: a change by hand at a moment of the past begins one, and the line before stays.
//!
//! ```text
//!   line 1   C0 ── C1 ── X ─────────────── 1, 2, 3 …     set aside while the program is in line 2
//!                        └─ change ─ line 2 ─── now       path: [fork of line 2]
//! ```
//!
//! The machine is deterministic, so a line is where it has left another one, and what was changed
//! there. To come to it is to run the other line to that moment and to make the change again. The
//! tape has the checkpoints of one line, the present one, from the beginning on: a fork is among
//! them, as the last checkpoint before it and what has to be done from there. What else belongs to
//! a line beyond its moments is what the next run of it is held to: digests, rows, calls outside,
//! and the places of objects. It is swapped here.
//!
//! What lies before a fork belongs to the line before. A program that goes back beyond it is in
//! that line again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hal::{AllocatorMark, LaterCalls};
use vm::{LaterMakes, Makes, Moment, MomentKey, Position};

use super::tape::Tape;
use crate::control::by_hand::HandChange;
use crate::machine::ByHand;
use crate::target::run_table::{CommandRow, RunTable};

/// Where a line begins.
#[derive(Debug)]
pub(crate) struct Fork {
    /// The line that begins, and the one that it leaves.
    pub(super) line: usize,
    pub(super) parent: usize,
    pub(crate) moment: Moment,
    /// How many commands had run, and calls outside were made,
    pub(super) commands: u64,
    pub(super) outside: u64,
    /// and how much memory was made.
    pub(super) makes: (u64, AllocatorMark),
    /// What the user has changed there, in order,
    pub(super) changes: Vec<HandChange>,
    /// and before.
    pub(super) by_hand: ByHand,
    /// How the place was shown: inlined calls, and the instruction that had run.
    pub(super) shown: (usize, Option<Position>),
}

/// Where the user has left a line.
#[derive(Clone, Debug)]
pub(super) enum LeftAt {
    Moment(Moment),
    End,
}

/// How far a line is known.
#[derive(Clone, Default, Debug)]
struct Reached {
    moment: Option<Moment>,
    is_over: bool,
}

/// What a line has after a fork, while the program is in another one.
#[derive(Default)]
struct Rest {
    digests: Vec<u64>,
    rows: Vec<Arc<CommandRow>>,
    calls: LaterCalls,
    objects: LaterMakes,
    memory: LaterMakes,
    marks: BTreeMap<MomentKey, u64>,
    reached: Reached,
    size: usize,
}

/// A line.
#[derive(Default)]
struct Line {
    /// Where it begins, unless it is the first.
    fork: Option<Arc<Fork>>,
    /// What it has, while the program is in none that goes through it,
    own: Rest,
    /// and what the line has that it leaves, while the program is.
    other: Rest,
    left: Option<LeftAt>,
}

/// All lines of a recording.
pub(super) struct Lines {
    all: Vec<Line>,
    /// The forks from the first line to the present one.
    path: Vec<Arc<Fork>>,
    /// How many of these were given up for lack of memory: the program cannot go to before them.
    given_up: usize,
    reached: Reached,
}

impl Default for Lines {
    fn default() -> Self {
        let all = vec![Line::default()];
        Self { all, path: Vec::new(), given_up: 0, reached: Reached::default() }
    }
}

/// A line, for its user.
#[derive(Clone, Debug)]
pub struct LineOfTime {
    /// Its number, from 1.
    pub number: usize,
    /// Whether the program is in it.
    pub is_here: bool,
    /// Where it begins, unless it is the first.
    pub begin: Option<LineBegin>,
    /// How many commands of it have run, as far as it was gone through.
    pub commands: u64,
    /// Whether the program can go there; the beginning of what leads there may have been given up.
    pub is_reachable: bool,
}

/// Where a line begins.
#[derive(Clone, Debug)]
pub struct LineBegin {
    /// The line that it leaves,
    pub parent: usize,
    /// and when.
    pub moment: Moment,
    /// How many commands had run.
    pub commands: u64,
    /// What was changed by hand, each as in `%x[0] = 1`.
    pub changes: Vec<String>,
}

impl Lines {
    /// The number of the present line.
    pub(super) fn here(&self) -> usize {
        self.path.last().map_or(1, |fork| fork.line)
    }

    /// The line of the path to which a moment belongs.
    pub(super) fn line_of(&self, moment: &Moment) -> usize {
        let begun = self.path.iter().rev().find(|fork| fork.moment <= *moment);
        begun.map_or(1, |fork| fork.line)
    }

    pub(super) fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    pub(super) fn path(&self) -> &[Arc<Fork>] {
        &self.path
    }

    fn line(&mut self, number: usize) -> &mut Line {
        // Numbers are of lines that are there, as none ends.
        let index = number.saturating_sub(1).min(self.all.len() - 1);
        &mut self.all[index]
    }

    /// The forks from the first line to one.
    pub(super) fn path_to(&self, number: usize) -> Option<Vec<Arc<Fork>>> {
        let mut path = Vec::new();
        let mut line = self.all.get(number.checked_sub(1)?)?;
        while let Some(fork) = &line.fork {
            path.push(Arc::clone(fork));
            line = self.all.get(fork.parent - 1)?;
        }
        path.reverse();
        Some(path)
    }

    /// Up to which fork two lines are the same.
    pub(super) fn common(&self, other: &[Arc<Fork>]) -> usize {
        in_common(&self.path, other)
    }

    /// Where the user has left a line.
    pub(super) fn left(&self, number: usize) -> Option<LeftAt> {
        self.all.get(number.checked_sub(1)?)?.left.clone()
    }

    /// The user has left another line.
    pub(super) fn leave_other(&mut self, number: usize, left: LeftAt) {
        self.line(number).left = Some(left);
    }

    /// The program stands there, or is over.
    pub(super) fn reach(&mut self, moment: Option<&Moment>, is_over: bool) {
        let Reached { moment: known, is_over: was_over } = &mut self.reached;
        *was_over |= is_over;
        if let Some(moment) = moment.filter(|it| known.as_ref().is_none_or(|known| known < *it)) {
            *known = Some(moment.clone());
        }
    }

    /// Whether the present line is known to go on from there.
    pub(super) fn goes_on_from(&self, here: &Moment) -> bool {
        self.reached.is_over || self.reached.moment.as_ref().is_some_and(|it| it > here)
    }

    /// Whether nothing has happened in the present line but that it has begun here.
    pub(super) fn begins_at(&self, here: &Moment) -> bool {
        self.path.last().is_some_and(|fork| fork.moment == *here) && !self.goes_on_from(here)
    }

    /// How many bytes are set aside.
    pub(super) fn size(&self) -> usize {
        let of = |line: &Line| {
            let changes = line.fork.iter().flat_map(|fork| &fork.changes);
            line.own.size + line.other.size + changes.map(HandChange::size).sum::<usize>()
        };
        self.all.iter().map(of).sum()
    }

    /// A fork was given up with the checkpoints before it.
    pub(super) fn give_up_fork(&mut self) {
        self.given_up += 1;
    }
}

/// Up to which fork two paths are the same.
fn in_common(a: &[Arc<Fork>], b: &[Arc<Fork>]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a.line == b.line).count()
}

/// The earlier one of the forks at which two paths part; `None`: they are the same.
pub(super) fn parting<'a>(a: &'a [Arc<Fork>], b: &'a [Arc<Fork>]) -> Option<&'a Arc<Fork>> {
    let common = in_common(a, b);
    let forks = [a.get(common), b.get(common)].into_iter().flatten();
    forks.min_by(|a, b| a.moment.cmp(&b.moment))
}

impl Tape {
    /// How many forks of the path the program has come through.
    fn passed(&self) -> usize {
        self.lines.given_up + self.kept.forks()
    }

    /// The next fork on the way.
    pub(super) fn next_fork(&self) -> Option<Arc<Fork>> {
        if self.lines.path.is_empty() {
            return None;
        }
        self.lines.path.get(self.passed()).map(Arc::clone)
    }

    /// A line begins with a change by hand, or there is one more change at its beginning. `hand`
    /// are the entries of the journal for it.
    pub(super) fn begin_line(&mut self, fork: Fork, hand: Range<u64>, objects: &Makes) {
        if self.lines.begins_at(&fork.moment)
            && let Some(last) = self.lines.path.pop()
        {
            let Fork { line, parent, makes, .. } = *last;
            let changes = last.changes.iter().cloned().chain(fork.changes).collect();
            let (by_hand, shown) = (last.by_hand.clone(), last.shown);
            let fork = Arc::new(Fork { line, parent, makes, changes, by_hand, shown, ..fork });
            self.lines.line(line).fork = Some(Arc::clone(&fork));
            self.lines.path.push(Arc::clone(&fork));
            self.kept.change_last_fork(fork, hand.end);
            return;
        }
        let (line, parent) = (self.lines.all.len() + 1, self.lines.here());
        self.lines.leave_other(parent, LeftAt::Moment(fork.moment.clone()));
        let fork = Arc::new(Fork { line, parent, ..fork });
        let other = self.take_rest(&fork, objects);
        let begun = Line { fork: Some(Arc::clone(&fork)), other, ..Line::default() };
        self.lines.all.push(begun);
        self.lines.path.push(Arc::clone(&fork));
        self.kept.push_fork(fork, hand);
    }

    /// The change of a fork was made again.
    pub(super) fn passes(&mut self, fork: &Arc<Fork>, hand: Range<u64>) {
        let is_next = self.next_fork().is_some_and(|next| next.line == fork.line);
        if !self.kept.set_hand(fork, &hand) && is_next {
            self.kept.push_fork(Arc::clone(fork), hand);
        }
    }

    /// The program has come to stand somewhere: it is in the line to which that belongs.
    pub(super) fn settle(&mut self, objects: &Makes) {
        let passed = self.passed();
        self.leave_forks(passed, objects);
    }

    /// The program goes to before a line, which may begin where the one before it does.
    pub(super) fn leave_line(&mut self, number: usize, objects: &Makes) {
        if let Some(begun) = self.lines.path.iter().position(|fork| fork.line == number) {
            self.leave_forks(begun, objects);
        }
    }

    /// The program, which stands at a fork, goes to before it: that is the line before all that
    /// begin there.
    pub(super) fn leave_at(&mut self, moment: &Moment, objects: &Makes) {
        let begun = self.lines.path.iter().take_while(|fork| fork.moment < *moment).count();
        if self.lines.path.get(begun).is_some_and(|fork| fork.moment == *moment) {
            self.leave_forks(begun, objects);
        }
    }

    /// The program is at the beginning of the recording, in the line of that. Returns the rest of
    /// the path, and how many forks were before it.
    pub(super) fn leave_all(&mut self, objects: &Makes) -> (Vec<Arc<Fork>>, usize) {
        let path = self.lines.path.clone();
        let passed = self.passed();
        self.leave_forks(passed, objects);
        (path, passed)
    }

    /// The path ends after so many forks. The program stands before the next one.
    fn leave_forks(&mut self, count: usize, objects: &Makes) {
        while self.lines.path.len() > count
            && let Some(fork) = self.lines.path.pop()
        {
            let own = self.take_rest(&fork, objects);
            let line = self.lines.line(fork.line);
            line.own = own;
            let other = std::mem::take(&mut line.other);
            self.put_rest(&fork, other, objects);
        }
    }

    /// The path is another one, which is the same for so many forks. The program stands before the
    /// next of both.
    pub(super) fn change_path(&mut self, path: &[Arc<Fork>], common: usize, objects: &Makes) {
        self.leave_forks(common, objects);
        for fork in path.iter().skip(common) {
            let other = self.take_rest(fork, objects);
            let line = self.lines.line(fork.line);
            line.other = other;
            let own = std::mem::take(&mut line.own);
            self.put_rest(fork, own, objects);
            self.lines.path.push(Arc::clone(fork));
        }
    }

    /// Sets aside what the present line has after a fork.
    fn take_rest(&mut self, fork: &Fork, objects: &Makes) -> Rest {
        let allocator = self.device.allocator();
        let digests = allocator.journal().ledger().take_from(fork.commands + 1);
        let rows = self.rows.table().take_after(fork.commands);
        let calls = self.outside.take_after(fork.outside);
        let later = objects.take_after(fork.makes.0);
        let memory = allocator.take_made_after(fork.makes.1);
        let marks = self.marks.take_after(&fork.moment.key());
        let reached = std::mem::take(&mut self.lines.reached);
        self.lines.reach(Some(&fork.moment), false);
        let size = size_of_val(&digests[..])
            + rows.iter().map(|row| row.size()).sum::<usize>()
            + calls.size();
        Rest { digests, rows, calls, objects: later, memory, marks, reached, size }
    }

    /// The present line ends at a fork, and has this after it.
    fn put_rest(&mut self, fork: &Fork, rest: Rest, objects: &Makes) {
        let allocator = self.device.allocator();
        allocator.journal().ledger().put(fork.commands + 1, rest.digests);
        self.rows.table().put(rest.rows);
        self.outside.put(rest.calls);
        objects.put(rest.objects);
        allocator.makes().put(rest.memory);
        self.marks.put(rest.marks);
        self.lines.reached = rest.reached;
        self.lines.reach(Some(&fork.moment), false);
    }

    /// The lines, by their numbers.
    pub(crate) fn lines(&self) -> Vec<LineOfTime> {
        let here = self.lines.here();
        let lines = (1..).zip(&self.lines.all).map(|(number, line)| {
            let begin = line.fork.as_ref().map(|fork| LineBegin {
                parent: fork.parent,
                moment: fork.moment.clone(),
                commands: fork.commands,
                changes: fork.changes.iter().map(|it| it.text.clone()).collect(),
            });
            LineOfTime {
                number,
                is_here: number == here,
                begin,
                commands: self.commands_in(number),
                is_reachable: self.is_reachable(number),
            }
        });
        lines.collect()
    }

    /// How many commands a line is known to have run that is not the present one.
    fn commands_of(&self, number: usize) -> Option<u64> {
        let line = self.lines.all.get(number.checked_sub(1)?)?;
        // Its end is set aside where the path leaves it, or where it leaves the path.
        let left_by = self.lines.path.iter().find(|fork| fork.parent == number);
        let (fork, rest) = match left_by {
            Some(fork) => (fork, &self.lines.all.get(fork.line - 1)?.other),
            None if self.lines.here() == number => return None,
            None => (line.fork.as_ref()?, &line.own),
        };
        Some(fork.commands + rest.digests.len() as u64)
    }

    /// Whether the recording leads to a line.
    pub(super) fn is_reachable(&self, number: usize) -> bool {
        let Some(path) = self.lines.path_to(number) else { return false };
        let common = self.lines.common(&path);
        let parting = parting(&self.lines.path, &path);
        parting.is_none_or(|parting| self.place_before(&parting.moment, common).is_some())
    }

    /// The last checkpoint that is not after a moment, with only so many forks before it.
    pub(super) fn place_before(&self, moment: &Moment, forks: usize) -> Option<usize> {
        let mut passed = self.lines.given_up;
        let mut place = None;
        for (index, kept) in self.kept.all().iter().enumerate() {
            passed += usize::from(kept.fork().is_some());
            if passed > forks || kept.moment() > moment {
                break;
            }
            place = Some(index);
        }
        place
    }

    /// The rows of a line, from the beginning on.
    pub(super) fn rows_of(&self, number: usize) -> Option<Vec<Arc<CommandRow>>> {
        let path = self.lines.path_to(number)?;
        let common = self.lines.common(&path);
        let mut rows = RunTable::of(&self.rows.table().rows().cloned().collect::<Vec<_>>());
        for fork in self.lines.path.iter().skip(common).rev() {
            rows.forget_after(fork.commands);
            rows.put(self.lines.all.get(fork.line - 1)?.other.rows.clone());
        }
        for fork in path.iter().skip(common) {
            rows.forget_after(fork.commands);
            rows.put(self.lines.all.get(fork.line - 1)?.own.rows.clone());
        }
        Some(rows.rows().cloned().collect())
    }

    /// How many commands had run where two lines part.
    pub(super) fn commands_in_common(&self, lines: [usize; 2]) -> u64 {
        let [a, b] = lines.map(|number| self.lines.path_to(number).unwrap_or_default());
        let parting = parting(&a, &b).map(|fork| fork.commands);
        parting.unwrap_or_else(|| self.commands_in(lines[0]))
    }

    /// How many commands a line is known to have run.
    pub(super) fn commands_in(&self, number: usize) -> u64 {
        let known = self.device.allocator().journal().ledger().end();
        self.commands_of(number).unwrap_or(known)
    }
}
