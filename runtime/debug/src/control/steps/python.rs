//! Where a step by a line of Python ends.
//!
//! Operations belong to lines of Python, and to calls of its functions. The program runs them in an
//! order of its own, and nothing in it calls or returns. So a step is made of steps of the program,
//! and this file says, of the calls of Python before and after one, whether its user has arrived:
//!
//! - in the same call, on another line, or when the same line runs once more, as in a loop;
//! - where the call is over: in the call around it, at the line that goes on there;
//! - stepping in: in a call that the line makes.
//!
//! Where the next operation is of a call that the user has not stepped into, the frames of that
//! call are hidden: the program stands before it, on the line that makes it.
//!
//! A dispatch runs the fused operations of several lines for each element, so only a step in goes
//! from line to line there; a step over leads out of it. `python_steps` runs the program.

use debuginfo::PythonFrame;
use vm::Position;

use crate::control::stop::{Granularity, StepKind};

/// A step by a line of Python.
#[derive(Clone, Debug)]
pub(crate) struct PythonStep {
    pub(crate) kind: StepKind,
    pub(crate) granularity: Granularity,
    /// The calls that its user saw when it began, outermost first.
    from: Vec<PythonFrame>,
    /// The instruction at which it began, or that has recorded the command; `None` in a dispatch.
    pub(crate) place: Option<Position>,
}

impl PythonStep {
    /// A step from calls of Python; `None` if there are none.
    pub(crate) fn new(
        kind: StepKind,
        granularity: Granularity,
        from: Vec<PythonFrame>,
        place: Option<Position>,
    ) -> Option<Self> {
        let is_one = granularity != Granularity::Instruction && !from.is_empty();
        is_one.then_some(Self { kind, granularity, from, place })
    }

    /// How many calls its user saw when it began.
    pub(crate) fn shown(&self) -> usize {
        self.from.len()
    }

    /// Whether it leads out of the outermost call, which is no matter of Python.
    pub(crate) fn leaves_program(&self) -> bool {
        self.kind == StepKind::Out && self.from.len() == 1
    }

    /// If a step forward ends before the next operation of these calls, how many are shown.
    /// `is_again`: a loop of the program has come to where the step began.
    pub(crate) fn arrival(&self, now: &[PythonFrame], is_again: bool) -> Option<usize> {
        let depth = self.from.len();
        if now.is_empty() {
            return None;
        }
        if self.left(now) {
            return Some(shared(&self.from, now).max(1));
        }
        let own = &self.from[depth - 1];
        let is_elsewhere = is_again && own.may_repeat || !is_same_line(own, &now[depth - 1]);
        match self.kind {
            StepKind::Out => None,
            _ if is_elsewhere => Some(depth),
            StepKind::Into if now.len() > depth => Some(depth + 1),
            _ => None,
        }
    }

    /// If a step back ends at an operation of these calls, how many are shown. Where the call was
    /// not yet made, [`Self::left`] says so.
    pub(crate) fn arrival_back(&self, now: &[PythonFrame]) -> Option<usize> {
        let depth = self.from.len();
        if now.is_empty() || self.left(now) {
            return None;
        }
        let is_elsewhere = !is_same_line(&self.from[depth - 1], &now[depth - 1]);
        match self.kind {
            StepKind::Over if is_elsewhere => Some(depth),
            StepKind::Into if is_elsewhere || now.len() > depth => Some(now.len()),
            _ => None,
        }
    }

    /// Whether the call in which it began is none of these.
    pub(crate) fn left(&self, now: &[PythonFrame]) -> bool {
        shared(&self.from, now) < self.from.len()
    }

    /// How many calls are shown where the call in which it began is yet to be made.
    pub(crate) fn before_call(&self) -> usize {
        (self.from.len() - 1).max(1)
    }
}

/// Whether the first calls of both, as many as are shown, are on the same lines.
pub(crate) fn is_on_same_lines(one: &[PythonFrame], other: &[PythonFrame], shown: usize) -> bool {
    shared(one, other) >= shown
        && one.iter().zip(other).take(shown).all(|(one, other)| is_same_line(one, other))
}

/// How many calls both are in, from the outermost. A call is another one where another line has
/// made it, also if a framework has traced its function only once.
fn shared(one: &[PythonFrame], other: &[PythonFrame]) -> usize {
    let mut is_same_around = true;
    let is_same = |(one, other): &(&PythonFrame, &PythonFrame)| {
        let is_same = is_same_around && is_same_call(one, other);
        is_same_around = is_same_line(one, other);
        is_same
    };
    one.iter().zip(other).take_while(is_same).count()
}

/// Functions that a framework traces apart have no calls, only frames.
fn is_same_call(one: &PythonFrame, other: &PythonFrame) -> bool {
    one.call == other.call && one.function == other.function
}

/// Whether one run of a line has made both.
fn is_same_line(one: &PythonFrame, other: &PythonFrame) -> bool {
    let line = |it: &PythonFrame| (it.position.file, it.position.line);
    one.event == other.event && (one.event.is_some() || line(one) == line(other))
}
