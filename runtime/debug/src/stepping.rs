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

use vm::{Context, Invocation, Observer, Position, Reaction};

use crate::program::{LineKey, Program};
use crate::stop::{Granularity, StepKind};

/// Where a step began and how it was meant.
#[derive(Clone, Debug)]
pub(crate) struct StepPlan {
    pub(crate) kind: StepKind,
    granularity: Granularity,
    origin: Position,
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
        origin: Position,
        depth: usize,
    ) -> Self {
        let line = program.line_of(origin);
        let granularity = if line.is_none() { Granularity::Instruction } else { granularity };
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
            || (depth == self.depth && position == self.origin)
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
                Verdict::RunToReturn
            }
            (StepKind::Into, Granularity::Line) => match program.line_of(position) {
                Some(_) => Verdict::Stop,
                None => Verdict::GoOn,
            },
        }
    }
}

/// Carries a plan through the instrumented loop and remembers its last verdict.
pub(crate) struct StepObserver<'a> {
    pub(crate) plan: &'a StepPlan,
    pub(crate) program: &'a Program,
    pub(crate) verdict: Verdict,
}

impl Observer for StepObserver<'_> {
    fn before_instruction(
        &mut self,
        _context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> Reaction {
        self.verdict = self.plan.verdict(self.program, position, invocation.depth());
        match self.verdict {
            Verdict::GoOn => Reaction::Continue,
            Verdict::Stop | Verdict::RunToReturn => Reaction::Stop,
        }
    }
}
