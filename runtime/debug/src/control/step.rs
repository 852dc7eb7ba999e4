//! Steps, made of stretches by the rules in `steps`.

use vm::{BoundaryKind, FrameFunction, FrameIndex, Invocation, Position, Watch};
use vmfb::decode::Operand;
use vmfb::{BytecodeOffset, Op};

use super::runner::{Runner, Unfinished};
use super::steps::plan::{Origin, StepPlan, Verdict};
use super::stop::{Granularity, StepKind, StopReason};
use crate::inspect::step_in_targets::Call;
use crate::machine::Phase;

impl Runner {
    /// Runs the initialisers, and stops before the function's first instruction.
    pub(super) fn run_to_entry(&mut self) -> StopReason {
        let reason = self.run_to_first_instruction();
        if matches!(reason, StopReason::Pause) {
            self.unfinished = Some(Unfinished::ToEntry);
        }
        reason
    }

    pub(super) fn run_to_first_instruction(&mut self) -> StopReason {
        while self.machine.is_initializing() {
            if let Some(reason) = self.run_on() {
                return reason;
            }
        }
        let begun = self.machine.position();
        if begun.is_some_and(|at| !self.machine.program.is_marker(at)) {
            return self.pass_over_constants();
        }
        // The first step of an invocation stops before its first instruction, a block marker.
        loop {
            if let Some(reason) = self.advance(Invocation::step) {
                return reason;
            }
            if !self
                .machine
                .position()
                .is_some_and(|position| self.machine.program.is_marker(position))
            {
                return self.pass_over_constants();
            }
        }
    }

    /// Advances to the place where the user sees the function begin: constants before it are
    /// skipped.
    pub(super) fn pass_over_constants(&mut self) -> StopReason {
        loop {
            let position =
                self.machine.position().filter(|at| self.machine.lines().is_ahead_of_entry(*at));
            if position.is_none_or(|position| !self.breakpoints.armed.at(position).is_empty()) {
                return StopReason::Entry;
            }
            if let Some(reason) = self.advance(Invocation::step) {
                return reason;
            }
        }
    }

    pub(super) fn run_free(&mut self) -> StopReason {
        loop {
            if let Some(reason) = self.run_on() {
                return reason;
            }
        }
    }

    /// Runs to one of several places, in a frame at a depth if one is given.
    pub(super) fn run_to_any(&mut self, places: &[Position], depth: Option<usize>) -> StopReason {
        self.set_temporary_stops(places.iter().copied());
        loop {
            if let Some(reason) = self.run_on() {
                return reason;
            }
            let is_there = self.machine.position().is_some_and(|at| places.contains(&at));
            if is_there && depth.is_none_or(|depth| self.machine.depth() == depth) {
                return StopReason::Step;
            }
            if depth.is_some_and(|depth| self.machine.depth() < depth) {
                return StopReason::Step;
            }
        }
    }

    /// Runs to a call, and steps into it.
    pub(super) fn step_into(&mut self, call: Call) -> StopReason {
        self.step_into_from(call, self.machine.depth())
    }

    /// Runs to a call of the frame at a depth, and steps into it.
    pub(super) fn step_into_from(&mut self, call: Call, depth: usize) -> StopReason {
        let here = (self.machine.position(), self.machine.depth());
        if here != (Some(call.position), depth) {
            match self.run_to_any(&[call.position], Some(depth)) {
                StopReason::Step => {}
                other => {
                    if matches!(other, StopReason::Pause) {
                        self.unfinished = Some(Unfinished::IntoCall { call, depth });
                    }
                    return other;
                }
            }
        }
        match call.inlined {
            None => self.step(StepKind::Into, Granularity::Line, 0),
            Some(calls) => {
                let path = self.machine.position().filter(|at| *at == call.position);
                let path = path.map_or_else(Vec::new, |at| self.machine.path_of(at));
                self.machine.hidden_calls = path.len().saturating_sub(1 + calls);
                StopReason::Step
            }
        }
    }

    /// A step that begins before `hidden_calls` inlined calls.
    pub(super) fn step(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        hidden_calls: usize,
    ) -> StopReason {
        if let Some(reason) = self.enter_twin(kind, granularity) {
            self.unfinished = Some(Unfinished::Enter { kind, granularity });
            return reason;
        }
        let goes_inwards = kind == StepKind::Into
            && granularity != Granularity::Instruction
            && self.machine.level().is_source();
        if let Some(fewer) = hidden_calls.checked_sub(1).filter(|_| goes_inwards) {
            self.machine.hidden_calls = fewer;
            return StopReason::Step;
        }
        let origin = match (self.machine.position(), self.machine.depth()) {
            (_, 0) => return self.run_to_entry(),
            (None, depth) if kind == StepKind::Over => {
                return self.over_native(kind, granularity, depth);
            }
            (Some(position), _) => Origin::Bytecode(position),
            (None, _) => Origin::Native,
        };
        let plan = StepPlan::new(
            self.machine.lines(),
            kind,
            granularity,
            origin,
            self.machine.depth(),
            hidden_calls,
        );
        let in_initialisers = self.machine.is_initializing();
        self.follow(plan, in_initialisers)
    }

    /// Steps from one step of native code to the next. At the level of the source these are
    /// dispatches, and the last one is followed by the next line of the program around them.
    ///
    /// The kind is that of the step that goes on after this step of native code: a step into stops
    /// before each one.
    pub(super) fn over_native(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        depth: usize,
    ) -> StopReason {
        let by_line = granularity != Granularity::Instruction && self.machine.level().is_source();
        loop {
            let reason = self.run_out(depth, depth);
            if matches!(reason, StopReason::Pause) {
                self.unfinished = Some(Unfinished::OverNative { kind, granularity, depth });
            }
            if !by_line || !matches!(reason, StopReason::Step) {
                return reason;
            }
            let Some(position) = self.machine.position() else {
                let lines = self.machine.lines();
                let invocation = self.machine.invocation();
                let boundary = invocation.filter(|it| it.boundary().is_some());
                if kind == StepKind::Into
                    || self.machine.depth() != depth
                    || boundary.is_none_or(|it| lines.is_at_operation(it))
                {
                    return reason;
                }
                continue;
            };
            let is_line = self.machine.lines().statement_of(position).is_some();
            if is_line || !self.machine.lines().has_lines(position.function) {
                return reason;
            }
            let origin = Origin::Native;
            let plan = StepPlan::new(self.machine.lines(), kind, granularity, origin, depth, 0);
            let in_initialisers = self.machine.is_initializing();
            return self.follow(plan, in_initialisers);
        }
    }

    /// A step from an instruction that has just run, whose line is shown. If the next instruction
    /// is on another line, the step ends at once.
    pub(super) fn step_after(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        just_ran: Position,
    ) -> StopReason {
        let origin = Origin::Bytecode(just_ran);
        let depth = self.machine.depth();
        let plan = StepPlan::new(self.machine.lines(), kind, granularity, origin, depth, 0);
        let next = self.machine.position().filter(|_| kind != StepKind::Out);
        if next.is_some_and(|next| plan.verdict(self.machine.lines(), next, depth) == Verdict::Stop)
        {
            return self.plan_done(&plan);
        }
        self.follow(plan, self.machine.is_initializing())
    }

    /// Steps by a plan, from where the program stands.
    pub(super) fn follow(&mut self, plan: StepPlan, in_initialisers: bool) -> StopReason {
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
            if in_initialisers && matches!(self.machine.phase, Phase::Running(_)) {
                return self.run_to_entry();
            }
            match verdict {
                Verdict::GoOn => {}
                Verdict::Stop => return self.plan_done(plan),
                Verdict::RunToReturn => {
                    let origin = self.machine.depth();
                    if let Some(reason) = self.run_to_return(plan.depth, origin) {
                        return reason;
                    }
                    let arrived = self.machine.position().map_or(Verdict::Stop, |position| {
                        plan.verdict(self.machine.lines(), position, self.machine.depth())
                    });
                    if arrived == Verdict::Stop {
                        return self.plan_done(plan);
                    }
                }
            }
        }
    }

    /// The end of a step by a plan.
    fn plan_done(&mut self, plan: &StepPlan) -> StopReason {
        let reason = self.step_done();
        if let (StopReason::Step, Some(position)) = (&reason, self.machine.position()) {
            self.machine.hidden_calls =
                plan.hidden_calls(self.machine.lines(), position, self.machine.depth());
        }
        reason
    }

    /// The end of a step. A breakpoint at the same instruction is reported instead of the step.
    fn step_done(&mut self) -> StopReason {
        // Breakpoints of dispatches were checked at the boundary, and those where a call has
        // returned as the program came there: each visit counts once.
        let position = self.machine.position().filter(|_| !self.has_asked_here);
        let hit = position.map(|position| self.hit(self.breakpoints.armed.at(position)));
        match hit {
            Some(hit) if !hit.is_empty() => StopReason::Breakpoint(hit),
            _ => StopReason::Step,
        }
    }

    /// Runs until the frame at `depth`, or an outer one, runs again. None: it does. `origin` is the
    /// number of frames at the beginning.
    ///
    /// A bytecode frame runs again when its call returns, where a temporary breakpoint stops it. A
    /// frame of native code runs again when its next step begins, or when the step ends in which
    /// this began. After the last step, the bytecode frame around it runs again.
    fn run_to_return(&mut self, depth: usize, origin: usize) -> Option<StopReason> {
        let invocation = self.machine.invocation()?;
        let count = invocation.depth();
        let wanted = count.checked_sub(depth)?;
        let frame = |index| invocation.frame(&self.machine.context, FrameIndex(index));
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
        self.set_temporary_stops(target);
        self.machine.context.set_watch(self.machine.context.watch().max(watch));
        loop {
            if let Some(reason) = self.run_on() {
                return Some(reason);
            }
            // A recursive call may reach the same instruction in an inner frame.
            let has_returned = self.machine.depth() <= depth
                && target.is_some()
                && self.machine.position() == target;
            if has_returned || self.is_at_step(depth, origin) {
                self.set_temporary_stops(None);
                return None;
            }
        }
    }

    /// Whether the program stands before a step of native code with at most `depth` frames, or
    /// after one that contained all `origin` frames.
    fn is_at_step(&self, depth: usize, origin: usize) -> bool {
        let Some(boundary) = self.machine.invocation().and_then(Invocation::boundary) else {
            return false;
        };
        let here = self.machine.depth();
        here <= depth && (boundary.kind != BoundaryKind::AfterStep || here < origin)
    }

    pub(super) fn step_out(&mut self, hidden_calls: usize) -> StopReason {
        let path =
            self.machine.position().map_or(0, |position| self.machine.path_of(position).len());
        if path.saturating_sub(hidden_calls) > 1 {
            return self.step(StepKind::Out, Granularity::Line, hidden_calls);
        }
        let depth = self.machine.depth();
        let boundary = self.machine.invocation().and_then(Invocation::boundary);
        if boundary.is_some_and(|it| it.kind == BoundaryKind::BeforeStep) {
            // The frame is that of the command, which ends where it has run.
            return self.run_out(depth, depth + 1);
        }
        if depth < 2 {
            return self.run_free();
        }
        let was_native = self.machine.position().is_none();
        let reason = self.run_out(depth - 1, depth);
        if was_native { self.on_to_line(reason, false) } else { reason }
    }

    /// Goes on to a line of the source, if the program has come out of native code into bytecode
    /// without one: that only waits for the commands of a line.
    pub(super) fn on_to_line(&mut self, mut reason: StopReason, mut has_left: bool) -> StopReason {
        if !self.machine.level().is_source() {
            return reason;
        }
        while matches!(reason, StopReason::Step) {
            let (kind, granularity) = (StepKind::Over, Granularity::Line);
            let depth = self.machine.depth();
            reason = match self.machine.position() {
                Some(position) => {
                    let lines = self.machine.lines();
                    let is_line = lines.statement_of(position).is_some();
                    if is_line || !lines.has_lines(position.function) {
                        return reason;
                    }
                    has_left = true;
                    let plan = StepPlan::new(lines, kind, granularity, Origin::Native, depth, 0);
                    self.follow(plan, self.machine.is_initializing())
                }
                // Another dispatch before the next line.
                None if has_left => self.run_out(depth.saturating_sub(1), depth),
                None => return reason,
            };
        }
        if let Some(rest) = self.unfinished.take_if(|_| matches!(reason, StopReason::Pause)) {
            self.unfinished = Some(Unfinished::ToLine { rest: Box::new(rest), has_left });
        }
        reason
    }

    /// Runs until `depth` frames are left.
    pub(super) fn run_out(&mut self, depth: usize, origin: usize) -> StopReason {
        let reason = self.run_to_return(depth, origin).unwrap_or_else(|| self.step_done());
        if matches!(reason, StopReason::Pause) {
            self.unfinished = Some(Unfinished::Out { depth, origin });
        }
        reason
    }

    /// The instruction at which a frame resumes when its call returns.
    fn return_point(&self, frame: FrameIndex) -> Option<Position> {
        let frame = self.machine.invocation()?.frame(&self.machine.context, frame)?;
        let FrameFunction::Bytecode(call) = frame.function else { return None };
        let module = self.machine.context.bytecode_module(call.function.module)?;
        let code = module.function_bytecode(call.function.function);
        let instruction = vmfb::decode(code, call.offset).ok()?;
        let offset = match instruction.op {
            Op::Call | Op::CallVariadic => instruction.end,
            // These resume in a block, after its marker of one byte.
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
