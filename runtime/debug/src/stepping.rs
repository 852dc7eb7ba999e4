//! Deciding where a step ends.
//!
//! A step looks at every instruction before it runs, through the instrumented instance of the
//! interpreter's loop, and only while it is in the frame that it began in. Calls that are stepped
//! over run at full speed to a temporary breakpoint at the return point; [`crate::Debugger`] does
//! that, this file only says when.
//!
//! The rules for a step by line that began on line L of a frame:
//!
//! - another line of the same frame: stop;
//! - the very instruction that the step began at, again: stop (one turn of a loop written on one line);
//! - a callee, stepping in: stop at its first instruction that has a line, or run it to its end if
//!   it has no source map;
//! - the caller, after a return: stop at the first instruction that has a line.
//!
//! Instructions without a line never stop such a step. Where the frame itself has no line, a step
//! by line is a step by instruction.
//!
//! Native code that goes on in steps (a device that executes commands) is entered like a callee: a
//! step in stops where its first step begins, and from there where the first part of that begins, and
//! from there in the bytecode that the part runs. A step over goes from one step, or part, to the
//! next. Behind a step is no place to stop at, unless one comes out of it.

use vm::{BoundaryKind, Context, Invocation, Observer, Position, Reaction};

use crate::breakpoint::BreakpointTable;

use crate::program::{LineKey, Program};
use crate::stop::{Granularity, StepKind};
use crate::watch::Watcher;

/// What a step began at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// An instruction.
    Bytecode(Position),
    /// Native code.
    Native,
}

/// Where a step began and how it was meant.
#[derive(Clone, Debug)]
pub(crate) struct StepPlan {
    pub(crate) kind: StepKind,
    granularity: Granularity,
    origin: Origin,
    line: Option<LineKey>,
    /// Frames on the stack when the step began.
    pub(crate) depth: usize,
}

/// What to do before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The step goes on.
    GoOn,
    /// The step ends here.
    Stop,
    /// The step is in a callee that it should not look at: run to the return.
    RunToReturn,
}

impl StepPlan {
    pub(crate) fn new(
        program: &Program,
        kind: StepKind,
        granularity: Granularity,
        origin: Origin,
        depth: usize,
    ) -> Self {
        let (line, granularity) = match origin {
            Origin::Bytecode(position) => match program.line_of(position) {
                None => (None, Granularity::Instruction),
                line => (line, granularity),
            },
            Origin::Native => (None, granularity),
        };
        Self { kind, granularity, origin, line, depth }
    }

    pub(crate) fn verdict(&self, program: &Program, position: Position, depth: usize) -> Verdict {
        if program.is_marker(position) && self.kind == StepKind::Into {
            return Verdict::GoOn;
        }
        if depth > self.depth {
            return self.verdict_in_callee(program, position);
        }
        if self.granularity == Granularity::Instruction
            || (depth == self.depth && Origin::Bytecode(position) == self.origin)
        {
            return Verdict::Stop;
        }
        match program.line_of(position) {
            None => Verdict::GoOn,
            line if depth == self.depth && line == self.line => Verdict::GoOn,
            Some(_) => Verdict::Stop,
        }
    }

    fn verdict_in_callee(&self, program: &Program, position: Position) -> Verdict {
        match (self.kind, self.granularity) {
            (StepKind::Over | StepKind::Out, _) => Verdict::RunToReturn,
            (StepKind::Into, Granularity::Instruction) => Verdict::Stop,
            (StepKind::Into, Granularity::Line) if !program.has_lines(position.function) => {
                // Who steps into a part of native code wants to see what it runs.
                if self.origin == Origin::Native { Verdict::Stop } else { Verdict::RunToReturn }
            }
            (StepKind::Into, Granularity::Line) => match program.line_of(position) {
                Some(_) => Verdict::Stop,
                None => Verdict::GoOn,
            },
        }
    }
}

impl StepPlan {
    /// What to do where native code begins to go on in steps.
    fn verdict_before_activity(&self, depth: usize) -> Verdict {
        match self.kind {
            StepKind::Over | StepKind::Out if depth > self.depth => Verdict::RunToReturn,
            _ => Verdict::GoOn,
        }
    }

    /// What to do before or behind a step of native code, or before a part of one.
    fn verdict_at_boundary(&self, kind: BoundaryKind, depth: usize) -> Verdict {
        match kind {
            _ if depth < self.depth => Verdict::Stop,
            BoundaryKind::AfterStep => Verdict::GoOn,
            _ if depth == self.depth || self.kind == StepKind::Into => Verdict::Stop,
            _ => Verdict::RunToReturn,
        }
    }
}

/// Carries a plan through the instrumented loop and remembers its last verdict.
pub(crate) struct StepObserver<'a> {
    pub(crate) plan: &'a StepPlan,
    pub(crate) program: &'a Program,
    pub(crate) breakpoints: &'a BreakpointTable,
    pub(crate) verdict: Verdict,
    pub(crate) watcher: &'a mut Watcher,
}

impl Observer for StepObserver<'_> {
    fn before_instruction(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> Reaction {
        let is_found =
            self.watcher.is_needed() && self.watcher.before(context, invocation, position);
        self.verdict = self.plan.verdict(self.program, position, invocation.depth());
        if is_found { Reaction::Stop } else { self.verdict.reaction() }
    }

    fn before_activity(&mut self, _context: &Context, invocation: &Invocation) -> Reaction {
        self.verdict = self.plan.verdict_before_activity(invocation.depth());
        self.verdict.reaction()
    }

    fn at_boundary(&mut self, _context: &Context, invocation: &Invocation) -> Reaction {
        let Some(boundary) = invocation.boundary() else { return Reaction::Continue };
        self.verdict = self.plan.verdict_at_boundary(boundary.kind, invocation.depth());
        // Whether a breakpoint counts it is for the debugger to find out, once.
        let is_trapped = self.watcher.traps.watches_dispatches();
        if is_trapped || self.breakpoints.is_at_boundary(boundary) {
            return Reaction::Stop;
        }
        self.verdict.reaction()
    }
}

impl Verdict {
    fn reaction(self) -> Reaction {
        match self {
            Self::GoOn => Reaction::Continue,
            Self::Stop | Self::RunToReturn => Reaction::Stop,
        }
    }
}
