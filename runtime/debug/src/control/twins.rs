//! Stepping into machine code: a dispatch runs as bytecode that is compiled from its source.
//!
//! The bytecode is compiled when the user first steps into a dispatch, and kept in the debug file.
//! What runs, and in which order, is decided in [`hal::QueueActivity::run_as`]; the program keeps
//! the results of its machine code. Where there can be no bytecode, the step is one over the
//! dispatch, and a message says why.

use std::any::Any;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use debuginfo::{TwinCall, WorkgroupCount};
use hal::{QueueActivity, ResolvedDispatch, Twin, TwinOutcome, TwinReport};
use vm::{Activity, BoundaryKind, Buffer, FrameIndex, Invocation, ModuleIndex};

use super::breakpoints::log::LogMessage;
use super::breakpoints::spec::BreakpointId;
use super::runner::Runner;
use super::stop::{Granularity, StepKind, StopReason};
use crate::machine::Machine;
use crate::target::program::NotMet;
use crate::tensor::TensorView;
use crate::twins::maker::{Made, NoBytecode, NotMade};

/// A dispatch: the module that recorded it, and the name of its export.
type Key = (Option<ModuleIndex>, String);

/// A dispatch with the constants of a call.
type Call = (Key, Arc<[u32]>);

/// The bytecode that stands for machine code.
#[derive(Default)]
pub(crate) struct Twins {
    compiler: Option<PathBuf>,
    /// Whether its results are not compared with those of the machine code.
    pub(crate) skips_comparison: bool,
    /// Whether nothing is said of the results: the caller looks at them.
    is_quiet: bool,
    /// What was compiled for all calls of a dispatch, or why it could not be.
    general: HashMap<Key, Result<Known, NoTwin>>,
    /// The same for calls with certain constants only.
    special: HashMap<Call, Result<Known, NoTwin>>,
    /// The report of the last one that ran.
    report: Option<TwinReport>,
    /// The number that its dispatch has among the commands that ran.
    number: u64,
    /// What it has left.
    left: Option<TwinOutcome>,
}

/// Whether the results of a twin stay, or those of the machine code after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TwinStays {
    /// The machine code does not run.
    Yes,
    /// The machine code runs as always, on the same inputs.
    No,
}

/// Why a dispatch does not run as bytecode.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoTwin {
    /// No machine code runs next.
    #[error("it is bytecode already")]
    BytecodeAlready,
    /// The user does not want to wait for the compiler.
    #[error("the compilation of its bytecode was cancelled")]
    Cancelled,
    /// There is no bytecode of it.
    #[error(transparent)]
    NoBytecode(#[from] NoBytecode),
    /// The bytecode computes its count of workgroups from more than the call has.
    #[error("how many workgroups its bytecode has depends on numbers that the call does not carry")]
    CountNotKnown,
    /// The program does not take the bytecode.
    #[error(transparent)]
    NotMet(#[from] NotMet),
    /// The program is not in a queue of a device.
    #[error("no queue runs it")]
    NoQueue,
    /// The device does not take the bytecode.
    #[error(transparent)]
    Device(#[from] vm::Status),
}

/// Why there is no tensor as bytecode has left it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoTensorOfTwin {
    /// The last dispatch has run in one way only.
    #[error(
        "no dispatch has just run as bytecode and as machine code; step into the dispatch that \
         computes it, and then out of it"
    )]
    NotCompared,
    /// The bytecode has computed something else.
    #[error("the machine code did not run, as values were changed")]
    ValuesChanged,
    /// It is a tensor of another dispatch.
    #[error(
        "the dispatch that has just run as bytecode does not use it; step into the dispatch that \
         computes it, and then out of it"
    )]
    NotUsed,
    /// A part of a tensor whose elements share bytes.
    #[error("its elements do not begin at a byte")]
    NotAtByte,
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] vm::Status),
}

/// Bytecode of a dispatch, and over how many workgroups it runs.
pub(super) struct CheckedTwin {
    twin: Twin,
    count: [u32; 3],
}

/// What the dispatch is that has just run.
pub(super) enum CodeOfLast {
    Bytecode,
    /// Machine code, with its bytecode.
    Machine(CheckedTwin),
    /// Machine code; the user has paused before there was bytecode.
    Paused,
}

/// Bytecode for a dispatch.
#[derive(Clone)]
struct Known {
    twin: Twin,
    /// How many workgroups it has.
    count: WorkgroupCount,
}

impl Twins {
    pub(crate) fn new(compiler: Option<PathBuf>, skips_comparison: bool) -> Self {
        Self { compiler, skips_comparison, ..Self::default() }
    }

    /// Whether one runs, and what it leaves will be compared.
    pub(super) fn is_awaited(&self) -> bool {
        self.report.is_some()
    }

    /// Forgets what the last one has left.
    pub(super) fn forget_outcome(&mut self) {
        (self.report, self.left, self.number) = (None, None, 0);
        self.is_quiet = false;
    }

    /// The user has changed a value: what a twin in progress computes is no more what the machine
    /// code has computed.
    pub(crate) fn values_changed(&self) {
        if let Some(report) = &self.report {
            report.keep_results();
        }
    }
}

/// Whether a step is meant to enter the dispatch before which the program stands.
fn enters(kind: StepKind, granularity: Granularity) -> bool {
    kind == StepKind::Into && granularity != Granularity::Instruction
}

impl Runner {
    /// The dispatch that a step will first have to compile to bytecode.
    pub(crate) fn twin_to_compile(
        &self,
        kind: StepKind,
        granularity: Granularity,
    ) -> Option<String> {
        let (key, _) = self.machine_code_ahead().filter(|_| enters(kind, granularity))?;
        let Machine { program, context, .. } = &self.machine;
        if program.own_bytecode(context, key.0, &key.1).is_some() {
            return None;
        }
        (!self.twins.general.contains_key(&key)).then_some(key.1)
    }

    /// Makes the dispatch of machine code before which the program stands run as bytecode, if a
    /// step enters it. A pause while it is compiled stops the program where it stands.
    pub(super) fn enter_twin(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
    ) -> Option<StopReason> {
        let (key, dispatch) = self.machine_code_ahead().filter(|_| enters(kind, granularity))?;
        let name = key.1.clone();
        let entered = match self.twin_of(key, &dispatch) {
            Ok(None) => return Some(StopReason::Pause),
            Ok(Some((known, count))) => self.substitute(known.twin, count),
            Err(reason) => Err(reason),
        };
        if let Err(reason) = entered {
            self.tell(format!("@{name} is machine code and cannot be stepped into: {reason}"));
        }
        None
    }

    /// Makes the dispatch of machine code before which the program stands run as bytecode, and as
    /// machine code after that unless the results of the bytecode stay.
    pub(crate) fn run_as_twin(&mut self, stays: TwinStays) -> Result<(), NoTwin> {
        let (key, dispatch) = self.machine_code_ahead().ok_or(NoTwin::BytecodeAlready)?;
        let made = self.twin_of(key, &dispatch)?;
        let (known, count) = made.ok_or(NoTwin::Cancelled)?;
        let skips = std::mem::replace(&mut self.twins.skips_comparison, false);
        let substituted = self.substitute(known.twin, count);
        self.twins.skips_comparison = skips;
        substituted?;
        self.twins.is_quiet = true;
        if stays == TwinStays::Yes {
            self.twins.values_changed();
            // Running again would run the machine code.
            self.forget_past();
        }
        Ok(())
    }

    /// What the dispatch is that has just run; of machine code, the bytecode is made.
    ///
    /// # Errors
    /// There is no bytecode of it; the text says why.
    pub(super) fn twin_of_last(&mut self) -> Result<CodeOfLast, NoTwin> {
        let Some((key, dispatch)) = self.machine_code_at(BoundaryKind::AfterStep) else {
            return Ok(CodeOfLast::Bytecode);
        };
        Ok(match self.twin_of(key, &dispatch)? {
            Some((known, count)) => CodeOfLast::Machine(CheckedTwin { twin: known.twin, count }),
            None => CodeOfLast::Paused,
        })
    }

    /// Makes the dispatch before which the program stands run as its bytecode, to be checked, and
    /// then as machine code.
    pub(super) fn check_twin(&mut self, checked: CheckedTwin) -> Result<(), NoTwin> {
        let skips = std::mem::replace(&mut self.twins.skips_comparison, false);
        let substituted = self.substitute(checked.twin, checked.count);
        self.twins.skips_comparison = skips;
        self.twins.is_quiet = substituted.is_ok() || self.twins.is_quiet;
        substituted
    }

    /// The user sees the bytecode run: what it leaves is of interest.
    pub(super) fn show_twin(&mut self) {
        self.twins.is_quiet = self.twins.skips_comparison;
    }

    /// The user does not see it run.
    pub(super) fn hide_twin(&mut self) {
        self.twins.is_quiet = true;
    }

    /// Makes the bytecode of all dispatches, in as few runs of the compiler as it can do. What
    /// cannot be made now is made, or refused, when it is asked for.
    pub(crate) fn make_twins(&mut self, on_compile: &dyn Fn()) {
        let modules = self.machine.program.modules.iter().filter(|it| !it.is_nested);
        let keys = modules.flat_map(|module| {
            let names = module.interfaces.names();
            names.map(|name| (Some(module.index), name.to_owned())).collect::<Vec<Key>>()
        });
        let mut keys: Vec<Key> = keys.filter(|key| !self.twins.general.contains_key(key)).collect();
        keys.sort();
        let Machine { program, context, .. } = &self.machine;
        keys.retain(|key| program.own_bytecode(context, key.0, &key.1).is_none());
        for keys in keys.chunk_by(|a, b| a.0 == b.0) {
            self.make_part(keys, on_compile);
        }
    }

    /// The same for some dispatches of one module: all at once, or else in halves. A part that the
    /// compiler refuses as a whole most often has shapes that only calls have.
    fn make_part(&mut self, keys: &[Key], on_compile: &dyn Fn()) {
        let [(module, first), ..] = keys else { return };
        let compiler = self.twins.compiler.clone();
        let Ok(maker) = self.machine.program.twin_maker(*module, first, compiler) else { return };
        let calls: Vec<TwinCall<'_>> =
            keys.iter().map(|(_, export)| (export.as_str(), None)).collect();
        match maker.make(&calls, on_compile, &|| self.interrupt.is_pending()) {
            Ok(made) => self.attach_all(keys, &made),
            Err(NotMade::Refused(_)) if keys.len() > 1 => {
                let takes = |key: &&Key| {
                    maker.text().is_ok_and(|text| debuginfo::takes_numbers(text, &key.1))
                };
                // Those with numbers of calls are made when they are called.
                let without: Vec<Key> = keys.iter().filter(|key| !takes(key)).cloned().collect();
                if without.len() < keys.len() {
                    self.make_part(&without, on_compile);
                } else {
                    let (first, second) = keys.split_at(keys.len() / 2);
                    self.make_part(first, on_compile);
                    self.make_part(second, on_compile);
                }
            }
            Err(_) => {}
        }
    }

    /// Attaches the bytecode of several dispatches, once.
    fn attach_all(&mut self, keys: &[Key], made: &Made) {
        let mut first: Option<Twin> = None;
        for (module, export) in keys {
            let count = match made.count(export) {
                Ok(count) => count,
                Err(reason) => {
                    self.twins.general.insert((*module, export.clone()), Err(reason.into()));
                    continue;
                }
            };
            let machine = &mut self.machine;
            let twin = match &first {
                Some(twin) => twin.beside(export),
                None => {
                    let device = machine.program.host().device().clone();
                    Twin::attach(&mut machine.context, &device, &made.module, export)
                }
            };
            // What cannot be attached here is made on its own when it is asked for.
            let Ok(twin) = twin else { continue };
            if first.is_none() {
                let companion = made.companion.clone();
                let module = twin.module();
                // Its lines are for stepping only.
                let _ = machine.program.meet_twin(&machine.context, module, companion);
                self.interrupt.learn(&self.machine.context);
                first = Some(twin.clone());
            }
            self.twins.general.insert((*module, export.clone()), Ok(Known { twin, count }));
        }
    }

    /// The dispatch of machine code before which the program stands.
    fn machine_code_ahead(&self) -> Option<(Key, ResolvedDispatch)> {
        self.machine_code_at(BoundaryKind::BeforeStep)
    }

    /// The dispatch of machine code at whose boundary the program stands.
    fn machine_code_at(&self, kind: BoundaryKind) -> Option<(Key, ResolvedDispatch)> {
        let boundary = self.machine.invocation().and_then(Invocation::boundary)?;
        if boundary.kind != kind || boundary.name.is_empty() {
            return None;
        }
        let activity = self.machine.queue_activity(FrameIndex(0))?;
        let dispatch = activity.dispatch().ok().flatten()?;
        if dispatch.executable.bytecode().is_some() {
            return None;
        }
        let recorded_at = activity.step().and_then(|step| step.recorded_at);
        let key = (recorded_at.map(|at| at.function.module), boundary.name.clone());
        Some((key, dispatch))
    }

    /// The bytecode for a call of a dispatch and its count of workgroups, compiled now if it is not
    /// known yet. None: the user has paused.
    ///
    /// Bytecode for all calls is best, as its shapes are those of the source. Where the compiler
    /// cannot make it, or its count of workgroups depends on what the call does not carry, it is
    /// made for this call's constants.
    fn twin_of(
        &mut self,
        key: Key,
        dispatch: &ResolvedDispatch,
    ) -> Result<Option<(Known, [u32; 3])>, NoTwin> {
        let constants = &dispatch.dispatch.constants;
        let general = match self.twins.general.get(&key) {
            Some(known) => known.clone(),
            None => {
                let Some(made) = self.make(&key, None) else { return Ok(None) };
                self.twins.general.insert(key.clone(), made.clone());
                made
            }
        };
        let interface = self.machine.program.dispatch_interface(&key.1);
        let workload = interface.map(|it| it.workload(constants)).unwrap_or_default();
        let why_not = match general {
            Ok(known) => match known.count.of(&workload) {
                Some(count) => return Ok(Some((known, count))),
                None => NoTwin::CountNotKnown,
            },
            Err(reason) if constants.is_empty() => return Err(reason),
            Err(reason) => reason,
        };
        let call = (key, Arc::clone(constants));
        let special = match self.twins.special.get(&call) {
            Some(known) => known.clone(),
            None => {
                let Some(made) = self.make(&call.0, Some(constants)) else { return Ok(None) };
                self.twins.special.insert(call, made.clone());
                made
            }
        };
        let known = special.map_err(|_| why_not.clone())?;
        let count = known.count.of(&HashMap::new()).ok_or(why_not)?;
        Ok(Some((known, count)))
    }

    /// Makes the bytecode of a dispatch, for calls with certain constants or for all. None: the
    /// user has paused.
    fn make(&mut self, key: &Key, numbers: Option<&[u32]>) -> Option<Result<Known, NoTwin>> {
        let (module, export) = key;
        if numbers.is_none()
            && let Some(own) = self.own_bytecode(key)
        {
            return Some(Ok(own));
        }
        let compiler = self.twins.compiler.clone();
        let maker = match self.machine.program.twin_maker(*module, export, compiler) {
            Ok(maker) => maker,
            Err(reason) => return Some(Err(reason.into())),
        };
        match maker.make(&[(export, numbers)], &|| {}, &|| self.interrupt.is_pending()) {
            Ok(made) => Some(self.attach(export, made)),
            Err(NotMade::Cancelled) => None,
            Err(NotMade::Refused(reason) | NotMade::Impossible(reason)) => Some(Err(reason.into())),
        }
    }

    /// The bytecode that the program has itself, beside its machine code.
    fn own_bytecode(&mut self, (module, export): &Key) -> Option<Known> {
        let Machine { program, context, .. } = &mut self.machine;
        let (module, data, count) = program.own_bytecode(context, *module, export)?;
        let device = program.host().device().clone();
        // Bytecode that cannot be taken is compiled instead.
        let twin = Twin::of_attached(context, &device, &data, module, export).ok()?;
        self.meet_modules();
        Some(Known { twin, count })
    }

    fn attach(&mut self, export: &str, made: Made) -> Result<Known, NoTwin> {
        let count = made.count(export)?;
        let machine = &mut self.machine;
        let device = machine.program.host().device().clone();
        let twin = Twin::attach(&mut machine.context, &device, &made.module, export)?;
        machine.program.meet_twin(&machine.context, twin.module(), made.companion)?;
        self.interrupt.learn(&self.machine.context);
        let program = &self.machine.program;
        self.breakpoints.table.resolve_again(|spec| spec.resolve(program));
        self.arm_breakpoints();
        Ok(Known { twin, count })
    }

    /// Makes the dispatch run as bytecode.
    fn substitute(&mut self, twin: Twin, count: [u32; 3]) -> Result<(), NoTwin> {
        let skips = self.twins.skips_comparison;
        let report = if skips { TwinReport::unread() } else { TwinReport::default() };
        let activity = self.machine.running().and_then(Invocation::innermost_activity_mut);
        let activity = activity.map(|activity: &mut dyn Activity| activity as &mut dyn Any);
        let activity = activity.and_then(|activity| activity.downcast_mut::<QueueActivity>());
        let activity = activity.ok_or(NoTwin::NoQueue)?;
        activity.run_as(twin, count, report.clone())?;
        self.twins.report = Some(report);
        (self.twins.number, self.twins.left) = (self.commands_run() + 1, None);
        self.watch_dispatches();
        Ok(())
    }

    /// Says how the results of a twin that has run compare with those of its machine code.
    pub(super) fn report_twin(&mut self) {
        let Some(outcome) = self.twins.report.as_ref().and_then(TwinReport::take) else { return };
        self.twins.report = None;
        if std::mem::take(&mut self.twins.is_quiet) {
            self.twins.left = Some(outcome);
            return;
        }
        let text = self.machine.twin_sentence(&outcome);
        self.tell(text);
        self.twins.left = Some(outcome);
    }

    pub(super) fn commands_run(&self) -> u64 {
        self.machine.program.host().device().history().total()
    }

    /// A tensor as bytecode has left it, while its memory holds what machine code has left.
    pub(crate) fn twin_of_tensor(&self, tensor: &TensorView) -> Result<TensorView, NoTensorOfTwin> {
        let is_last = self.twins.number == self.commands_run();
        let Some(outcome) = self.twins.left.as_ref().filter(|_| is_last) else {
            return Err(NoTensorOfTwin::NotCompared);
        };
        let TwinOutcome { resolved, keeps_twin, differing } = outcome;
        if *keeps_twin {
            return Err(NoTensorOfTwin::ValuesChanged);
        }
        let wanted = tensor.addresses();
        for (index, buffer) in resolved.buffers.iter().enumerate() {
            let memory = buffer.storage();
            let start = memory.address() as usize;
            if wanted.start < start || wanted.end > start + memory.len() {
                continue;
            }
            let Some((_, bytes)) = differing.iter().find(|(it, _)| *it == index) else {
                // Both have left the same bytes.
                return Ok(tensor.clone());
            };
            let buffer = Buffer::from_bytes(bytes)?;
            let twin = tensor.moved_to(Arc::new(buffer), wanted.start - start);
            return twin.ok_or(NoTensorOfTwin::NotAtByte);
        }
        Err(NoTensorOfTwin::NotUsed)
    }

    /// Sends a message of the debugger itself.
    pub(super) fn tell(&mut self, text: String) {
        self.breakpoints.log.send(LogMessage { breakpoint: BreakpointId(0), text, source: None });
    }
}
