//! Bytecode for all dispatches of a program whose device is not here.
//!
//! Before the first run, one run of iree-compile makes bytecode of all dispatches. It cannot where
//! shapes are known only at run time; such dispatches get bytecode for their calls, again in one
//! run for all of a command buffer, when it is recorded.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use debuginfo::{DebugFile, DispatchInterfaces, DispatchTargets, TwinCall, WorkgroupCount};
use hal::{Config, ForeignCall, NoStandIn, StandIn, StandInBytecode, StandIns};
use vm::{Context, ModuleIndex, Ref};
use vmfb::{FileBytes, Module};

use super::maker::{Made, NoBytecode, NotMade, TwinMaker};

/// The question of a program which formats its device runs.
const FORMAT_QUERY: &str = "hal.executable.format";

/// Longer data is no name of a format.
const LONGEST_NAME: usize = 64;

/// What hears a text.
type Listener = dyn Fn(&str) + Send + Sync;

/// A listener for what takes its time: `Compiling …`.
#[derive(Clone, Default)]
pub struct Announcer(Option<Arc<Listener>>);

impl Announcer {
    /// A listener.
    pub fn new(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    fn say(&self, text: &str) {
        if let Some(listener) = &self.0 {
            listener(text);
        }
    }
}

impl fmt::Debug for Announcer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcer").finish_non_exhaustive()
    }
}

/// A module that may need stand-ins.
pub struct Candidate<'a> {
    /// Its file.
    pub path: Option<&'a Path>,
    /// The module.
    pub module: &'a Module,
    /// Its debug file.
    pub debug_file: Option<&'a DebugFile>,
}

/// What makes the stand-ins.
#[derive(Clone, Debug, Default)]
pub struct StandInOptions {
    /// The iree-compile to use; otherwise it is looked for.
    pub iree_compile: Option<PathBuf>,
    /// Whether no compiler may be started.
    pub never_compiles: bool,
    /// Hears what is compiled.
    pub announcer: Announcer,
}

/// Why nothing stands in for a program's device.
#[derive(Debug, thiserror::Error)]
pub enum NoStandIns {
    /// The sources of dispatches are no text.
    #[error(transparent)]
    NoText(#[from] Utf8Error),
    /// The user does not want to wait for the compiler.
    #[error("the compilation was cancelled")]
    Cancelled,
    /// The compiler makes no bytecode.
    #[error("{complaint}, and its dispatches have no bytecode: {reason}")]
    NoBytecode {
        /// Which modules are for which device.
        complaint: String,
        /// Why not.
        reason: NoBytecode,
    },
}

/// Why a call of a dispatch has no bytecode.
#[derive(Clone, Debug, thiserror::Error)]
enum NoneForCall {
    #[error("several modules have a dispatch @{0}")]
    SeveralOfTheName(String),
    #[error("the debug file does not have @{0}")]
    NotInDebugFile(String),
    #[error("how many workgroups it has depends on numbers that the call does not carry")]
    CountNotKnown,
    #[error(transparent)]
    NoBytecode(#[from] NoBytecode),
}

impl From<NoneForCall> for NoStandIn {
    fn from(reason: NoneForCall) -> Self {
        Self::NotMade(Arc::new(reason))
    }
}

/// The bytecode of a program's dispatches.
#[derive(Debug)]
pub struct DeviceStandIns {
    sources: Vec<Sources>,
    devices: Vec<String>,
    formats: Vec<String>,
    names: Vec<String>,
    /// The sources that have a dispatch; none if several do.
    owners: BTreeMap<String, Option<usize>>,
    announcer: Announcer,
    /// Whether a device of the program would run its dispatches, and the user does not allow it.
    is_refused: bool,
    made: Mutex<Cache>,
}

/// The dispatches of a module.
#[derive(Debug)]
struct Sources {
    module: String,
    maker: TwinMaker,
    interfaces: DispatchInterfaces,
}

/// What was compiled.
#[derive(Debug, Default)]
struct Cache {
    /// By the name of the dispatch, for all of its calls.
    general: HashMap<String, Result<Known, NoBytecode>>,
    /// For calls with certain constants only.
    special: HashMap<ForeignCall, Result<Known, NoBytecode>>,
    /// All bytecode with its debug companion.
    bytecode: Vec<(Arc<StandInBytecode>, FileBytes)>,
}

/// The bytecode of a dispatch.
#[derive(Clone, Debug)]
struct Known {
    bytecode: Arc<StandInBytecode>,
    count: WorkgroupCount,
}

/// A dispatch by its name, and its bytecode or why there is none.
type MadePart<'a> = (&'a str, Result<Known, NoBytecode>);

impl DeviceStandIns {
    /// The stand-ins for a program, if it has dispatches that cannot run here and their sources
    /// are there. All of them are compiled now, where that is possible without knowing shapes.
    ///
    /// # Errors
    /// They cannot be compiled: there is no compiler, or the user has cancelled it.
    pub fn for_program<'a>(
        candidates: impl IntoIterator<Item = Candidate<'a>>,
        options: &StandInOptions,
        host: &Config,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Arc<Self>>, NoStandIns> {
        let mut stand_ins = Self {
            sources: Vec::new(),
            devices: Vec::new(),
            formats: Vec::new(),
            names: Vec::new(),
            owners: BTreeMap::new(),
            announcer: options.announcer.clone(),
            is_refused: false,
            made: Mutex::default(),
        };
        for candidate in candidates {
            stand_ins.add(&candidate, options, host);
        }
        if stand_ins.sources.is_empty() {
            return Ok(None);
        }
        stand_ins.compile_all(is_cancelled)?;
        Ok(Some(Arc::new(stand_ins)))
    }

    /// Adds the dispatches of a module, if some of them cannot run here.
    fn add(&mut self, candidate: &Candidate<'_>, options: &StandInOptions, host: &Config) {
        let Candidate { path, module, debug_file } = candidate;
        if !may_need_stand_ins(module) {
            return;
        }
        let Some(text) = debug_file.and_then(|file| file.dispatches().ok().flatten()) else {
            return;
        };
        let targets = DispatchTargets::parse(&text);
        let runs = |format: &String| host.runs_format(format);
        let is_needed = |formats: &std::collections::BTreeSet<String>| !formats.iter().any(runs);
        let is_refused = |format: &String| !runs(format) && hal::runs_format(format, true);
        let mut needed: Vec<&String> =
            targets.executables.iter().filter(|it| is_needed(it)).flatten().collect();
        // Machine code that the user has refused is no other device.
        if needed.is_empty() || needed.iter().any(|format| is_refused(format)) {
            return;
        }
        self.is_refused |= needed.iter().any(|format| host.would_run_format(format));
        needed.retain(|format| !self.formats.contains(format));
        self.formats.extend(needed.into_iter().cloned());
        self.formats.sort();
        self.formats.dedup();
        self.devices.extend(targets.devices);
        let interfaces = DispatchInterfaces::parse(&text);
        for name in interfaces.names() {
            let owner = self.owners.entry(name.to_owned());
            owner.and_modify(|it| *it = None).or_insert(Some(self.sources.len()));
        }
        self.names = self.owners.keys().cloned().collect();
        let maker = TwinMaker {
            sources: FileBytes::from(text.into_bytes()),
            compiler: options.iree_compile.clone(),
            never_compiles: options.never_compiles,
            directory: path.and_then(Path::parent).map(Path::to_owned),
            debug_file: debug_file.cloned(),
        };
        self.sources.push(Sources { module: module.name().to_owned(), maker, interfaces });
    }

    /// What the user should know: nothing runs where it was meant to.
    #[must_use]
    pub fn note(&self) -> String {
        let instead = if self.is_refused {
            "; --sandbox=off, for a program that you trust, runs them on their device"
        } else {
            ""
        };
        format!("{}: its dispatches run as bytecode, on the CPU{instead}", self.complaint())
    }

    /// What is not here.
    fn complaint(&self) -> String {
        let modules: Vec<&str> = self.sources.iter().map(|it| it.module.as_str()).collect();
        let (modules, formats) = (modules.join(", "), self.formats.join(", "));
        format!("{modules} is compiled to {formats}, which does not run here")
    }

    /// Compiles all dispatches, for all calls of them.
    fn compile_all(&self, is_cancelled: &dyn Fn() -> bool) -> Result<(), NoStandIns> {
        for (index, sources) in self.sources.iter().enumerate() {
            let text = sources.maker.text()?;
            let owned = self.owners.iter().filter(|(_, owner)| **owner == Some(index));
            let calls: Vec<TwinCall<'_>> = owned.map(|(name, _)| (name.as_str(), None)).collect();
            let made = self.make(sources, &calls, is_cancelled);
            let made = match made {
                Err(NotMade::Refused(reason)) => {
                    // Shapes of run time are what the compiler cannot do.
                    let takes = |call: &TwinCall<'_>| debuginfo::takes_numbers(text, call.0);
                    let (later, now): (Vec<_>, Vec<_>) = calls.iter().copied().partition(takes);
                    let later = later.into_iter().map(|(name, _)| (name, Err(reason.clone())));
                    let made = self.make_parts(sources, &now, is_cancelled);
                    made.map(|made| later.chain(made).collect())
                }
                made => made.map(|made| self.known(made, &calls)),
            };
            let made = made.map_err(|error| match error {
                NotMade::Cancelled => NoStandIns::Cancelled,
                NotMade::Refused(reason) | NotMade::Impossible(reason) => {
                    NoStandIns::NoBytecode { complaint: self.complaint(), reason }
                }
            })?;
            let made = made.into_iter().map(|(name, known)| (name.to_owned(), known));
            self.cache().general.extend(made);
        }
        Ok(())
    }

    fn make(
        &self,
        sources: &Sources,
        calls: &[TwinCall<'_>],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Made, NotMade> {
        let count = match calls.len() {
            1 => format!("dispatch @{}", calls[0].0),
            count => format!("{count} dispatches"),
        };
        let module = &sources.module;
        let on_compile =
            || self.announcer.say(&format!("Compiling {count} of {module} to bytecode …"));
        sources.maker.make(calls, &on_compile, is_cancelled)
    }

    /// Makes bytecode in as few parts as the compiler can do.
    fn make_parts<'a>(
        &self,
        sources: &Sources,
        calls: &[TwinCall<'a>],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<MadePart<'a>>, NotMade> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        match self.make(sources, calls, is_cancelled) {
            Ok(made) => Ok(self.known(made, calls)),
            Err(NotMade::Refused(reason)) if calls.len() == 1 => {
                Ok(calls.iter().map(|(name, _)| (*name, Err(reason.clone()))).collect())
            }
            Err(NotMade::Refused(_)) => {
                let (first, second) = calls.split_at(calls.len() / 2);
                let mut made = self.make_parts(sources, first, is_cancelled)?;
                made.extend(self.make_parts(sources, second, is_cancelled)?);
                Ok(made)
            }
            Err(error) => Err(error),
        }
    }

    /// The bytecode of each call in a module that was made for all of them.
    fn known<'a>(&self, made: Made, calls: &[TwinCall<'a>]) -> Vec<MadePart<'a>> {
        let counts: Vec<_> = calls.iter().map(|(name, _)| (*name, made.count(name))).collect();
        let bytecode = StandInBytecode::new(made.module).map(Arc::new);
        if let Ok(bytecode) = &bytecode {
            self.cache().bytecode.push((bytecode.clone(), made.companion.into()));
        }
        let known = |count: Result<WorkgroupCount, NoBytecode>| {
            Ok(Known { bytecode: bytecode.clone()?, count: count? })
        };
        counts.into_iter().map(|(name, count)| (name, known(count))).collect()
    }

    /// The bytecode for a call; none if it has to be made.
    fn find(&self, call: &ForeignCall) -> Option<Result<StandIn, NoneForCall>> {
        let Some(Some(owner)) = self.owners.get(&call.name) else {
            let name = call.name.clone();
            return Some(Err(match self.owners.contains_key(&name) {
                true => NoneForCall::SeveralOfTheName(name),
                false => NoneForCall::NotInDebugFile(name),
            }));
        };
        let interface = self.sources.get(*owner).and_then(|it| it.interfaces.of(&call.name));
        let workload = interface.map(|it| it.workload(&call.constants)).unwrap_or_default();
        let stand_in = |known: &Known| {
            let workgroup_count = known.count.of(&workload)?;
            Some(StandIn { bytecode: known.bytecode.clone(), workgroup_count })
        };
        let cache = self.cache();
        let general = cache.general.get(&call.name);
        if let Some(found) = general.and_then(|known| stand_in(known.as_ref().ok()?)) {
            return Some(Ok(found));
        }
        let without_numbers = || {
            Err(match general {
                Some(Err(reason)) => reason.clone().into(),
                _ => NoneForCall::CountNotKnown,
            })
        };
        if call.constants.is_empty() {
            return Some(without_numbers());
        }
        match cache.special.get(call)? {
            Ok(known) => Some(stand_in(known).map_or_else(without_numbers, Ok)),
            Err(reason) => Some(Err(reason.clone().into())),
        }
    }

    /// Makes the bytecode for calls with these constants.
    fn make_special(
        &self,
        mut calls: Vec<&ForeignCall>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), NotMade> {
        while let Some(first) = calls.first() {
            // Those of one module, each dispatch once: its name is that of the bytecode's export.
            let owner = self.owners.get(&first.name).copied().flatten();
            let mut now: Vec<&ForeignCall> = Vec::new();
            calls.retain(|call| {
                let is_now = self.owners.get(&call.name).copied().flatten() == owner
                    && now.iter().all(|other| other.name != call.name);
                if is_now {
                    now.push(call);
                }
                !is_now
            });
            let Some(sources) = owner.and_then(|owner| self.sources.get(owner)) else { continue };
            let wanted: Vec<TwinCall<'_>> =
                now.iter().map(|call| (call.name.as_str(), Some(&*call.constants))).collect();
            let made = self.make_parts(sources, &wanted, is_cancelled)?;
            let made: HashMap<&str, Result<Known, NoBytecode>> = made.into_iter().collect();
            let mut cache = self.cache();
            for call in now {
                if let Some(known) = made.get(call.name.as_str()) {
                    cache.special.insert(call.clone(), known.clone());
                }
            }
        }
        Ok(())
    }

    /// All bytecode.
    pub(crate) fn bytecode(&self) -> Vec<Arc<StandInBytecode>> {
        self.cache().bytecode.iter().map(|(bytecode, _)| bytecode.clone()).collect()
    }

    /// The debug companion of a module of bytecode in a context.
    pub(crate) fn companion(&self, context: &Context, module: ModuleIndex) -> Option<FileBytes> {
        let cache = self.cache();
        let found = cache.bytecode.iter().find(|(bytecode, _)| {
            let origin = Ref::Buffer(bytecode.data().clone());
            context.attached_from(&origin).any(|attached| attached == module)
        });
        found.map(|(_, companion)| companion.clone())
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        // Entries are added whole, so a panic in another thread does not spoil them.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StandIns for DeviceStandIns {
    fn devices(&self) -> &[String] {
        &self.devices
    }

    fn formats(&self) -> &[String] {
        &self.formats
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn bytecode(
        &self,
        calls: &[ForeignCall],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Vec<Result<StandIn, NoStandIn>>> {
        let mut missing: Vec<&ForeignCall> = Vec::new();
        for call in calls {
            if self.find(call).is_none() && !missing.contains(&call) {
                missing.push(call);
            }
        }
        let failure = match self.make_special(missing, is_cancelled) {
            Ok(()) => NoneForCall::CountNotKnown,
            Err(NotMade::Cancelled) => return None,
            Err(NotMade::Refused(reason) | NotMade::Impossible(reason)) => reason.into(),
        };
        let found = calls.iter().map(|call| self.find(call));
        let found = found.map(|found| found.unwrap_or_else(|| Err(failure.clone())));
        Some(found.map(|found| found.map_err(NoStandIn::from)).collect())
    }
}

/// Whether a module may ask for formats that do not run here. It is a quick look at the names in
/// its data: only such modules are worth reading their debug file for.
pub fn may_need_stand_ins(module: &Module) -> bool {
    let segments = module.rodata().iter().filter(|it| it.range.len() <= LONGEST_NAME);
    let names = segments.filter_map(|segment| module.file_bytes().get(segment.range.clone()));
    let names: Vec<String> =
        names.filter_map(|bytes| String::from_utf8(bytes.into_owned()).ok()).collect();
    let runs = |name: &String| hal::runs_format(name, true);
    let is_other =
        |name: &String| (name.ends_with("-fb") || name.starts_with("gfx")) && !runs(name);
    names.iter().any(|name| name == FORMAT_QUERY)
        && (names.iter().any(is_other) || !names.iter().any(runs))
}
