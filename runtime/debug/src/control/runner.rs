//! Stretches: running until the machine reports something, and deciding whether that stops the
//! program.
//!
//! Steps are made of stretches (`step`); everything else that runs a stopped program is made of
//! steps (`resume`, `moves`).

use vm::{
    BoundaryKind, Context, Failure, FrameFunction, FrameIndex, Invocation, Moment, Outcome,
    Position, Stop, Value, Watch,
};

use super::breakpoints::active::ActiveBreakpoints;
use super::breakpoints::spec::BreakpointId;
use super::breakpoints::table::BreakpointTable;
use super::float_search::Floats;
use super::kept_dispatch::KeptDispatch;
use super::kept_dispatch::outcome::DispatchRerun;
use super::record::tape::Recording;
use super::steps::observers::{StepObserver, WatchObserver};
use super::steps::plan::{StepPlan, Verdict};
use super::steps::python::PythonStep;
use super::stop::{DataUser, Granularity, StepKind, StopReason};
use super::traps::dispatches::DispatchTraps;
use super::traps::settings::Traps;
use super::twins::Twins;
use super::watcher::Watcher;
use crate::inspect::step_in_targets::Call;
use crate::interrupt::{InterruptHandle, Waiting};
use crate::machine::{Machine, Phase};
use crate::target::program::Called;

/// The rest of a [`super::stop::Resume`] that was paused.
#[derive(Debug)]
pub(super) enum Unfinished {
    ToEntry,
    /// Into a dispatch whose bytecode is not compiled yet.
    Enter {
        kind: StepKind,
        granularity: Granularity,
    },
    Step {
        plan: StepPlan,
        in_initialisers: bool,
    },
    /// Until `depth` frames are left; it began with `origin` frames.
    Out {
        depth: usize,
        origin: usize,
    },
    /// Over a step of native code with `depth` frames, to what follows it.
    OverNative {
        kind: StepKind,
        granularity: Granularity,
        depth: usize,
    },
    /// The rest of this, and then on to a line of the source, from another one if the program has
    /// left native code.
    ToLine {
        rest: Box<Unfinished>,
        has_left: bool,
    },
    /// To a call of the frame at `depth`, and into it.
    IntoCall {
        call: Call,
        depth: usize,
    },
}

/// A machine with everything that can stop it.
pub(crate) struct Runner {
    pub(crate) machine: Machine,
    pub(crate) breakpoints: ActiveBreakpoints,
    pub(crate) watcher: Watcher,
    pub(crate) dispatches: DispatchTraps,
    pub(crate) twins: Twins,
    pub(crate) interrupt: InterruptHandle,
    /// The step that a pause has interrupted.
    pub(super) unfinished: Option<Unfinished>,
    /// The step by a line of Python, if it was one.
    pub(super) unfinished_python: Option<PythonStep>,
    /// Where the program was paused, and the breakpoints that were there then.
    pub(super) paused_at: Option<(Position, Vec<BreakpointId>)>,
    /// Another reason to stop at the same place. It is reported when the program is resumed.
    pub(super) also_here: Option<StopReason>,
    /// Whether the program waits for its host.
    waiting: Waiting,
    /// Calls that wait for another one, outermost first.
    suspended: Vec<Suspended>,
    /// Whether the last stop has told of a write of watched data. That led to this moment, so on
    /// the way back it is not told again.
    pub(super) has_told_write: bool,
    /// What is kept to go back, if something is.
    pub(super) recording: Option<Recording>,
    /// Whether the user was told at this stop that a change by hand ends the past.
    pub(crate) is_told_of_change: bool,
    /// Whether the program has come to another line of time, and that was not looked at yet.
    pub(super) is_in_other_line: bool,
    /// What there is to say of the line of time that the user has begun.
    pub(super) new_line: Option<String>,
    /// Whether the last stretch ended because it has made its turns.
    pub(super) at_goal: bool,
    /// Whether the last stretch ended at an instruction whose breakpoints were asked, and counted.
    pub(super) has_asked_here: bool,
    /// Where the program stands that was over, and has gone back to its last stop by itself.
    pub(crate) end_stop: Option<Moment>,
    /// After how many turns the program was over.
    pub(super) ended_after: Option<u64>,
    /// The dispatch that can run again, once something may change what that needs.
    pub(super) kept_dispatch: Option<KeptDispatch>,
    /// What the dispatch has left that has run again.
    pub(crate) rerun: Option<DispatchRerun>,
}

/// A call that waits for another one to end.
struct Suspended {
    phase: Phase,
    called: Called,
    unfinished: (Option<Unfinished>, Option<PythonStep>),
}

impl Runner {
    pub(crate) fn new(machine: Machine, interrupt: InterruptHandle, twins: Twins) -> Self {
        interrupt.learn(&machine.context);
        if let Some(invocation) = machine.invocation() {
            interrupt.attach(invocation.interrupt());
        }
        let mut runner = Self {
            machine,
            breakpoints: ActiveBreakpoints::default(),
            watcher: Watcher::default(),
            dispatches: DispatchTraps::default(),
            twins,
            interrupt,
            unfinished: None,
            unfinished_python: None,
            paused_at: None,
            also_here: None,
            waiting: Waiting::default(),
            suspended: Vec::new(),
            has_told_write: false,
            recording: None,
            is_told_of_change: false,
            is_in_other_line: false,
            new_line: None,
            at_goal: false,
            has_asked_here: false,
            end_stop: None,
            ended_after: None,
            kept_dispatch: None,
            rerun: None,
        };
        runner.watch_dispatches();
        runner
    }

    /// The same for a program that shows so that it waits for its host.
    pub(crate) fn waiting_by(self, waiting: Waiting) -> Self {
        Self { waiting, ..self }
    }

    /// A call begins; what it interrupts goes on when it has ended.
    pub(crate) fn suspend(&mut self, phase: Phase, called: Called) {
        let unfinished = (self.unfinished.take(), self.unfinished_python.take());
        self.suspended.push(Suspended { phase, called, unfinished });
        (self.paused_at, self.also_here, self.kept_dispatch) = (None, None, None);
        self.machine.stands_after = None;
        self.watcher.forget_pause();
        self.forget_past();
    }

    /// The latest call is over.
    pub(crate) fn unsuspend(&mut self) {
        let Some(Suspended { phase, called, unfinished }) = self.suspended.pop() else { return };
        self.machine.phase = phase;
        self.machine.program.restore_call(called);
        (self.unfinished, self.unfinished_python) = unfinished;
        (self.paused_at, self.also_here, self.kept_dispatch) = (None, None, None);
        self.machine.stands_after = None;
        if let Some(invocation) = self.machine.invocation() {
            self.interrupt.attach(invocation.interrupt());
        }
        self.watcher.forget_pause();
        self.forget_past();
    }

    /// Sets which numbers stop the program.
    pub(crate) fn set_traps(&mut self, traps: Traps) {
        if self.watcher.traps != traps {
            self.dispatches.forget_caught();
        }
        self.watcher.set_traps(traps);
        self.arm_breakpoints();
    }

    /// Arms what the breakpoints want, after they have changed.
    pub(crate) fn arm_breakpoints(&mut self) {
        self.arm_places();
        self.watch_dispatches();
        if let Some(recording) = &self.recording {
            let mut tape = recording.tape();
            if tape.counts() {
                tape.count(Some(self.breakpoints.table.counters()));
            }
        }
    }

    /// Arms the places of the breakpoints. A search meets none: its dispatch has met them before.
    pub(super) fn arm_places(&mut self) {
        let (is_searching, nothing) = (self.is_searching(), BreakpointTable::default());
        let ActiveBreakpoints { table, armed, .. } = &mut self.breakpoints;
        armed.arm(if is_searching { &nothing } else { table }, &mut self.machine);
    }

    /// Arms some places for a step, in addition to those of breakpoints.
    pub(super) fn set_temporary_stops(&mut self, places: impl IntoIterator<Item = Position>) {
        self.watch_dispatches();
        let ActiveBreakpoints { table, armed, .. } = &mut self.breakpoints;
        armed.set_temporary(table, &mut self.machine, places);
    }

    /// Stops at the boundaries of dispatches if a breakpoint or a check needs that.
    pub(super) fn watch_dispatches(&mut self) {
        let is_needed = self.watcher.traps.watches_dispatches()
            || self.twins.is_awaited()
            || self.kept_dispatch.as_ref().is_some_and(|it| it.runs_again)
            || self.machine.program.is_guarded()
            || self.breakpoints.any_of_dispatches();
        self.machine.context.set_watch(if is_needed { Watch::Steps } else { Watch::Nothing });
    }

    /// Adds modules that were loaded while the program ran: breakpoints may have more places now.
    pub(crate) fn meet_modules(&mut self) {
        let Machine { program, context, .. } = &mut self.machine;
        if program.meet_modules(context) {
            self.breakpoints.table.resolve_again(|spec| spec.resolve(program));
            self.arm_breakpoints();
        }
    }

    /// The breakpoints that stop the program, of those that it has reached.
    pub(super) fn hit(&mut self, candidates: Vec<BreakpointId>) -> Vec<BreakpointId> {
        self.breakpoints.hit(&self.machine, candidates)
    }

    /// Runs until something stops the program or a stretch ends. None: nothing to report, run
    /// again.
    pub(super) fn run_on(&mut self) -> Option<StopReason> {
        loop {
            let reason = self.run_stretch();
            // A search for an operation is no place to stop: it ends after its dispatch.
            if reason.is_some() || !self.is_searching() {
                return reason;
            }
        }
    }

    fn run_stretch(&mut self) -> Option<StopReason> {
        let Some(watch) = self.observes() else { return self.advance(Invocation::run) };
        if self.interrupt.take_any() {
            return Some(StopReason::Pause);
        }
        let Machine { context, phase, .. } = &mut self.machine;
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) = phase else {
            return Some(StopReason::Completed(Vec::new()));
        };
        let (watcher, stops_at) = (&mut self.watcher, context.watch());
        let outcome = match innermost(context, invocation) {
            // The observer does not see the instruction before which the program stands.
            Some(position) if watcher.before(context, invocation, position) => {
                Outcome::Stopped(Stop::Step(position))
            }
            _ => {
                let breakpoints = &self.breakpoints.table;
                invocation
                    .observe(context, &mut WatchObserver { watcher, breakpoints, stops_at, watch })
            }
        };
        self.after_watched(outcome)
    }

    /// Runs a stretch. None: nothing to report, run again.
    pub(super) fn advance(
        &mut self,
        run: impl FnOnce(&mut Invocation, &mut Context) -> Outcome,
    ) -> Option<StopReason> {
        if self.interrupt.take_any() {
            return Some(StopReason::Pause);
        }
        let Machine { context, phase, .. } = &mut self.machine;
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) = phase else {
            return Some(StopReason::Completed(Vec::new()));
        };
        let outcome = run(invocation, context);
        if let Some(floats) = &mut self.dispatches.floats {
            floats.is_observed = false;
        }
        self.settle(outcome)
    }

    /// Runs under a plan until it has a verdict.
    pub(super) fn observe(&mut self, plan: &StepPlan) -> Result<Verdict, StopReason> {
        if self.interrupt.take_any() {
            return Err(StopReason::Pause);
        }
        if self.is_searching() {
            return self.run_on().map_or(Ok(Verdict::GoOn), Err);
        }
        let Machine { program, context, phase, level, .. } = &mut self.machine;
        let (Phase::Initializing(invocation) | Phase::Running(invocation)) = phase else {
            return Err(StopReason::Completed(Vec::new()));
        };
        if let Some(position) = innermost(context, invocation)
            && self.watcher.is_needed()
            && self.watcher.before(context, invocation, position)
        {
            let outcome = Outcome::Stopped(Stop::Step(position));
            return self.after_watched(outcome).map_or(Ok(Verdict::GoOn), Err);
        }
        let mut observer = StepObserver {
            plan,
            lines: program.lines(*level),
            breakpoints: &self.breakpoints.table,
            verdict: Verdict::GoOn,
            watcher: &mut self.watcher,
        };
        let outcome = invocation.observe(context, &mut observer);
        let depth = invocation.depth();
        // A breakpoint stops the run before the plan is asked about its place. Where the step ends,
        // the hit is counted by that.
        let (outcome, verdict) = match outcome {
            Outcome::Stopped(Stop::Breakpoint(position))
                if plan.verdict(program.lines(*level), position, depth) == Verdict::Stop =>
            {
                (Outcome::Stopped(Stop::Step(position)), Verdict::Stop)
            }
            outcome => (outcome, observer.verdict),
        };
        match self.after_watched(outcome) {
            Some(reason) => Err(reason),
            None if self.is_searching() => self.run_on().map_or(Ok(verdict), Err),
            None => Ok(verdict),
        }
    }

    /// Evaluates a stretch that was watched. None: nothing to report, run again.
    fn after_watched(&mut self, outcome: Outcome) -> Option<StopReason> {
        let is_over = matches!(outcome, Outcome::Completed(_) | Outcome::Failed(_));
        if !self.watcher.is_needed() || is_over {
            return self.settle(outcome);
        }
        let Self { machine, watcher, breakpoints, .. } = self;
        watcher.look_after(machine, &outcome);
        watcher.report_returned(machine, breakpoints);
        if let Some(trap) = watcher.take_trap(machine) {
            self.show_search(false);
            return Some(trap);
        }
        let hits = watcher.take_hits(machine, breakpoints);
        let Some(first) = hits.first() else { return self.settle(outcome) };
        machine.stands_after = match first.by {
            Some(DataUser::Instruction(at)) => Some(at),
            _ => None,
        };
        if let Some(floats) = &mut self.dispatches.floats {
            // The program stands after what was found, which must not be taken back.
            floats.may_run_again = false;
        }
        // Another reason to stop at the same place is reported when the program is resumed.
        let other = self.settle(outcome);
        self.also_here = other.filter(|it| !matches!(it, StopReason::Pause));
        Some(StopReason::Data(hits))
    }

    /// Evaluates a stretch. None: nothing to report, run again.
    fn settle(&mut self, outcome: Outcome) -> Option<StopReason> {
        let is_at_breakpoint = matches!(outcome, Outcome::Stopped(Stop::Breakpoint(_)));
        self.has_asked_here = is_at_breakpoint && !self.is_searching();
        match outcome {
            Outcome::Yielded => self.waiting.take().then_some(StopReason::Pause),
            Outcome::Stopped(Stop::Step(_)) => None,
            // Its user has seen it pass there.
            Outcome::Stopped(Stop::Breakpoint(_)) if self.is_searching() => None,
            Outcome::Stopped(Stop::Breakpoint(position)) => {
                let hit = self.hit(self.breakpoints.armed.at(position));
                (!hit.is_empty()).then_some(StopReason::Breakpoint(hit))
            }
            Outcome::Stopped(Stop::Boundary) => self.at_boundary(),
            Outcome::Stopped(Stop::Attached) => {
                self.meet_modules();
                None
            }
            Outcome::Stopped(Stop::Interrupted(_)) => {
                self.interrupt.paused();
                Some(StopReason::Pause)
            }
            Outcome::Stopped(Stop::Turn(_)) => {
                self.at_goal = true;
                Some(StopReason::Pause)
            }
            Outcome::Stopped(Stop::Requested(_)) => Some(StopReason::BreakInstruction),
            Outcome::Completed(results) => self.completed(results),
            Outcome::Failed(failure) => Some(StopReason::Failed(self.failed(failure))),
        }
    }

    pub(super) fn at_boundary(&mut self) -> Option<StopReason> {
        let boundary = self.machine.invocation().and_then(Invocation::boundary).cloned()?;
        match boundary.kind {
            BoundaryKind::BeforePart if self.is_searching() => return None,
            // Later, its memory may hold something else.
            BoundaryKind::AfterStep => self.report_twin(),
            BoundaryKind::BeforePart | BoundaryKind::BeforeStep => {}
        }
        let floats = match self.look_at_floats(&boundary) {
            Floats::RunAgain => return None,
            Floats::Paused => return Some(StopReason::Pause),
            Floats::Fine => None,
            Floats::Bad(trapped) => Some(trapped),
        };
        if boundary.kind == BoundaryKind::AfterStep {
            self.compare_rerun();
        }
        let hit = self.hit(self.breakpoints.table.at_boundary(&boundary));
        let Self { machine, watcher, dispatches, breakpoints, .. } = self;
        let log = &mut breakpoints.log;
        let trap = dispatches.at_boundary(machine, watcher.traps, log, &boundary, floats);
        match trap {
            Some(trapped) => Some(StopReason::Trap(trapped)),
            None => (!hit.is_empty()).then_some(StopReason::Breakpoint(hit)),
        }
    }

    /// What was remembered of the last stop is of another time.
    pub(super) fn forget_stop(&mut self) {
        (self.unfinished, self.unfinished_python) = (None, None);
        (self.paused_at, self.also_here) = (None, None);
        (self.kept_dispatch, self.rerun) = (None, None);
        self.dispatches = DispatchTraps::default();
        self.watcher.forget_caught();
        self.watcher.forget_pause();
        self.twins.forget_outcome();
    }

    fn failed(&mut self, mut failure: Failure) -> Failure {
        let machine = &mut self.machine;
        failure.status = machine.program.host().device().explain(failure.status);
        let phase = std::mem::replace(&mut machine.phase, Phase::Completed);
        if let Phase::Initializing(invocation) | Phase::Running(invocation) = phase {
            machine.phase = Phase::Failed(invocation);
        }
        if let Some(elements) = machine.faulting_elements() {
            failure.status.message.push_str(&elements);
        }
        failure
    }

    /// Starts the function after the initialisers; after the function, the program is over.
    fn completed(&mut self, results: Vec<Value>) -> Option<StopReason> {
        let machine = &mut self.machine;
        if !machine.is_initializing() {
            self.ended_after = machine.invocation().map(Invocation::turns);
            machine.phase = Phase::Completed;
            return Some(StopReason::Completed(results));
        }
        if machine.program.is_called_from_outside() {
            machine.phase = Phase::Completed;
            return Some(StopReason::Completed(results));
        }
        match machine.program.entry_invocation(&machine.context) {
            Ok(mut invocation) => {
                self.interrupt.attach(invocation.interrupt());
                invocation.set_recorder(self.recording.as_ref().map(Recording::recorder));
                machine.phase = Phase::Running(invocation);
                None
            }
            Err(status) => {
                machine.phase = Phase::Completed;
                Some(StopReason::Failed(Failure { status, backtrace: Vec::new() }))
            }
        }
    }
}

/// The instruction that runs next, if the innermost frame is bytecode.
fn innermost(context: &Context, invocation: &Invocation) -> Option<Position> {
    match invocation.frame(context, FrameIndex(0))?.function {
        FrameFunction::Bytecode(position) => Some(position),
        FrameFunction::Native(_) | FrameFunction::Part { .. } => None,
    }
}
