//! Running the program: stretches of it, and how they make up what was asked for.
//!
//! A stretch ([`Debugger::advance`], [`Debugger::observe`]) runs until the machine has something to
//! say; [`Debugger::settle`] decides whether that is worth telling. Steps are made of stretches by
//! the rules in `stepping`.

use debuginfo::SourcePosition;
use vm::{
    BoundaryKind, Context, FrameFunction, FrameIndex, Invocation, Outcome, Position, Stop, Watch,
};
use vmfb::decode::Operand;
use vmfb::{BytecodeOffset, Op};

use crate::breakpoint::{Breakpoint, BreakpointId, BreakpointSpec};
use crate::debugger::{Debugger, Phase, Unfinished};
use crate::level::Level;
use crate::stepping::{Origin, StepObserver, StepPlan, Verdict};
use crate::stop::{Granularity, Resume, StepKind, StopReason};
use crate::watch::WatchObserver;

/// Where somebody wanted to stop, as far as they said and it was found.
pub(crate) type LineAndColumn = (Option<u32>, Option<u32>);

impl Debugger {
    /// Runs until something stops the program. A program that has failed or completed stays so.
    pub fn resume(&mut self, how: Resume) -> StopReason {
        let (hidden_calls, behind) = (self.hidden_calls, self.behind);
        if let Some(reason) = self.also_here.take() {
            self.behind = None;
            return reason;
        }
        let paused_at = self.paused_at.take().filter(|_| how == Resume::AsBefore);
        if let Some(hit) = paused_at.and_then(|(at, before)| self.set_since(at, &before)) {
            return self.after(|_| StopReason::Breakpoint(hit));
        }
        self.after(|debugger| debugger.go_on(how, hidden_calls, behind))
    }

    /// Breakpoints on the instruction that the program was paused at that were set since: the
    /// program has not come to them.
    fn set_since(&mut self, at: Position, before: &[BreakpointId]) -> Option<Vec<BreakpointId>> {
        if self.position() != Some(at) {
            return None;
        }
        let mut new = self.arms.at(at);
        new.retain(|id| !before.contains(id));
        Some(self.hit(new)).filter(|hit| !hit.is_empty())
    }

    /// Does something that runs the program, and what comes after all of that.
    pub(crate) fn after(&mut self, run: impl FnOnce(&mut Self) -> StopReason) -> StopReason {
        self.hidden_calls = 0;
        (self.behind, self.also_here) = (None, None);
        self.failed_conditions.clear();
        self.begin_watching();
        self.recount_before_dispatch();
        self.look_at_memory_again();
        let reason = run(self);
        let reason = self.with_a_frame(reason);
        let paused_at = self.position().filter(|_| matches!(reason, StopReason::Pause));
        self.paused_at = paused_at.map(|at| (at, self.arms.at(at)));
        self.stand_before_calls(&reason);
        self.meet_modules();
        self.arm(None);
        self.interrupt.take();
        reason
    }

    /// Finds the inlined calls that the program stands before, rather than inside of, when it has
    /// come to its entry or to breakpoints: on the line of a call, or where a function begins with
    /// one.
    fn stand_before_calls(&mut self, reason: &StopReason) {
        let Some(position) = self.position() else { return };
        let path = self.program.path_at(Level::Source, position);
        let innermost = path.len().saturating_sub(1);
        let level = |id: &BreakpointId| match self.breakpoints.get(*id) {
            Some(it) => self.level_meant(&it.spec, (it.line, it.column), position, &path),
            None => innermost,
        };
        self.hidden_calls = match reason {
            StopReason::Entry => innermost,
            StopReason::Breakpoint(hit) if innermost > 0 => {
                innermost - hit.iter().map(level).max().unwrap_or(innermost)
            }
            _ => self.hidden_calls,
        };
    }

    /// Stands before the inlined calls that are inside of what the program was to run to.
    pub(crate) fn stand_at(&mut self, spec: &BreakpointSpec, at: LineAndColumn) {
        let Some(position) = self.position() else { return };
        let path = self.program.path_at(Level::Source, position);
        let meant = self.level_meant(spec, at, position, &path);
        self.hidden_calls = path.len().saturating_sub(1).saturating_sub(meant);
    }

    /// How many inlined calls lead to the frame that somebody means who has set a breakpoint, where
    /// it is on an instruction of such calls.
    pub(crate) fn calls_meant(&self, breakpoint: &Breakpoint, position: Position) -> Option<usize> {
        let path = self.program.path_at(Level::Source, position);
        let at = (breakpoint.line, breakpoint.column);
        (path.len() > 1).then(|| self.level_meant(&breakpoint.spec, at, position, &path))
    }

    /// Which frame of the path of an instruction somebody means who wanted to stop there.
    fn level_meant(
        &self,
        spec: &BreakpointSpec,
        (line, column): LineAndColumn,
        position: Position,
        path: &[SourcePosition],
    ) -> usize {
        let innermost = path.len().saturating_sub(1);
        match spec {
            BreakpointSpec::Line { .. } if self.program.level_of(spec) != Level::Source => {
                innermost
            }
            BreakpointSpec::Line { .. } => {
                let on_line = |place: &SourcePosition| {
                    Some(place.line) == line && column.is_none_or(|column| place.column == column)
                };
                path.iter().rposition(on_line).unwrap_or(innermost)
            }
            BreakpointSpec::Function { name } => self.program.level_named(name, position, path),
            _ => innermost,
        }
    }

    fn go_on(&mut self, how: Resume, hidden_calls: usize, behind: Option<Position>) -> StopReason {
        let unfinished = self.unfinished.take();
        match (how, unfinished) {
            (Resume::ToEntry, _) | (Resume::AsBefore, Some(Unfinished::ToEntry)) => {
                self.run_to_entry()
            }
            (Resume::Continue, _) | (Resume::AsBefore, None) => self.run_free(),
            (Resume::StepInto(call), _) => self.step_into(call),
            (Resume::Step(StepKind::Out, _), _) => self.step_out(hidden_calls),
            (Resume::Step(kind, granularity), _) => match behind {
                Some(behind) if granularity != Granularity::Instruction => {
                    self.step_from_behind(kind, granularity, behind)
                }
                _ => self.step(kind, granularity, hidden_calls),
            },
            (Resume::AsBefore, Some(Unfinished::Out { depth, origin })) => {
                self.run_out(depth, origin)
            }
            (Resume::AsBefore, Some(Unfinished::Step { plan, in_initialisers })) => {
                self.follow(plan, in_initialisers)
            }
        }
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
    pub(crate) fn run_to_entry(&mut self) -> StopReason {
        let reason = self.run_to_first_instruction();
        if matches!(reason, StopReason::Pause) {
            self.unfinished = Some(Unfinished::ToEntry);
        }
        reason
    }

    fn run_to_first_instruction(&mut self) -> StopReason {
        while matches!(self.phase, Phase::Initializing(_)) {
            if let Some(reason) = self.run_on() {
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
                return self.pass_over_constants();
            }
        }
    }

    /// Goes on to where the user sees the function begin: constants that come before say nothing.
    pub(crate) fn pass_over_constants(&mut self) -> StopReason {
        loop {
            let position = self.position().filter(|at| self.program.is_ahead_of_entry(*at));
            if position.is_none_or(|position| !self.arms.at(position).is_empty()) {
                return StopReason::Entry;
            }
            if let Some(reason) = self.advance(Invocation::step) {
                return reason;
            }
        }
    }

    fn run_free(&mut self) -> StopReason {
        loop {
            if let Some(reason) = self.run_on() {
                return reason;
            }
        }
    }

    /// Runs until something stops the program or a stretch is at its end.
    pub(crate) fn run_on(&mut self) -> Option<StopReason> {
        if !self.watcher.is_needed() {
            return self.advance(Invocation::run);
        }
        let mut watcher = std::mem::take(&mut self.watcher);
        let (breakpoints, watch) = (std::mem::take(&mut self.breakpoints), self.context.watch());
        let outcome = self.advance_with(|invocation, context| {
            // The observer is not asked about the instruction that the program stands before.
            if let Some(position) = innermost(context, invocation)
                && watcher.before(context, invocation, position)
            {
                return Outcome::Stopped(Stop::Step(position));
            }
            let mut observer =
                WatchObserver { watcher: &mut watcher, breakpoints: &breakpoints, watch };
            invocation.observe(context, &mut observer)
        });
        (self.watcher, self.breakpoints) = (watcher, breakpoints);
        match outcome {
            Ok(outcome) => self.after_watched(outcome),
            Err(reason) => Some(reason),
        }
    }

    /// Runs a stretch. None: nothing to report, go on.
    pub(crate) fn advance(
        &mut self,
        run: impl FnOnce(&mut Invocation, &mut Context) -> Outcome,
    ) -> Option<StopReason> {
        match self.advance_with(run) {
            Ok(outcome) => self.settle(outcome),
            Err(reason) => Some(reason),
        }
    }

    fn advance_with(
        &mut self,
        run: impl FnOnce(&mut Invocation, &mut Context) -> Outcome,
    ) -> Result<Outcome, StopReason> {
        if self.interrupt.take() {
            return Err(StopReason::Pause);
        }
        let outcome = match &mut self.phase {
            Phase::Initializing(invocation) | Phase::Running(invocation) => {
                run(invocation, &mut self.context)
            }
            Phase::Failed(_) | Phase::Completed => {
                return Err(StopReason::Completed(Vec::new()));
            }
        };
        Ok(outcome)
    }

    /// What a stretch came to. None: nothing to report, go on.
    pub(crate) fn settle(&mut self, outcome: Outcome) -> Option<StopReason> {
        match outcome {
            Outcome::Yielded => None,
            Outcome::Stopped(Stop::Breakpoint(position)) => {
                let hit = self.hit(self.arms.at(position));
                (!hit.is_empty()).then_some(StopReason::Breakpoint(hit))
            }
            Outcome::Stopped(Stop::Step(_)) => None,
            Outcome::Stopped(Stop::Boundary) => {
                let boundary = self.invocation().and_then(Invocation::boundary).cloned()?;
                let hit = self.hit(self.breakpoints.at_boundary(&boundary));
                let trapped = self.trap_dispatch(boundary.kind, &boundary.name);
                let guarded = self.guard_dispatch(boundary.kind, &boundary.name);
                if let Some(text) = guarded.or(trapped) {
                    return Some(StopReason::Trap(text));
                }
                (!hit.is_empty()).then_some(StopReason::Breakpoint(hit))
            }
            Outcome::Stopped(Stop::Attached) => {
                self.meet_modules();
                None
            }
            Outcome::Stopped(Stop::Interrupted(_)) => Some(StopReason::Pause),
            Outcome::Stopped(Stop::Requested(_)) => Some(StopReason::BreakInstruction),
            Outcome::Completed(results) => self.completed(results),
            Outcome::Failed(mut failure) => {
                failure.status = self.program.host().device().explain(failure.status);
                let phase = std::mem::replace(&mut self.phase, Phase::Completed);
                if let Phase::Initializing(invocation) | Phase::Running(invocation) = phase {
                    self.phase = Phase::Failed(invocation);
                }
                if let Some(elements) = self.faulting_elements() {
                    failure.status.message.push_str(&elements);
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

    pub(crate) fn depth(&self) -> usize {
        self.invocation().map_or(0, Invocation::depth)
    }

    /// A step from before so many inlined calls.
    pub(crate) fn step(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        hidden_calls: usize,
    ) -> StopReason {
        let goes_inwards = kind == StepKind::Into
            && granularity != Granularity::Instruction
            && self.level() == Level::Source;
        if let Some(fewer) = hidden_calls.checked_sub(1).filter(|_| goes_inwards) {
            self.hidden_calls = fewer;
            return StopReason::Step;
        }
        let origin = match (self.position(), self.depth()) {
            (_, 0) => return self.run_to_entry(),
            (None, depth) if kind == StepKind::Over => return self.over_native(granularity, depth),
            (Some(position), _) => Origin::Bytecode(position),
            (None, _) => Origin::Native,
        };
        let plan =
            StepPlan::new(&self.program, kind, granularity, origin, self.depth(), hidden_calls);
        let in_initialisers = matches!(self.phase, Phase::Initializing(_));
        self.follow(plan, in_initialisers)
    }

    /// From a step of native code to where the next one begins. At the level of the source these
    /// are dispatches, and behind the last one is the next line of the program around them.
    fn over_native(&mut self, granularity: Granularity, depth: usize) -> StopReason {
        let by_line = granularity != Granularity::Instruction && self.level() == Level::Source;
        loop {
            let reason = self.run_out(depth, depth);
            if !by_line || !matches!(reason, StopReason::Step) {
                return reason;
            }
            let Some(position) = self.position() else {
                let boundary = self.invocation().and_then(Invocation::boundary);
                if self.depth() != depth || boundary.is_none_or(|it| !it.name.is_empty()) {
                    return reason;
                }
                continue;
            };
            let is_line = self.program.statement_of(position).is_some();
            if is_line || !self.program.has_lines(position.function) {
                return reason;
            }
            let (kind, origin) = (StepKind::Over, Origin::Native);
            let plan = StepPlan::new(&self.program, kind, granularity, origin, depth, 0);
            let in_initialisers = matches!(self.phase, Phase::Initializing(_));
            return self.follow(plan, in_initialisers);
        }
    }

    /// A step from behind an instruction whose line is shown. Where what is next is on another
    /// line, that is already where it leads.
    fn step_from_behind(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        behind: Position,
    ) -> StopReason {
        let origin = Origin::Bytecode(behind);
        let depth = self.depth();
        let plan = StepPlan::new(&self.program, kind, granularity, origin, depth, 0);
        let next = self.position().filter(|_| kind != StepKind::Out);
        if next.is_some_and(|next| plan.verdict(&self.program, next, depth) == Verdict::Stop) {
            return self.plan_done(&plan);
        }
        self.follow(plan, matches!(self.phase, Phase::Initializing(_)))
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
                Verdict::Stop => return self.plan_done(plan),
                Verdict::RunToReturn => {
                    let origin = self.depth();
                    if let Some(reason) = self.run_to_return(plan.depth, origin) {
                        return reason;
                    }
                    let arrived = self.position().map_or(Verdict::Stop, |position| {
                        plan.verdict(&self.program, position, self.depth())
                    });
                    if arrived == Verdict::Stop {
                        return self.plan_done(plan);
                    }
                }
            }
        }
    }

    /// The end of a step that went by a plan.
    fn plan_done(&mut self, plan: &StepPlan) -> StopReason {
        let reason = self.step_done();
        if let (StopReason::Step, Some(position)) = (&reason, self.position()) {
            self.hidden_calls = plan.hidden_calls(&self.program, position, self.depth());
        }
        reason
    }

    /// The end of a step; a breakpoint at the same instruction is reported rather than the step.
    fn step_done(&mut self) -> StopReason {
        // Those of dispatches were asked when the program came to the boundary.
        let hit = self.position().map(|position| self.hit(self.arms.at(position)));
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
        if !matches!(self.phase, Phase::Initializing(_) | Phase::Running(_)) {
            return Err(StopReason::Completed(Vec::new()));
        }
        let mut watcher = std::mem::take(&mut self.watcher);
        if let Some(invocation) = self.invocation()
            && let Some(position) = innermost(&self.context, invocation)
            && watcher.is_needed()
            && watcher.before(&self.context, invocation, position)
        {
            self.watcher = watcher;
            let outcome = Outcome::Stopped(Stop::Step(position));
            return self.after_watched(outcome).map_or(Ok(Verdict::GoOn), Err);
        }
        let mut observer = StepObserver {
            plan,
            program: &self.program,
            breakpoints: &self.breakpoints,
            verdict: Verdict::GoOn,
            watcher: &mut watcher,
        };
        let outcome = match &mut self.phase {
            Phase::Initializing(invocation) | Phase::Running(invocation) => {
                invocation.observe(&mut self.context, &mut observer)
            }
            Phase::Failed(_) | Phase::Completed => {
                return Err(StopReason::Completed(Vec::new()));
            }
        };
        let verdict = observer.verdict;
        self.watcher = watcher;
        match self.after_watched(outcome) {
            Some(reason) => Err(reason),
            None => Ok(verdict),
        }
    }

    /// Runs until the frame that is `depth` from the outermost runs again, or one below it. None:
    /// it does. `origin` is how many frames there were when this began.
    ///
    /// A bytecode frame runs again where its call returns, which a temporary breakpoint tells. A
    /// step of native code goes on where the next one begins, or has ended if this began inside of
    /// it; or it was the last, and then the bytecode frame around it runs again.
    fn run_to_return(&mut self, depth: usize, origin: usize) -> Option<StopReason> {
        let invocation = self.invocation()?;
        let count = invocation.depth();
        let wanted = count.checked_sub(depth)?;
        let frame = |index| invocation.frame(&self.context, FrameIndex(index));
        let watch = match frame(wanted)?.function {
            FrameFunction::Part { level: 0, .. } => Watch::Steps,
            FrameFunction::Part { .. } => Watch::Parts,
            FrameFunction::Bytecode(_) | FrameFunction::Native(_) => Watch::Nothing,
        };
        let is_bytecode = |frame: vm::Frame| matches!(frame.function, FrameFunction::Bytecode(_));
        let caller = (wanted..count).find(|index| frame(*index).is_some_and(is_bytecode));
        let target = caller.and_then(|index| self.return_point(FrameIndex(index)));
        if target.is_none() && watch == Watch::Nothing {
            return Some(self.run_free());
        }
        self.arm(target);
        self.context.set_watch(self.context.watch().max(watch));
        loop {
            if let Some(reason) = self.run_on() {
                return Some(reason);
            }
            // A recursive call may come through the same instruction further up.
            let has_returned =
                self.depth() <= depth && target.is_some() && self.position() == target;
            if has_returned || self.is_at_step(depth, origin) {
                self.arm(None);
                return None;
            }
        }
    }

    /// Whether the program stands before a step of native code with at most `depth` frames, or
    /// behind one that `origin` frames were inside of.
    fn is_at_step(&self, depth: usize, origin: usize) -> bool {
        let Some(boundary) = self.invocation().and_then(Invocation::boundary) else { return false };
        let here = self.depth();
        here <= depth && (boundary.kind != BoundaryKind::AfterStep || here < origin)
    }

    fn step_out(&mut self, hidden_calls: usize) -> StopReason {
        let path = self.position().map_or(0, |position| self.program.path_of(position).len());
        if path.saturating_sub(hidden_calls) > 1 {
            return self.step(StepKind::Out, Granularity::Line, hidden_calls);
        }
        let depth = self.depth();
        if depth < 2 {
            return self.run_free();
        }
        self.run_out(depth - 1, depth)
    }

    /// Runs until so many frames are left.
    fn run_out(&mut self, depth: usize, origin: usize) -> StopReason {
        let reason = self.run_to_return(depth, origin).unwrap_or_else(|| self.step_done());
        if matches!(reason, StopReason::Pause) {
            self.unfinished = Some(Unfinished::Out { depth, origin });
        }
        reason
    }

    /// The instruction that a frame goes on with when its call returns.
    fn return_point(&self, frame: FrameIndex) -> Option<Position> {
        let frame = self.invocation()?.frame(&self.context, frame)?;
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
}

/// The instruction that runs next, if the innermost frame is bytecode.
fn innermost(context: &Context, invocation: &Invocation) -> Option<Position> {
    match invocation.frame(context, FrameIndex(0))?.function {
        FrameFunction::Bytecode(position) => Some(position),
        FrameFunction::Native(_) | FrameFunction::Part { .. } => None,
    }
}
