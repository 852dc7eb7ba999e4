//! Lines of time. A program is recorded and walked at random; now and then a value is set by hand,
//! and the walk goes from line to line. The oracle is a session without a recording, in which the
//! same values are set at the same moments: each state of each line is what it is there, and so are
//! the results. What is before a change is of the line before it. A breakpoint counts on the way,
//! and stops nothing: it has counted what the line has in the oracle, from where it was set.

use std::fmt::Write;

use super::brief;
use super::programs::{Program, device_program, machine_program};
use crate::tests::going_back::{Dice, State, moment, state};
use crate::{
    Back, BreakpointId, BreakpointOptions, BreakpointSpec, Debugger, Granularity, HitCondition,
    Position, Resume, RunMoment, StepKind, StopReason,
};

const KINDS: [StepKind; 3] = [StepKind::Into, StepKind::Over, StepKind::Out];
const GRANULARITIES: [Granularity; 3] =
    [Granularity::Line, Granularity::Statement, Granularity::Instruction];

/// A longer run is one that a change has made endless.
const LONGEST: usize = 20_000;

/// A change by hand: the name of what is set, and its value.
type Change = (String, String);

/// Where a line begins.
#[derive(Clone)]
struct Begin {
    line: usize,
    moment: RunMoment,
    changes: Vec<Change>,
}

/// A line, as the oracle has it.
struct Line {
    /// From the first line on.
    begins: Vec<Begin>,
    parent: usize,
    states: Vec<(RunMoment, State)>,
    /// The instruction at each.
    places: Vec<Option<Position>>,
    end: String,
}

fn set(debugger: &mut Debugger, change: &Change) -> Result<(), String> {
    let frame = debugger.machine().innermost_frame();
    let set = debugger.assign(frame, &change.0, &change.1);
    set.map(drop).map_err(|error| error.to_string())
}

/// A run without a recording, in which values are set at some moments. `None`: it does not end, or
/// one of them cannot be set.
fn run(program: &Program, begins: &[Begin], parent: usize) -> Option<Line> {
    let mut debugger = program.fresh();
    let (mut states, mut places) = (Vec::new(), Vec::new());
    let mut next = begins.iter().peekable();
    loop {
        let now = moment(&debugger);
        while let Some(begin) = next.next_if(|begin| begin.moment == now) {
            for change in &begin.changes {
                set(&mut debugger, change).ok()?;
            }
        }
        states.push((now, state(&debugger)));
        places.push(debugger.machine().position());
        if states.len() > LONGEST {
            return None;
        }
        let reason = program.step(&mut debugger);
        if reason.is_final() {
            assert!(next.peek().is_none(), "it does not come to where values were set");
            let (begins, end) = (begins.to_vec(), end_of(&reason));
            return Some(Line { begins, parent, states, places, end });
        }
    }
}

/// The hashes of what commands leave in a line, of a session that goes through it once.
fn rows_of(program: &Program, begins: &[Begin]) -> Vec<(u64, Vec<u64>)> {
    let mut debugger = program.recorded(None);
    for begin in begins {
        while moment(&debugger) != begin.moment {
            program.step(&mut debugger);
        }
        for change in &begin.changes {
            set(&mut debugger, change).expect("it could be set there");
        }
    }
    debugger.resume(Resume::Continue);
    rows(&debugger)
}

fn rows(debugger: &Debugger) -> Vec<(u64, Vec<u64>)> {
    let table = debugger.run_table().expect("it is recorded");
    let row = |row: &std::sync::Arc<crate::CommandRow>| {
        (row.number, row.written.iter().map(|it| it.hash).collect())
    };
    table.rows.iter().map(row).collect()
}

/// How a run has ended, without addresses.
fn end_of(reason: &StopReason) -> String {
    match reason {
        StopReason::Completed(_) => crate::tests::going_back::results(reason).join("; "),
        StopReason::Failed(failure) => format!("failed: {failure:?}").chars().take(60).collect(),
        other => format!("{other:?}"),
    }
}

/// A breakpoint that counts.
struct Counter {
    id: BreakpointId,
    at: Position,
    /// From where it counts.
    since: RunMoment,
    compared: usize,
}

struct Session {
    program: &'static Program,
    debugger: Debugger,
    dice: Dice,
    lines: Vec<Line>,
    /// The line in which the program is, from 1.
    here: usize,
    /// Where a change was refused: the next one there would end the past.
    refused: Option<RunMoment>,
    counter: Option<Counter>,
    log: String,
    compared: usize,
}

impl Session {
    fn new(program: &'static Program, seed: u64) -> Self {
        let mut dice = Dice(seed);
        for _ in 0..4 {
            dice.roll(2);
        }
        let every = [None, Some(1), Some(5), Some(20)][dice.roll(4)];
        let first = run(program, &[], 0).expect("it ends");
        let log = format!("{} {seed}, every {every:?}\n", program.name);
        let debugger = program.recorded(every);
        Self {
            program,
            debugger,
            dice,
            lines: vec![first],
            here: 1,
            refused: None,
            counter: None,
            log,
            compared: 0,
        }
    }

    /// Sets the breakpoint that counts, at an instruction that the line has in the oracle.
    fn count(&mut self) {
        let Line { places, states, .. } = self.line();
        let index = self.dice.0 as usize % places.len();
        let Some(at) = places[index].filter(|_| states[index].0.inner_turns().is_none()) else {
            return;
        };
        let Some(address) = self.debugger.program().linear(at) else { return };
        let id = self.debugger.edit_breakpoints().add(BreakpointSpec::Instruction { address });
        let hit_condition = HitCondition::AtLeast(u64::MAX);
        let options = BreakpointOptions { hit_condition, ..BreakpointOptions::default() };
        self.debugger.edit_breakpoints().set_options(id, &options).expect("they are fine");
        let since = moment(&self.debugger);
        let _ = writeln!(self.log, "{at:?} is counted from {}", brief(&since));
        self.counter = Some(Counter { id, at, since, compared: 0 });
    }

    /// The breakpoint counts from the first moment at which the program has stood.
    fn stood(&mut self) {
        let now = moment(&self.debugger);
        if let Some(counter) = &mut self.counter
            && now < counter.since
        {
            counter.since = now;
        }
    }

    /// The breakpoint has counted its visits up to one of the oracle's states.
    fn check_count(&mut self, index: usize) {
        let Some(counter) = &self.counter else { return };
        let Line { states, places, .. } = self.line();
        let met = states[..=index]
            .iter()
            .zip(places)
            .filter(|((moment, _), place)| *moment > counter.since && **place == Some(counter.at));
        let expected = met.count() as u64;
        let hits = self.debugger.breakpoints().get(counter.id).expect("it is there").hits();
        assert_eq!(hits, expected, "{}hits of {:?}", self.log, counter.at);
        self.counter.iter_mut().for_each(|it| it.compared += 1);
    }

    fn line(&self) -> &Line {
        &self.lines[self.here - 1]
    }

    /// What is before a line is of the one that it leaves.
    fn follow(&mut self, now: &RunMoment) {
        while self.line().begins.last().is_some_and(|begin| *now < begin.moment) {
            self.here = self.line().parent;
        }
    }

    /// The program is in the line that the moment says, in its state.
    fn check(&mut self, what: &str) {
        let now = moment(&self.debugger);
        self.follow(&now);
        let _ = writeln!(self.log, "{what}: {} in line {}", brief(&now), self.here);
        assert_eq!(self.debugger.line_of_time(), self.here, "{}", self.log);
        self.stood();
        let found = self.line().states.binary_search_by(|(at, _)| at.cmp(&now));
        if let Ok(index) = found {
            self.compared += 1;
            let same = state(&self.debugger) == self.line().states[index].1;
            assert!(same, "{}the state is another", self.log);
            self.check_count(index);
        }
    }

    /// A program that is over has ended as its line does, and goes back.
    fn check_end(&mut self, reason: &StopReason) {
        let _ = writeln!(self.log, "the end of line {}", self.here);
        assert_eq!(end_of(reason), self.line().end, "{}", self.log);
        let (kind, by) = (KINDS[self.dice.roll(3)], GRANULARITIES[self.dice.roll(3)]);
        self.debugger.go_back(Back::Step(kind, by)).expect("it is recorded");
        self.check(&format!("back by {kind:?} {by:?}"));
    }

    fn step(&mut self) {
        let (kind, by) = (KINDS[self.dice.roll(3)], GRANULARITIES[self.dice.roll(3)]);
        let reason = match self.dice.roll(9) {
            0..4 => self.debugger.resume(Resume::Step(kind, by)),
            4..7 => self.debugger.go_back(Back::Step(kind, by)).expect("it is recorded"),
            7 => self.debugger.go_back(Back::Continue).expect("it is recorded"),
            _ => self.debugger.go_back(Back::ToBegin).expect("it is recorded"),
        };
        if reason.is_final() {
            self.check_end(&reason);
        } else {
            self.check(&format!("{kind:?} {by:?} {reason:?}"));
        }
    }

    /// To some moment of this line.
    fn jump(&mut self) {
        let index = self.dice.roll(self.line().states.len());
        let target = self.line().states[index].0.clone();
        let went = self.debugger.go_to(&target);
        went.unwrap_or_else(|why| panic!("{}{why}: {}", self.log, brief(&target)));
        self.check(&format!("goto {}", brief(&target)));
        assert_eq!(moment(&self.debugger), target, "{}", self.log);
    }

    /// To a moment of a line, or to where that was left. What comes after both part counts anew.
    fn enter(&mut self, number: usize, moment: Option<&RunMoment>) -> StopReason {
        let went = self.debugger.go_to_line(number, moment);
        let reason = went.unwrap_or_else(|why| panic!("{}line {number}: {why}", self.log));
        let [from, to] = [self.here, number].map(|number| &self.lines[number - 1].begins);
        let common = from.iter().zip(to).take_while(|(a, b)| a.line == b.line).count();
        let parting = [from.get(common), to.get(common)].into_iter().flatten();
        let parting = parting.map(|begin| &begin.moment).min();
        if let (Some(counter), Some(parting)) = (&mut self.counter, parting) {
            counter.since = parting.min(&counter.since).clone();
        }
        self.here = number;
        reason
    }

    /// To another line, to where it was left.
    fn change_line(&mut self) {
        let number = 1 + self.dice.roll(self.lines.len());
        if number == self.here {
            self.debugger.go_to_line(number, None).expect_err("it is there");
            return;
        }
        let reason = self.enter(number, None);
        if reason.is_final() {
            self.check_end(&reason);
        } else {
            self.check(&format!("line {number}"));
        }
    }

    /// Sets a value, if there is one that can be set; a line begins.
    fn set(&mut self) {
        let now = moment(&self.debugger);
        let place = self.line().states.binary_search_by(|(at, _)| at.cmp(&now));
        // At its entry, a program has no past.
        if place.is_err()
            || place == Ok(0)
            || self.lines.len() > 6
            || self.refused.as_ref() == Some(&now)
        {
            return;
        }
        let names = self.program.watched;
        let change = (names[self.dice.roll(names.len())].to_owned(), self.dice.roll(9).to_string());
        // The oracle says whether it can be done, and whether the program ends then.
        let line = self.line();
        let mut begins = line.begins.clone();
        let number = self.lines.len() + 1;
        let changes = vec![change.clone()];
        begins.push(Begin { line: number, moment: now.clone(), changes });
        let parent = self.here;
        let oracle = std::panic::catch_unwind(|| run(self.program, &begins, parent));
        let Ok(Some(mut line)) = oracle else { return };
        let before = self.debugger.lines_of_time().expect("it is recorded").len();
        if let Err(why) = set(&mut self.debugger, &change) {
            let _ = writeln!(self.log, "not set: {why}");
            self.refused = Some(now);
            assert!(why.contains("forgets what was recorded"), "{}", self.log);
            return;
        }
        let lines = self.debugger.lines_of_time().expect("it is recorded");
        let _ = writeln!(self.log, "{} = {} at {}", change.0, change.1, brief(&now));
        if lines.len() == before {
            // At the beginning of a line, where nothing else has happened in it.
            line.begins.pop();
            line.parent = self.line().parent;
            let last = line.begins.last_mut().filter(|last| last.moment == now);
            last.unwrap_or_else(|| panic!("{}no line begins", self.log))
                .changes
                .push(change.clone());
            self.lines[self.here - 1] = line;
        } else {
            assert_eq!(lines.len(), self.lines.len() + 1, "{}", self.log);
            let begin = lines.last().and_then(|line| line.begin.clone()).expect("it is a fork");
            assert_eq!((begin.parent, &begin.moment), (self.here, &now), "{}", self.log);
            self.lines.push(line);
            self.here = self.lines.len();
        }
        self.check("after the change");
        self.check_said(&change);
    }

    /// A value that was set is said to be set by hand, if it is another one than before: its
    /// history has changes alone.
    fn check_said(&mut self, (name, _): &Change) {
        let now = moment(&self.debugger);
        let frame = self.debugger.machine().innermost_frame();
        let value = |it: &Debugger| it.machine().evaluate(frame, name).map(|it| it.value);
        let (Ok(after), false) = (value(&self.debugger), name.starts_with("%list")) else { return };
        let found = self.debugger.who_wrote(frame, name);
        let _ = writeln!(self.log, "who-wrote {name}: {found:?}");
        self.stood();
        let (here, parent) = (self.here, self.line().parent);
        let set_in = match &found {
            Ok(StopReason::Found(text)) => text.split_once("by hand here, where line "),
            _ => None,
        };
        let set_in = set_in.and_then(|(_, line)| line.split_once(' ')?.0.parse().ok());
        // It may be set to what it was, where a line before it begins here, too.
        if let Some(set_in) = set_in.filter(|_| moment(&self.debugger) == now) {
            self.here = set_in;
            self.check("where it was set");
        }
        if set_in == Some(here) && moment(&self.debugger) == now {
            let history = self.debugger.value_history(frame, name).expect("it can be watched");
            let last = history.values.last().map(|it| (it.text.clone(), it.by.clone()));
            let by = last.as_ref().and_then(|it| it.1.as_deref()).unwrap_or_default();
            self.check("after the history");
            if by.contains("by hand") {
                return;
            }
        }
        self.enter(parent, Some(&now));
        if let (Ok(_), Ok(before)) = (found, value(&self.debugger)) {
            assert_eq!(before, after, "{}not said to be set by hand", self.log);
        }
        self.enter(here, Some(&now));
        self.check("back in the line");
    }

    /// All visits of an instruction, up to here; the program stays where it is.
    fn look(&mut self) {
        let now = moment(&self.debugger);
        let Line { states, places, .. } = self.line();
        let Some(place) = places[self.dice.0 as usize % places.len()] else { return };
        if self.program.name != "machine" && now.inner_turns().is_some() {
            return;
        }
        let seen =
            states.iter().zip(places).filter(|((at, _), it)| *at <= now && **it == Some(place));
        let expected: Vec<RunMoment> = seen.map(|((at, _), _)| at.clone()).collect();
        let Some(address) = self.debugger.program().linear(place) else { return };
        let spec = BreakpointSpec::Instruction { address };
        let found = self.debugger.visits(&spec, &[]).expect("it is recorded");
        let found: Vec<RunMoment> = found.visits.into_iter().map(|it| it.moment).collect();
        self.check("after visits");
        assert_eq!(moment(&self.debugger), now, "{}", self.log);
        let brief = |all: &[RunMoment]| all.iter().map(brief).collect::<Vec<_>>();
        assert_eq!(brief(&found), brief(&expected), "{}visits of {place:?}", self.log);
    }

    /// Each line is still what it was: at some moments, and at its end.
    fn check_lines(&mut self) {
        for number in 1..=self.lines.len() {
            let states = &self.lines[number - 1].states;
            let begin = self.lines[number - 1].begins.last().map(|it| it.moment.clone());
            let own: Vec<RunMoment> = states
                .iter()
                .map(|(at, _)| at.clone())
                .filter(|at| begin.as_ref().is_none_or(|begin| at >= begin))
                .collect();
            for _ in 0..3 {
                let target = own[self.dice.roll(own.len())].clone();
                self.enter(number, Some(&target));
                self.check(&format!("line {number}, {}", brief(&target)));
            }
            let reason = self.debugger.resume(Resume::Continue);
            assert_eq!(end_of(&reason), self.line().end, "{}", self.log);
            let expected = rows_of(self.program, &self.line().begins);
            assert_eq!(rows(&self.debugger), expected, "{}rows of line {number}", self.log);
            self.debugger.go_back(Back::ToBegin).expect("it is recorded");
            self.here = 1;
            self.check("to the beginning");
        }
    }
}

fn walk(program: &'static Program, seed: u64) {
    let mut session = Session::new(program, seed);
    for turn in 0..50 {
        if turn == [0, 7, 20][session.dice.0 as usize % 3] && session.counter.is_none() {
            session.count();
        }
        match session.dice.roll(10) {
            0 | 1 => session.jump(),
            2 | 3 => session.set(),
            4 => session.change_line(),
            5 => session.look(),
            _ => session.step(),
        }
    }
    session.check_lines();
    assert!(session.compared > 20, "{} states compared", session.compared);
    assert!(session.counter.is_none_or(|it| it.compared > 5), "counts were compared");
}

#[test]
fn each_line_is_what_it_is_without_a_recording() {
    super::check(1..5, |seed| walk(machine_program(), seed));
    super::check(1..4, |seed| walk(device_program(false), seed));
    super::check(1..5, |seed| walk(device_program(true), seed));
}
