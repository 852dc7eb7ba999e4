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
//! [`Debugger::resume`] blocks until the program stands still, so whoever wants to do something
//! else meanwhile moves the debugger to a thread of its own and keeps an [`InterruptHandle`].
//! Everything else needs the program to stand still, which the borrow checker sees to.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Busy, BusyDispatch, Context, FrameFunction, FrameIndex, Interrupt, Invocation};
use vm::{ModuleKind, Position};

use crate::arming::{Arms, LogSink};
use crate::breakpoint::{Breakpoint, BreakpointId, BreakpointSpec, BreakpointTable};
use crate::dispatch_traps::BeforeDispatch;
use crate::guard_traps::GuardedMemory;
use crate::program::{LaunchError, LaunchOptions, Program};
use crate::stepping::StepPlan;
use crate::stop::StopReason;
use crate::watch::Watcher;

/// Stops a running program from another thread.
#[derive(Clone, Debug, Default)]
pub struct InterruptHandle(Arc<Mutex<InterruptState>>);

#[derive(Debug, Default)]
struct InterruptState {
    requested: bool,
    /// The invocation that runs now: first the initialisers, then the function.
    current: Interrupt,
    /// The names of native functions, by module.
    natives: Vec<Vec<String>>,
}

impl InterruptHandle {
    /// Makes a running [`Debugger::resume`] return [`StopReason::Pause`] at the next call or
    /// backward branch; one that has not begun yet returns at once.
    pub fn interrupt(&self) {
        let mut state = self.lock();
        state.requested = true;
        state.current.request();
    }

    /// Whether an interrupt was asked for that the program has not come back for yet.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.lock().requested
    }

    /// What the program is busy with that an interrupt may have to wait for: a sentence without its
    /// full stop. None: the program itself runs.
    #[must_use]
    pub fn busy(&self) -> Option<String> {
        let state = self.lock();
        Some(match state.current.busy()? {
            Busy::Dispatch(dispatch, workgroup) => {
                let BusyDispatch { name, workgroup_count } = dispatch;
                let [x, y, z] = hal::workgroup_at(workgroup_count, workgroup);
                format!("in dispatch @{name}, workgroup ({x},{y},{z}); stops at its end")
            }
            Busy::Native(function) => {
                let module = state.natives.get(function.module.0 as usize)?;
                let name = module.get(function.function.0 as usize)?;
                format!("in {name}, which is native; stops when it returns")
            }
        })
    }

    /// Learns the names of native functions.
    fn learn(&self, context: &Context) {
        let names = context.modules().map(|(_, module, kind)| match kind {
            ModuleKind::Native(native) => {
                native.functions().map(|(name, _)| format!("{module}.{name}")).collect()
            }
            ModuleKind::Bytecode(_) => Vec::new(),
        });
        self.lock().natives = names.collect();
    }

    pub(crate) fn attach(&self, interrupt: Interrupt) {
        self.lock().current = interrupt;
    }

    /// Whether an interrupt was asked for since the last call. The invocation then need not stop
    /// for it any more.
    pub(crate) fn take(&self) -> bool {
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
pub(crate) enum Phase {
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
    pub(crate) phase: Phase,
    pub(crate) breakpoints: BreakpointTable,
    pub(crate) arms: Arms,
    pub(crate) log: LogSink,
    pub(crate) watcher: Watcher,
    /// Whether expressions may read this process's memory by address.
    pub(crate) foreign_memory: bool,
    /// NaN and infinities in what the dispatch is bound to that runs.
    pub(crate) before_dispatch: Option<BeforeDispatch>,
    /// What is in memory before a dispatch, if memory is guarded.
    pub(crate) guarded_memory: Option<GuardedMemory>,
    /// Dispatches, by name and line, whose floats were told, and those that nothing can be told of.
    pub(crate) caught_dispatches: HashSet<(String, Option<u32>)>,
    pub(crate) opaque_dispatches: HashSet<String>,
    pub(crate) interrupt: InterruptHandle,
    /// What a pause has cut in two.
    pub(crate) unfinished: Option<Unfinished>,
    /// Where it did so, and the breakpoints that were there then.
    pub(crate) paused_at: Option<(Position, Vec<BreakpointId>)>,
    /// The instruction that the program stands behind, where that is what is shown: it did what the
    /// stop is for.
    pub(crate) behind: Option<Position>,
    /// What else stops the program where it stands, to be told when it is to go on.
    pub(crate) also_here: Option<StopReason>,
    /// Conditions that could not be asked at this stop, and why.
    pub(crate) failed_conditions: Vec<(BreakpointId, String)>,
    /// Inlined calls that the program stands before, although their code is what runs next.
    pub(crate) hidden_calls: usize,
}

/// What is left to do of a [`Resume`] that was paused.
#[derive(Debug)]
pub(crate) enum Unfinished {
    ToEntry,
    Step {
        plan: StepPlan,
        in_initialisers: bool,
    },
    /// Until so many frames are left; it began with `origin`.
    Out {
        depth: usize,
        origin: usize,
    },
}

impl Debugger {
    /// Loads modules and links them. The program stands before its initialisers.
    ///
    /// # Errors
    /// A module cannot be loaded, verified or linked, or the function and its inputs do not fit.
    pub fn load(options: LaunchOptions) -> Result<Self, LaunchError> {
        let interrupt = options.interrupt.clone();
        let foreign_memory = options.foreign_memory;
        let (program, context) = Program::load(options)?;
        let invocation = Invocation::initialize(&context);
        interrupt.learn(&context);
        interrupt.attach(invocation.interrupt());
        let mut debugger = Self {
            program,
            context,
            phase: Phase::Initializing(invocation),
            breakpoints: BreakpointTable::default(),
            arms: Arms::default(),
            log: LogSink::default(),
            watcher: Watcher::default(),
            foreign_memory,
            before_dispatch: None,
            guarded_memory: None,
            caught_dispatches: HashSet::new(),
            opaque_dispatches: HashSet::new(),
            interrupt,
            unfinished: None,
            paused_at: None,
            behind: None,
            also_here: None,
            failed_conditions: Vec::new(),
            hidden_calls: 0,
        };
        debugger.watch_dispatches();
        Ok(debugger)
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
        self.rearm();
        id
    }

    /// Removes a breakpoint; tells whether it was there.
    pub fn remove_breakpoint(&mut self, id: BreakpointId) -> bool {
        let removed = self.breakpoints.remove(id);
        self.rearm();
        removed
    }

    /// Takes the breakpoints away, to be adopted by another run of the program.
    pub fn take_breakpoints(&mut self) -> BreakpointTable {
        let taken = std::mem::take(&mut self.breakpoints);
        self.rearm();
        taken
    }

    /// Takes over the breakpoints of an earlier run: they keep their names, have not been hit, and
    /// are looked for in this program.
    pub fn adopt_breakpoints(&mut self, table: BreakpointTable) {
        let Self { program, breakpoints, .. } = self;
        *breakpoints = table;
        breakpoints.begin_anew(|spec| program.resolve(spec));
        self.rearm();
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

    /// The instruction that runs next; none where the innermost frame is native.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        let frame = self.invocation()?.frame(&self.context, FrameIndex(0))?;
        match frame.function {
            FrameFunction::Bytecode(position) => Some(position),
            FrameFunction::Native(_) | FrameFunction::Part { .. } => None,
        }
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
    use crate::breakpoint::{BreakpointOptions, HitCondition, OptionError};
    use crate::program::ModuleSource;
    use crate::stop::{Granularity, Resume, StepKind, StopReason};
    use crate::watch::DataAccess;

    /// The embedded example of the command line, `main(2.0, 5)`.
    fn example() -> Debugger {
        loaded(None)
    }

    /// The same with its names.
    fn named_example() -> Debugger {
        loaded(Some(include_bytes!("../../cli/example/newton.vmfb.companion.mlir").to_vec()))
    }

    fn loaded(companion: Option<Vec<u8>>) -> Debugger {
        let load = Debugger::load(LaunchOptions {
            modules: vec![ModuleSource::Memory {
                name: "newton.vmfb".to_owned(),
                bytes: include_bytes!("../../cli/example/newton.vmfb").to_vec(),
                companion,
            }],
            inputs: vec!["2.0".to_owned(), "5".to_owned()],
            sources: HashMap::from([(
                "newton.mlir".to_owned(),
                include_str!("../../cli/example/newton.mlir").to_owned(),
            )]),
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

    /// The example with a breakpoint in the loop, after it ran to its end: how often it was hit.
    fn hits_of(options: &BreakpointOptions) -> (u64, u32) {
        let mut debugger = named_example();
        let id = debugger.add_breakpoint(BreakpointSpec::Function { name: "improve".into() });
        debugger.set_breakpoint_options(id, options).unwrap();
        let mut stops = 0;
        while matches!(debugger.resume(Resume::Continue), StopReason::Breakpoint(_)) {
            stops += 1;
        }
        (debugger.breakpoint(id).unwrap().hits(), stops)
    }

    #[test]
    fn conditions_and_counts_choose_visits() {
        let options = |condition: &str, hit: &str| BreakpointOptions {
            condition: Some(condition.into()),
            hit_condition: if hit.is_empty() { HitCondition::Always } else { hit.parse().unwrap() },
            log: None,
        };
        // Conditions on registers are asked in the loop, the others by the debugger.
        let cases = [
            ("", "", (5, 5)),
            ("%guess < 1.5", "", (3, 3)),
            ("%guess < 1.5 && x == 2", "", (3, 3)),
            ("max(%guess) < 1.5", "", (3, 3)),
            ("abs(%guess - 2.0) >= 0.5 and min(%guess, 1.0, nan) == 1", "", (4, 4)),
            ("", "3", (5, 1)),
            ("", "> 2", (5, 3)),
            ("", "% 2", (5, 2)),
            ("%guess < 1.5", "% 2", (3, 1)),
            ("rwdata[0] >= 2", ">= 2", (3, 2)),
            // One that fails stops once.
            ("1 / 0", "", (0, 1)),
            ("1 / (rwdata[0] - 2) > 5", "", (0, 1)),
            ("false", "", (0, 0)),
        ];
        for (condition, hit, expected) in cases {
            assert_eq!(hits_of(&options(condition, hit)), expected, "{condition} {hit}");
        }
    }

    #[test]
    fn a_condition_that_fails_says_so_once() {
        let mut debugger = named_example();
        let id = debugger.add_breakpoint(BreakpointSpec::Function { name: "improve".into() });
        let options = |condition: &str| BreakpointOptions {
            condition: Some(condition.into()),
            ..BreakpointOptions::default()
        };
        debugger.set_breakpoint_options(id, &options("1 / (rwdata[0] - 2) > 5")).unwrap();
        let reason = debugger.resume(Resume::Continue);
        let text = debugger.sentence(&reason);
        let expected = "the condition of breakpoint 1 failed: division by zero, in improve at ";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(debugger.frames().len(), 2);
        assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
        let message = debugger.breakpoint(id).unwrap().message.clone();
        assert_eq!(message.as_deref(), Some("the condition failed: division by zero"));
        for text in ["\"x\"", "!\"x\"", "%x > 1 && \"x\"", "1 ? \"a\" : 2"] {
            let refused = debugger.set_breakpoint_options(id, &options(text));
            assert!(matches!(refused, Err(OptionError::Condition(_))), "{text}");
        }
    }

    #[test]
    fn messages_are_said_without_a_stop() {
        let said = Arc::new(Mutex::new(Vec::new()));
        let mut debugger = named_example();
        let sink = Arc::clone(&said);
        debugger.set_log_sink(move |message| sink.lock().unwrap().push(message.text));
        let id = debugger.add_breakpoint(BreakpointSpec::Function { name: "improve".into() });
        let options = BreakpointOptions {
            condition: Some("rwdata[0] % 2 == 0".into()),
            log: Some("call {rwdata[0]}: {%guess}".into()),
            ..BreakpointOptions::default()
        };
        debugger.set_breakpoint_options(id, &options).unwrap();
        assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
        assert_eq!(*said.lock().unwrap(), ["call 0: 2", "call 2: 1.4166667", "call 4: 1.4142135"]);
    }

    #[test]
    fn a_register_is_watched_in_one_call_only() {
        let mut debugger = named_example();
        let spec = BreakpointSpec::Function { name: "improve".into() };
        assert!(matches!(debugger.run_to(&spec), Ok(StopReason::Step)));
        let target = debugger.watch_target(FrameIndex(0), "i2").unwrap();
        debugger.add_breakpoint(BreakpointSpec::Data { target, access: DataAccess::Change });
        let mut changes = 0;
        while let StopReason::Data(hits) = debugger.resume(Resume::Continue) {
            changes += hits.len();
            assert_eq!(debugger.frames().len(), 2);
        }
        assert!((1..5).contains(&changes), "{changes}");
    }
}
