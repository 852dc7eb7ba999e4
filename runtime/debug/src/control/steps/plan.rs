//! Where a step ends.
//!
//! A step looks at every instruction before it runs, through the instrumented instance of the
//! interpreter's loop, and only while it is in the frame in which it began. Calls that are stepped
//! over run at full speed to a temporary breakpoint at the return point. This file only says when;
//! `step` does it.
//!
//! The rules for a step by line that began on line L of a frame:
//!
//! - another line of the same frame: stop;
//! - the instruction at which the step began, again: stop (one turn of a loop written on one line);
//! - a callee, stepping in: stop at its first instruction that has a line, or run it to its end if
//!   it has no source map;
//! - the caller, after a return: stop at the first instruction that has a line, or at the first one
//!   if it has no source map.
//!
//! An inlined call has no frame of the machine, but the user sees one, so these rules hold for it
//! as well (the frames and their places are the instruction's path, [`Path`]): a step over passes
//! its code, a step out leaves it, and a step in enters it. If a line consists only of the code of
//! a call, a step stops before the call: the program stands at the first instruction of the call,
//! whose frame is hidden. A step in then shows the frame and runs nothing.
//!
//! Instructions without a line never stop such a step. If the frame itself has no line, a step by
//! line is a step by instruction; but where all lines of a function are in dispatches, a step over
//! leads to the next one, and so does any step from code that the level of the model does not show.
//!
//! A step by statement is like a step by line, except that operations at other columns of a line
//! count as other lines.
//!
//! The compiler may split a function (`f` waits for what `f$async` does). To the user the parts are
//! one function, so a step passes from one to the other and back, and stops where the line changes.
//!
//! At the levels of the model and the source, the lines of tensors are where dispatches run. So a
//! step by line from the program around them stops before the next dispatch that the program
//! executes; at the level of the model also before a copy or a fill that the source says.
//!
//! Otherwise, native code that runs in steps (a device that executes commands) is entered like a
//! callee: a step in stops at the beginning of its first step, from there at the beginning of that
//! step's first part, and from there in the bytecode that the part runs. A step over advances to
//! the next step, or part. After a step there is no stop, unless one steps out of it.

use std::cmp::Ordering;

use debuginfo::SourcePosition;
use vm::{BoundaryKind, Invocation, Position, Reaction};

use crate::control::stop::{Granularity, StepKind};
use crate::target::lines::{LineKey, Lines};

/// Where a step began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// An instruction.
    Bytecode(Position),
    /// Native code.
    Native,
}

/// The places of an instruction, from its function inwards: those of the inlined calls, and its own
/// last.
type Path = [SourcePosition];

impl Granularity {
    /// The line or statement of an instruction, for steps of this size.
    fn line_of(self, lines: Lines<'_>, position: Position) -> Option<LineKey> {
        match self {
            Self::Statement => lines.statement_of(position),
            Self::Line | Self::Instruction => lines.line_of(position),
        }
    }
}

/// Where a step began, and its kind.
#[derive(Clone, Debug)]
pub(crate) struct StepPlan {
    pub(crate) kind: StepKind,
    granularity: Granularity,
    origin: Origin,
    /// The line where it began; none if it began before an inlined call.
    line: Option<LineKey>,
    /// Whether it stops where it began when it comes there again.
    stops_again: bool,
    /// The frames that the user saw.
    path: Vec<SourcePosition>,
    /// Frames on the stack when the step began.
    pub(crate) depth: usize,
}

/// What to do before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The step continues.
    GoOn,
    /// The step ends here.
    Stop,
    /// The step is in a callee that it skips: run to the return.
    RunToReturn,
}

impl StepPlan {
    /// A step from where the program stands, with `depth` frames of the machine, before
    /// `hidden_calls` inlined calls.
    pub(crate) fn new(
        lines: Lines<'_>,
        kind: StepKind,
        granularity: Granularity,
        origin: Origin,
        depth: usize,
        hidden_calls: usize,
    ) -> Self {
        let Origin::Bytecode(position) = origin else {
            let (line, path) = (None, Vec::new());
            return Self { kind, granularity, origin, line, stops_again: true, path, depth };
        };
        let mut path = lines.path_of(position);
        path.truncate(path.len().saturating_sub(hidden_calls).max(1));
        let line = granularity.line_of(lines, position);
        let granularity = match line {
            None if kind == StepKind::Over && lines.is_all_dispatched(position.function) => {
                granularity
            }
            None if lines.only_arranges(position) => granularity,
            None if kind != StepKind::Out => Granularity::Instruction,
            _ => granularity,
        };
        let line = line.filter(|_| hidden_calls == 0 && kind != StepKind::Out);
        Self { kind, granularity, origin, line, stops_again: true, path, depth }
    }

    /// A step to the next line, from an instruction that has none.
    pub(crate) fn between_lines(
        kind: StepKind,
        granularity: Granularity,
        position: Position,
        depth: usize,
    ) -> Self {
        let (origin, line, path) = (Origin::Bytecode(position), None, Vec::new());
        Self { kind, granularity, origin, line, stops_again: true, path, depth }
    }

    /// The rest of a step that began somewhere on the line: to another line.
    pub(crate) fn begun_before(self) -> Self {
        Self { stops_again: false, ..self }
    }

    pub(crate) fn verdict(&self, lines: Lines<'_>, position: Position, depth: usize) -> Verdict {
        if lines.program.is_marker(position) && self.kind == StepKind::Into {
            return Verdict::GoOn;
        }
        if depth > self.depth {
            if self.kind == StepKind::Over && self.is_part_of_origin(lines, position) {
                return self.verdict_in_part(lines, position);
            }
            return self.verdict_in_callee(lines, position);
        }
        if depth < self.depth && self.is_part_of_origin(lines, position) {
            return self.verdict_in_part(lines, position);
        }
        let is_same_frame = depth == self.depth;
        let is_again = is_same_frame
            && self.stops_again
            && self.line.is_some()
            && Origin::Bytecode(position) == self.origin;
        if self.granularity == Granularity::Instruction || is_again {
            return Verdict::Stop;
        }
        match self.granularity.line_of(lines, position) {
            // Without lines there is no telling where this would end.
            None if depth < self.depth && !lines.has_lines(position.function) => Verdict::Stop,
            None => Verdict::GoOn,
            line if is_same_frame && line == self.line => Verdict::GoOn,
            Some(_) if is_same_frame => match self.arrival(&lines.path_of(position)) {
                Some(_) => Verdict::Stop,
                None => Verdict::GoOn,
            },
            Some(_) => Verdict::Stop,
        }
    }

    /// If the step stops at an instruction of the machine's frame in which it began: before how
    /// many inlined calls it stops.
    fn arrival(&self, path: &Path) -> Option<usize> {
        let (Some(here), Some(innermost)) = (self.path.last(), path.len().checked_sub(1)) else {
            return Some(0);
        };
        let frame = self.path.len() - 1;
        let shared = self.path.iter().zip(path).take_while(|(old, new)| old == new).count();
        let Some(place) = path.get(frame).filter(|_| shared >= frame) else {
            // The frame is gone; the step stops in the innermost outer frame that is left.
            return Some(innermost - shared.min(innermost));
        };
        let is_same_line = (place.file, place.line) == (here.file, here.line)
            && (self.granularity != Granularity::Statement || place.column == here.column);
        let calls = innermost - frame;
        match self.kind {
            StepKind::Out => None,
            StepKind::Into if is_same_line && calls > 0 => Some(calls - 1),
            _ if is_same_line => None,
            _ => Some(calls),
        }
    }

    /// Before how many inlined calls the program stands, now that the step has ended at an
    /// instruction.
    pub(crate) fn hidden_calls(&self, lines: Lines<'_>, position: Position, depth: usize) -> usize {
        if self.granularity == Granularity::Instruction && self.kind != StepKind::Out {
            return 0;
        }
        let path = lines.path_of(position);
        match depth.cmp(&self.depth) {
            Ordering::Less => 0,
            Ordering::Equal if self.granularity.line_of(lines, position) == self.line => 0,
            Ordering::Equal => self.arrival(&path).unwrap_or(0),
            // The user has not seen the function yet.
            Ordering::Greater => path.len().saturating_sub(1),
        }
    }

    /// Whether an instruction is in another part of the source function in which the step began.
    fn is_part_of_origin(&self, lines: Lines<'_>, position: Position) -> bool {
        let Origin::Bytecode(origin) = self.origin else { return false };
        self.granularity != Granularity::Instruction
            && lines.level.is_source()
            && origin.function != position.function
            && lines.program.is_same_source(origin.function, position.function)
    }

    fn verdict_in_part(&self, lines: Lines<'_>, position: Position) -> Verdict {
        match (self.granularity.line_of(lines, position), &self.line) {
            (Some(here), Some(origin)) if here.is_same_line(origin) => Verdict::GoOn,
            (Some(_), _) => Verdict::Stop,
            (None, _) => Verdict::GoOn,
        }
    }

    /// Whether a step advances to the next dispatch, wherever that is.
    fn goes_by_dispatch(&self, lines: Lines<'_>) -> bool {
        self.kind == StepKind::Over
            && self.granularity != Granularity::Instruction
            && lines.level.is_source()
    }

    fn verdict_in_callee(&self, lines: Lines<'_>, position: Position) -> Verdict {
        match (self.kind, self.granularity) {
            (StepKind::Over | StepKind::Out, _) => Verdict::RunToReturn,
            (StepKind::Into, Granularity::Instruction) => Verdict::Stop,
            (StepKind::Into, _) if !lines.has_lines(position.function) => {
                // A step into a part of native code is meant to show the code that it runs.
                if self.origin == Origin::Native { Verdict::Stop } else { Verdict::RunToReturn }
            }
            (StepKind::Into, _) => match lines.line_of(position) {
                Some(_) if lines.is_ahead_of_entry(position) => Verdict::GoOn,
                Some(_) => Verdict::Stop,
                None => Verdict::GoOn,
            },
        }
    }
}

impl StepPlan {
    /// What to do where native code begins to run in steps.
    pub(crate) fn verdict_before_activity(&self, lines: Lines<'_>, depth: usize) -> Verdict {
        match self.kind {
            StepKind::Over if self.goes_by_dispatch(lines) => Verdict::GoOn,
            StepKind::Over | StepKind::Out if depth > self.depth => Verdict::RunToReturn,
            _ => Verdict::GoOn,
        }
    }

    /// What to do before or after a step of native code, or before a part of one.
    pub(crate) fn verdict_at_boundary(&self, lines: Lines<'_>, invocation: &Invocation) -> Verdict {
        let Some(boundary) = invocation.boundary() else { return Verdict::GoOn };
        let depth = invocation.depth();
        let by_dispatch = self.goes_by_dispatch(lines);
        let is_operation = || lines.is_at_operation(invocation);
        match boundary.kind {
            BoundaryKind::BeforeStep if by_dispatch && is_operation() => Verdict::Stop,
            BoundaryKind::BeforeStep if by_dispatch => Verdict::GoOn,
            BoundaryKind::BeforePart if by_dispatch && depth > self.depth => Verdict::GoOn,
            _ if depth < self.depth => Verdict::Stop,
            BoundaryKind::AfterStep => Verdict::GoOn,
            _ if depth == self.depth || self.kind == StepKind::Into => Verdict::Stop,
            _ => Verdict::RunToReturn,
        }
    }
}

impl Verdict {
    pub(crate) fn reaction(self) -> Reaction {
        match self {
            Self::GoOn => Reaction::Continue,
            Self::Stop | Self::RunToReturn => Reaction::Stop,
        }
    }
}
