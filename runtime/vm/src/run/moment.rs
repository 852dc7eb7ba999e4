//! When: how far an invocation has come, so that any instruction of any run has a name.
//!
//! Between two backward branches or calls, a frame runs each instruction at most once, and offsets
//! only grow. So the number of these turns, the depth of the stack (returns only lower it) and the
//! offset name an instruction, and their order is the order in time:
//!
//! ```text
//! turns 41, depth 2, offset 0x30  <  turns 41, depth 2, offset 0x38  <  turns 41, depth 1, offset 0x10
//! ```
//!
//! Turns are counted in any case (`limits/meter`), by runs that no one watches too, and stepping
//! counts the same ones. What a native function does has a time of its own, because it may happen
//! on other threads or not: the turns in it do not count outside, and its [progress] names the
//! place.
//!
//! [progress]: crate::Activity::progress

use std::cmp::{Ordering, Reverse};

use vmfb::BytecodeOffset;

use super::invocation::Invocation;
use super::outcome::Outcome;
use crate::context::Context;
use crate::native::Activity;
use crate::position::{FunctionId, Position};
use crate::stack::FrameState;

/// The moment of an invocation. Later ones are greater. Its text (`moment_text`) means the same
/// moment in each run of a deterministic program.
#[derive(Clone, Debug)]
pub struct Moment {
    pub(super) outer: Instant,
    /// Where the outermost native function is, if one runs.
    pub(super) progress: Option<Vec<u64>>,
    /// Where a function is that it has called.
    pub(super) inner: Option<Instant>,
    /// The same moments have the same; one that was read from text has none.
    pub(super) function: Option<FunctionId>,
}

/// A moment among bytecode.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Instant {
    pub(super) turns: u64,
    pub(super) depth: Reverse<usize>,
    pub(super) offset: BytecodeOffset,
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) = (&self.outer, &other.outer);
        let outer = own.cmp(others).then_with(|| self.progress.cmp(&other.progress));
        outer.then_with(|| self.inner.cmp(&other.inner))
    }
}

/// The place of a moment outside of native functions, in any run of the same program. Later ones
/// are greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MomentKey {
    /// The backward branches and calls before it.
    pub turns: u64,
    /// The number of frames.
    pub depth: Reverse<usize>,
    /// The next instruction of the innermost frame.
    pub offset: BytecodeOffset,
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Moment {}

impl Moment {
    /// How many backward branches and calls were made before it, outside of native functions.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.outer.turns
    }

    /// The number of frames that are neither native nor called by native functions.
    #[must_use]
    pub fn outer_depth(&self) -> usize {
        self.outer.depth.0
    }

    /// A key of a moment outside of native functions, in their order.
    #[must_use]
    pub fn key(&self) -> MomentKey {
        let Instant { turns, depth, offset } = self.outer;
        MomentKey { turns, depth, offset }
    }

    /// The instruction that is next, unless a native function runs.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        let position = Position { function: self.function?, offset: self.outer.offset };
        (!self.is_in_native()).then_some(position)
    }

    /// Whether it was read from text, and may be of another program.
    #[must_use]
    pub fn is_from_text(&self) -> bool {
        self.function.is_none()
    }

    /// Whether a native function runs.
    #[must_use]
    pub fn is_in_native(&self) -> bool {
        self.progress.is_some()
    }

    /// Whether both are at one instruction of the program, in one call of a native function if one
    /// is called.
    #[must_use]
    pub fn is_in_same_call(&self, other: &Self) -> bool {
        self.outer == other.outer
    }

    /// How far the native function has come: [`crate::Activity::progress`].
    #[must_use]
    pub fn progress(&self) -> &[u64] {
        self.progress.as_deref().unwrap_or_default()
    }

    /// How many turns the function has made that the native function called, if it is in one.
    #[must_use]
    pub fn inner_turns(&self) -> Option<u64> {
        Some(self.inner.as_ref()?.turns)
    }

    /// An earlier moment of the native function that runs, by its progress.
    #[must_use]
    pub fn at_progress(&self, progress: &[u64]) -> Self {
        Self { progress: Some(progress.to_vec()), inner: None, ..self.clone() }
    }
}

/// The time of an invocation.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The turns that were made in native functions that have returned.
    inside: u64,
    /// The turns of the meter when the outermost native function on the stack began.
    entered: u64,
    /// Where it stops, outside of native functions,
    goal: Option<u64>,
    /// in the function that a native function has called,
    has_inner_goal: bool,
    /// or when the native function has returned.
    stops_after_native: bool,
    /// When the recorder wants to be asked again.
    due: Option<u64>,
}

impl Invocation {
    /// How far the invocation has come. `None` before it has begun, and where only another thread
    /// knows: in a workgroup that began on it.
    #[must_use]
    pub fn moment(&self, context: &Context) -> Option<Moment> {
        let native = self.natives.first();
        let depth = native.map_or(self.stack.frames.len(), |native| native.depth);
        let frame = self.stack.frames.get(depth.checked_sub(1)?)?;
        let outer = instant(context, frame, self.own_turns(), depth);
        let function = Some(context.functions[frame.slot as usize].id());
        let Some(native) = native else {
            return Some(Moment { outer, progress: None, inner: None, function });
        };
        let progress = native.activity().map(Activity::progress).unwrap_or_default();
        let frames = self.stack.frames.len();
        let inner = match self.stack.frames.last().filter(|_| frames > native.depth) {
            None => None,
            Some(frame) => {
                let turns = self.meter.turns().checked_sub(native.called_at?)?;
                Some(instant(context, frame, turns, frames - native.depth))
            }
        };
        Some(Moment { outer, progress: Some(progress), inner, function })
    }

    /// Makes it stop after this many turns, outside of native functions, however it runs:
    /// [`crate::Stop::Turn`].
    pub fn set_goal(&mut self, turns: Option<u64>) {
        self.clock.goal = turns;
        self.set_halt();
    }

    /// Runs until the function that a native function has called has made this many turns.
    pub fn run_to_inner_turn(&mut self, context: &mut Context, turns: u64) -> Outcome {
        let called_at = self.natives.last().and_then(|native| native.called_at);
        self.clock.has_inner_goal = called_at.is_some();
        self.meter.halt_at(called_at.map(|called_at| called_at.saturating_add(turns)));
        let outcome = self.run(context);
        self.clock.has_inner_goal = false;
        self.set_halt();
        outcome
    }

    /// How many turns the function has made that a native function has called last, if that has
    /// just returned.
    #[must_use]
    pub fn turns_of_last_part(&self) -> Option<u64> {
        self.meter.turns().checked_sub(self.natives.last()?.called_at?)
    }

    /// Runs until no native function is on the stack.
    pub fn run_native(&mut self, context: &mut Context) -> Outcome {
        self.clock.stops_after_native = true;
        let outcome = self.run(context);
        self.clock.stops_after_native = false;
        outcome
    }

    /// The turns outside of native functions.
    pub(super) fn own_turns(&self) -> u64 {
        let turns = if self.natives.is_empty() { self.meter.turns() } else { self.clock.entered };
        turns - self.clock.inside
    }

    /// Whether it has come to where it was to run.
    pub(super) fn is_at_goal(&self) -> bool {
        self.clock.has_inner_goal || self.clock.goal.is_some_and(|goal| goal <= self.own_turns())
    }

    /// Whether it is to stop where a native function has returned.
    pub(super) fn stops_after_native(&self) -> bool {
        self.clock.stops_after_native && self.natives.is_empty()
    }

    fn set_halt(&mut self) {
        let next = self.clock.goal.into_iter().chain(self.clock.due).min();
        let next = next.filter(|_| self.natives.is_empty());
        self.meter.halt_at(next.map(|turns| turns.saturating_add(self.clock.inside)));
    }

    /// A native function begins that does not return at once.
    pub(super) fn enter_native(&mut self) {
        if self.natives.len() == 1 {
            self.clock.entered = self.meter.turns();
            self.meter.halt_at(None);
        }
    }

    /// A native function has returned.
    pub(super) fn leave_native(&mut self) {
        if self.natives.is_empty() {
            self.clock.inside += self.meter.turns() - self.clock.entered;
            self.set_halt();
        }
    }

    /// The innermost native function calls a function.
    pub(super) fn note_call(&mut self) {
        let turns = self.meter.turns();
        if let Some(native) = self.natives.last_mut() {
            native.called_at = Some(turns);
        }
    }

    /// The innermost native function goes on with frames that began elsewhere.
    pub(super) fn note_adoption(&mut self) {
        if let Some(native) = self.natives.last_mut() {
            native.called_at = None;
        }
    }

    /// Lets a new recorder look. What it says decides when it is asked again.
    pub fn ask_recorder(&mut self, context: &Context) {
        self.record(context);
    }

    /// How many backward branches and calls were made, outside of native functions.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.own_turns()
    }

    /// Lets the recorder look, where nothing native is on the stack.
    pub(super) fn record(&mut self, context: &Context) {
        if !self.natives.is_empty() {
            return;
        }
        let Some(mut recorder) = self.recorder.take() else { return };
        self.clock.due = recorder.at_rest(context, self);
        self.recorder = Some(recorder);
        self.set_halt();
    }
}

impl Invocation {
    /// Lets the recorder look, before a step of a native function that nothing else has called.
    pub(super) fn record_step(&mut self, context: &Context) {
        if self.natives.len() != 1 {
            return;
        }
        let Some(mut recorder) = self.recorder.take() else { return };
        recorder.before_step(context, self);
        self.recorder = Some(recorder);
    }
}

fn instant(context: &Context, frame: &FrameState, turns: u64, depth: usize) -> Instant {
    let offset = context.code(frame.slot).offset_at(frame.index);
    Instant { turns, depth: Reverse(depth), offset }
}
