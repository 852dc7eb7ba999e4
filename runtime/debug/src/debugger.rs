//! The debugger: a program, how far it has come, and where it is to stop.
//!
//! ```text
//!   load ──> standing before the initialisers
//!                 │ resume
//!                 v
//!             running ──> Breakpoint, Step, Pause, Entry ──> resume again
//!                 │
//!                 ├─────> Failed       frames stay for inspection; cannot go on
//!                 └─────> Completed    no frames
//! ```
//!
//! [`Debugger::resume`] blocks until the program stands still, so whoever wants to do something else
//! meanwhile moves the debugger to a thread of its own and keeps an [`InterruptHandle`]. Everything
//! else needs the program to stand still, which the borrow checker sees to.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Context, FrameFunction, FrameIndex, Interrupt, Invocation, Outcome, Position, Stop};
use vmfb::decode::Operand;
use vmfb::{BytecodeOffset, Op};

use crate::breakpoint::{Breakpoint, BreakpointId, BreakpointSpec, BreakpointTable};
use crate::program::{LaunchError, LaunchOptions, Program};
use crate::stepping::{StepObserver, StepPlan, Verdict};
use crate::stop::{Granularity, Resume, StepKind, StopReason};

/// Stops a running program from another thread.
#[derive(Clone, Debug, Default)]
pub struct InterruptHandle(Arc<Mutex<InterruptState>>);

#[derive(Debug, Default)]
struct InterruptState {
    requested: bool,
    /// The invocation that runs now: first the initialisers, then the function.
    current: Interrupt,
}

impl InterruptHandle {
    /// Makes a running [`Debugger::resume`] return [`StopReason::Pause`] at the next call or backward
    /// branch; one that has not begun yet returns at once.
    pub fn interrupt(&self) {
        let mut state = self.lock();
        state.requested = true;
        state.current.request();
    }

    fn attach(&self, interrupt: Interrupt) {
        self.lock().current = interrupt;
    }

    /// Whether an interrupt was asked for since the last call. The invocation then need not stop
    /// for it any more.
    fn take(&self) -> bool {
        let mut state = self.lock();
        state.current.clear();
        std::mem::take(&mut state.requested)
    }

    fn lock(&self) -> MutexGuard<'_, InterruptState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far the program has come.
#[derive(Debug)]
enum Phase {
    /// In the modules' initialisers.
    Initializing(Invocation),
    /// In the function that was asked for.
    Running(Invocation),
    /// Failed; the frames are for looking at.
    Failed(Invocation),
    /// Over.
    Completed,
}

/// A program under the debugger.
pub struct Debugger {
    pub(crate) program: Program,
    pub(crate) context: Context,
    phase: Phase,
    breakpoints: BreakpointTable,
    armed: BTreeSet<Position>,
    interrupt: InterruptHandle,
    /// What a pause has cut in two.
    unfinished: Option<Unfinished>,
}

/// What is left to do of a [`Resume`] that was paused.
#[derive(Debug)]
enum Unfinished {
    ToEntry,
    Step {
        plan: StepPlan,
        in_initialisers: bool,
    },
    /// Out, until so many frames are left.
    Out {
        depth: usize,
    },
}

impl Debugger {
    /// Loads modules and links them. The program stands before its initialisers.
    ///
    /// # Errors
    /// A module cannot be loaded, verified or linked, or the function and its inputs do not fit.
    pub fn load(options: LaunchOptions) -> Result<Self, LaunchError> {
        let interrupt = options.interrupt.clone();
        let (program, context) = Program::load(options)?;
        let invocation = Invocation::initialize(&context);
        interrupt.attach(invocation.interrupt());
        Ok(Self {
            program,
            context,
            phase: Phase::Initializing(invocation),
            breakpoints: BreakpointTable::default(),
            armed: BTreeSet::new(),
            interrupt,
            unfinished: None,
        })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// A handle that stops a running program.
    #[must_use]
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.interrupt.clone()
    }

    /// The breakpoints.
    #[must_use]
    pub fn breakpoints(&self) -> &BreakpointTable {
        &self.breakpoints
    }

    /// Adds a breakpoint. It exists even where nothing matches it; it then says why.
    pub fn add_breakpoint(&mut self, spec: BreakpointSpec) -> BreakpointId {
        let resolution = self.program.resolve(&spec);
        let id = self.breakpoints.add(spec, resolution);
        self.arm(None);
        id
    }

    /// Removes a breakpoint; tells whether it was there.
    pub fn remove_breakpoint(&mut self, id: BreakpointId) -> bool {
        let removed = self.breakpoints.remove(id);
        self.arm(None);
        removed
    }

    /// Makes the armed addresses those of all breakpoints, and one more.
    fn arm(&mut self, temporary: Option<Position>) {
        let all = self.breakpoints.iter().flat_map(|it| &it.locations).copied();
        let wanted: BTreeSet<Position> = all.chain(temporary).collect();
        for position in self.armed.difference(&wanted) {
            self.context.clear_breakpoint(position.function, position.offset);
        }
        let mut armed: BTreeSet<Position> = self.armed.intersection(&wanted).copied().collect();
        for position in wanted.difference(&self.armed) {
            // Addresses come from decoded instructions, so this fails for none of them.
            let set = self.context.set_breakpoint(position.function, position.offset);
            if set.is_ok() {
                armed.insert(*position);
            }
        }
        self.armed = armed;
    }

    /// The invocation to look at, if there is one.
    pub(crate) fn invocation(&self) -> Option<&Invocation> {
        match &self.phase {
            Phase::Initializing(invocation)
            | Phase::Running(invocation)
            | Phase::Failed(invocation) => Some(invocation),
            Phase::Completed => None,
        }
    }

    /// The instruction that runs next.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        let frame = self.invocation()?.frames(&self.context).next()?;
        match frame.function {
            FrameFunction::Bytecode(position) => Some(position),
            FrameFunction::Native(_) | FrameFunction::Part { .. } => None,
        }
    }

    /// Runs until something stops the program. A program that has failed or completed stays so.
    pub fn resume(&mut self, how: Resume) -> StopReason {
        let unfinished = self.unfinished.take();
        let reason = match (how, unfinished) {
            (Resume::ToEntry, _) | (Resume::AsBefore, Some(Unfinished::ToEntry)) => {
                self.run_to_entry()
            }
            (Resume::Continue, _) | (Resume::AsBefore, None) => self.run_free(),
            (Resume::Step(StepKind::Out, _), _) => self.step_out(),
            (Resume::Step(kind, granularity), _) => self.step(kind, granularity),
            (Resume::AsBefore, Some(Unfinished::Out { depth })) => self.run_out(depth),
            (Resume::AsBefore, Some(Unfinished::Step { plan, in_initialisers })) => {
                self.follow(plan, in_initialisers)
            }
        };
        let reason = self.with_a_frame(reason);
        self.arm(None);
        self.interrupt.take();
        reason
    }

    /// A pause that came before anything ran has no frame to show: the program then stands before
    /// its first instruction.
    fn with_a_frame(&mut self, reason: StopReason) -> StopReason {
        if !matches!(reason, StopReason::Pause) || self.invocation().is_none() || self.depth() > 0 {
            return reason;
        }
        match self.run_to_first_instruction() {
            StopReason::Entry => StopReason::Pause,
            other => other,
        }
    }

    /// Initialisers to their end, then stand before the function's first instruction.
    fn run_to_entry(&mut self) -> StopReason {
        let reason = self.run_to_first_instruction();
        if matches!(reason, StopReason::Pause) {
            self.unfinished = Some(Unfinished::ToEntry);
        }
        reason
    }

    fn run_to_first_instruction(&mut self) -> StopReason {
        while matches!(self.phase, Phase::Initializing(_)) {
            if let Some(reason) = self.advance(Invocation::run) {
                return reason;
            }
        }
        if self.position().is_some() {
            return StopReason::Entry;
        }
        // The first step of an invocation stops before its first instruction, a block marker.
        loop {
            if let Some(reason) = self.advance(Invocation::step) {
                return reason;
            }
            if !self.position().is_some_and(|position| self.program.is_marker(position)) {
                return StopReason::Entry;
            }
        }
    }

    fn run_free(&mut self) -> StopReason {
        loop {
            if let Some(reason) = self.advance(Invocation::run) {
                return reason;
            }
        }
    }

    /// Runs a stretch. None: nothing to report, go on.
    fn advance(
        &mut self,
        run: impl FnOnce(&mut Invocation, &mut Context) -> Outcome,
    ) -> Option<StopReason> {
        if self.interrupt.take() {
            return Some(StopReason::Pause);
        }
        let outcome = match &mut self.phase {
            Phase::Initializing(invocation) | Phase::Running(invocation) => {
                run(invocation, &mut self.context)
            }
            Phase::Failed(_) | Phase::Completed => {
                return Some(StopReason::Completed(Vec::new()));
            }
        };
        self.settle(outcome)
    }

    /// What a stretch came to. None: nothing to report, go on.
    fn settle(&mut self, outcome: Outcome) -> Option<StopReason> {
        match outcome {
            Outcome::Yielded => None,
            Outcome::Stopped(Stop::Breakpoint(position)) => {
                let hit = self.breakpoints.hit(position);
                (!hit.is_empty()).then_some(StopReason::Breakpoint(hit))
            }
            Outcome::Stopped(Stop::Step(_) | Stop::Boundary) => None,
            Outcome::Stopped(Stop::Interrupted(_)) => Some(StopReason::Pause),
            Outcome::Stopped(Stop::Requested(_)) => Some(StopReason::BreakInstruction),
            Outcome::Completed(results) => self.completed(results),
            Outcome::Failed(failure) => {
                let phase = std::mem::replace(&mut self.phase, Phase::Completed);
                if let Phase::Initializing(invocation) | Phase::Running(invocation) = phase {
                    self.phase = Phase::Failed(invocation);
                }
                Some(StopReason::Failed(failure))
            }
        }
    }

    /// After the initialisers comes the function; after the function, nothing.
    fn completed(&mut self, results: Vec<vm::Value>) -> Option<StopReason> {
        if !matches!(self.phase, Phase::Initializing(_)) {
            self.phase = Phase::Completed;
            return Some(StopReason::Completed(results));
        }
        match self.program.entry_invocation(&self.context) {
            Ok(invocation) => {
                self.interrupt.attach(invocation.interrupt());
                self.phase = Phase::Running(invocation);
                None
            }
            Err(status) => {
                self.phase = Phase::Completed;
                Some(StopReason::Failed(vm::Failure { status, backtrace: Vec::new() }))
            }
        }
    }

    fn depth(&self) -> usize {
        self.invocation().map_or(0, Invocation::depth)
    }

    fn step(&mut self, kind: StepKind, granularity: Granularity) -> StopReason {
        let Some(origin) = self.position() else { return self.run_to_entry() };
        let plan = StepPlan::new(&self.program, kind, granularity, origin, self.depth());
        let in_initialisers = matches!(self.phase, Phase::Initializing(_));
        self.follow(plan, in_initialisers)
    }

    /// Steps by a plan, from wherever the program is.
    fn follow(&mut self, plan: StepPlan, in_initialisers: bool) -> StopReason {
        let reason = self.follow_to_stop(&plan, in_initialisers);
        if matches!(reason, StopReason::Pause) && self.unfinished.is_none() {
            self.unfinished = Some(Unfinished::Step { plan, in_initialisers });
        }
        reason
    }

    fn follow_to_stop(&mut self, plan: &StepPlan, in_initialisers: bool) -> StopReason {
        loop {
            let verdict = match self.observe(plan) {
                Ok(verdict) => verdict,
                Err(reason) => return reason,
            };
            if in_initialisers && matches!(self.phase, Phase::Running(_)) {
                return self.run_to_entry();
            }
            match verdict {
                Verdict::GoOn => {}
                Verdict::Stop => return self.step_done(),
                Verdict::RunToReturn => {
                    if let Some(reason) = self.run_to_return(plan.depth) {
                        return reason;
                    }
                    let position = self.position();
                    let arrived = position
                        .map(|position| plan.verdict(&self.program, position, self.depth()));
                    if arrived == Some(Verdict::Stop) {
                        return self.step_done();
                    }
                }
            }
        }
    }

    /// The end of a step; a breakpoint at the same instruction is reported rather than the step.
    fn step_done(&mut self) -> StopReason {
        let hit = self.position().map(|position| self.breakpoints.hit(position));
        match hit {
            Some(hit) if !hit.is_empty() => StopReason::Breakpoint(hit),
            _ => StopReason::Step,
        }
    }

    /// Runs under a plan until it has a verdict.
    fn observe(&mut self, plan: &StepPlan) -> Result<Verdict, StopReason> {
        if self.interrupt.take() {
            return Err(StopReason::Pause);
        }
        let mut observer = StepObserver { plan, program: &self.program, verdict: Verdict::GoOn };
        let outcome = match &mut self.phase {
            Phase::Initializing(invocation) | Phase::Running(invocation) => {
                invocation.observe(&mut self.context, &mut observer)
            }
            Phase::Failed(_) | Phase::Completed => {
                return Err(StopReason::Completed(Vec::new()));
            }
        };
        let verdict = observer.verdict;
        match self.settle(outcome) {
            Some(reason) => Err(reason),
            None => Ok(verdict),
        }
    }

    /// Runs until the frame that is `depth` from the outermost runs again. None: it does.
    fn run_to_return(&mut self, depth: usize) -> Option<StopReason> {
        let caller = FrameIndex(self.depth().checked_sub(depth)?);
        let Some(target) = self.return_point(caller) else {
            return Some(self.run_free());
        };
        self.arm(Some(target));
        loop {
            if let Some(reason) = self.advance(Invocation::run) {
                return Some(reason);
            }
            // A recursive call may come through the same instruction further up.
            if self.position() == Some(target) && self.depth() == depth {
                self.arm(None);
                return None;
            }
        }
    }

    fn step_out(&mut self) -> StopReason {
        let depth = self.depth();
        if depth < 2 {
            return self.run_free();
        }
        self.run_out(depth - 1)
    }

    /// Runs until so many frames are left.
    fn run_out(&mut self, depth: usize) -> StopReason {
        let reason = self.run_to_return(depth).unwrap_or_else(|| self.step_done());
        if matches!(reason, StopReason::Pause) {
            self.unfinished = Some(Unfinished::Out { depth });
        }
        reason
    }

    /// The instruction that a frame goes on with when its call returns.
    fn return_point(&self, frame: FrameIndex) -> Option<Position> {
        let frame = self.invocation()?.frames(&self.context).nth(frame.0)?;
        let FrameFunction::Bytecode(call) = frame.function else { return None };
        let module = self.context.bytecode_module(call.function.module)?;
        let code = module.function_bytecode(call.function.function);
        let instruction = vmfb::decode(code, call.offset).ok()?;
        let offset = match instruction.op {
            Op::Call | Op::CallVariadic => instruction.end,
            // These continue in a block, behind its marker of one byte.
            Op::CallYieldable | Op::CallVariadicYieldable => {
                instruction.operands.iter().find_map(|operand| match operand {
                    Operand::Target(target) => Some(BytecodeOffset(target.0 + 1)),
                    _ => None,
                })?
            }
            _ => return None,
        };
        Some(Position { function: call.function, offset })
    }

    /// A breakpoint by its name.
    #[must_use]
    pub fn breakpoint(&self, id: BreakpointId) -> Option<&Breakpoint> {
        self.breakpoints.get(id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::program::ModuleSource;

    /// The embedded example of the command line, `main(2.0, 5)`.
    fn example() -> Debugger {
        let load = Debugger::load(LaunchOptions {
            modules: vec![ModuleSource::Memory {
                name: "newton.vmfb".to_owned(),
                bytes: include_bytes!("../../cli/example/newton.vmfb").to_vec(),
                companion: None,
            }],
            inputs: vec!["2.0".to_owned(), "5".to_owned()],
            sources: HashMap::new(),
            ..LaunchOptions::default()
        });
        load.unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_pause_before_anything_ran_has_a_frame() {
        for how in
            [Resume::Continue, Resume::ToEntry, Resume::Step(StepKind::Over, Granularity::Line)]
        {
            let mut debugger = example();
            debugger.interrupt_handle().interrupt();
            assert!(matches!(debugger.resume(how), StopReason::Pause), "{how:?}");
            assert_eq!(debugger.frames().len(), 1, "{how:?}");
            assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
        }
    }

    #[test]
    fn stepping_out_stops_in_the_caller() {
        let mut debugger = example();
        assert!(matches!(debugger.resume(Resume::ToEntry), StopReason::Entry));
        let entry = debugger.position();
        while debugger.frames().len() == 1 {
            debugger.resume(Resume::Step(StepKind::Into, Granularity::Instruction));
        }
        assert!(matches!(
            debugger.resume(Resume::Step(StepKind::Out, Granularity::Instruction)),
            StopReason::Step
        ));
        assert_eq!(debugger.frames().len(), 1);
        assert_eq!(
            debugger.position().map(|position| position.function),
            entry.map(|position| position.function)
        );
    }
}
