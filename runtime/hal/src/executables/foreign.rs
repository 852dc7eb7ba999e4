//! Executables for devices that are not here, and the bytecode that stands for their dispatches.
//!
//! A program for a GPU asks for its device, creates executables of its format, looks up functions
//! by name, and records dispatches of them. If there is bytecode for its dispatches
//! ([`StandIns`]), the CPU takes the place of the device: an executable is a [`Foreign`] one, which
//! knows only names, and when a command buffer is finished, all of its dispatches get bytecode,
//! with the constants of each call and the bytecode's own count of workgroups.

use std::error::Error;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use vm::{ExecutionLimits, RunControl, Status};
use vmfb::FileBytes;

use super::dispatch::Dispatch;
use super::halt::Halt;
use super::interface::{Bytecode, Executable, Export};
use super::vmvx::VmvxExecutable;

/// Where bytecode for the dispatches of a program comes from whose device is not here.
pub trait StandIns: Debug + Send + Sync {
    /// The names of the devices that the program may look for.
    fn devices(&self) -> &[String];

    /// The formats of their executables.
    fn formats(&self) -> &[String];

    /// The names of all dispatches.
    fn names(&self) -> &[String];

    /// Bytecode for calls of dispatches, in their order; a reason where there can be none. It may
    /// have to be compiled first. None: that was cancelled.
    fn bytecode(
        &self,
        calls: &[ForeignCall],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Vec<Result<StandIn, NoStandIn>>>;
}

/// Why no bytecode stands for a call of a dispatch.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoStandIn {
    /// What makes bytecode has none for it.
    #[error("{0}")]
    NotMade(Arc<dyn Error + Send + Sync>),
    /// The bytecode cannot be loaded.
    #[error(transparent)]
    NotLoaded(#[from] Status),
    /// The bytecode is that of other dispatches.
    #[error("the bytecode has no dispatch @{name}")]
    NoDispatch {
        /// The name of the dispatch.
        name: String,
    },
    /// The bytecode is called in another way than the dispatch.
    #[error("it takes other bindings or constants")]
    OtherInterface,
}

/// A recorded call of a dispatch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ForeignCall {
    /// The name of the dispatch.
    pub name: String,
    /// Its push constants.
    pub constants: Arc<[u32]>,
}

/// Bytecode for a call of a dispatch.
#[derive(Clone, Debug)]
pub struct StandIn {
    /// The bytecode. It has an export with the name of the dispatch.
    pub bytecode: Arc<StandInBytecode>,
    /// How many workgroups the bytecode has for that call.
    pub workgroup_count: [u32; 3],
}

/// A module of bytecode that stands for dispatches. It is loaded once, when it is first used.
#[derive(Debug)]
pub struct StandInBytecode {
    data: Arc<vm::Buffer>,
    loaded: Mutex<Option<Result<Arc<dyn Executable>, Status>>>,
}

impl StandInBytecode {
    /// Holds the bytes of a module.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(bytes: Vec<u8>) -> Result<Self, Status> {
        let range = 0..bytes.len();
        let data = vm::Buffer::of_file(FileBytes::from(bytes), range);
        let data = data.ok_or_else(|| Status::internal("the bytecode cannot be held"))?;
        Ok(Self { data: Arc::new(data), loaded: Mutex::default() })
    }

    /// The bytes: the origin of its module in the program's context.
    #[must_use]
    pub fn data(&self) -> &Arc<vm::Buffer> {
        &self.data
    }

    /// The executable.
    pub(crate) fn load(&self, limits: &ExecutionLimits) -> Result<Arc<dyn Executable>, Status> {
        // The result is written whole, so a panic in another thread does not spoil it.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || -> Result<Arc<dyn Executable>, Status> {
            Ok(Arc::new(Standing(VmvxExecutable::load(&self.data, &[], limits)?)))
        };
        loaded.get_or_insert_with(load).clone()
    }
}

/// Bytecode in the place of an executable for another device.
#[derive(Debug)]
struct Standing(VmvxExecutable);

impl Executable for Standing {
    fn format(&self) -> &str {
        self.0.format()
    }

    fn exports(&self) -> &[Export] {
        self.0.exports()
    }

    fn run(
        &self,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
    ) -> Result<(), Halt> {
        self.0.run(dispatch, range, control)
    }

    fn bytecode(&self) -> Option<&Bytecode> {
        self.0.bytecode()
    }

    fn is_stand_in(&self) -> bool {
        true
    }
}

/// An executable for a device that is not here. Its exports are all dispatches of the program.
#[derive(Debug)]
pub struct Foreign {
    format: String,
    exports: Vec<Export>,
    stand_ins: Arc<dyn StandIns>,
    /// Why there is no bytecode for a dispatch.
    why_not: Option<NoStandIn>,
}

impl Foreign {
    pub(crate) fn new(format: String, stand_ins: Arc<dyn StandIns>) -> Self {
        let names = stand_ins.names().iter();
        let exports = names.map(|name| Export { name: name.clone(), ..Export::default() });
        Self { format, exports: exports.collect(), stand_ins, why_not: None }
    }

    /// The executable of one dispatch that cannot have bytecode. It fails when it runs.
    pub(crate) fn without_bytecode(&self, export: usize, why_not: NoStandIn) -> Self {
        Self {
            format: self.format.clone(),
            exports: self.exports.get(export).cloned().into_iter().collect(),
            stand_ins: self.stand_ins.clone(),
            why_not: Some(why_not),
        }
    }

    /// Where the bytecode of its dispatches comes from; `None` if there is known to be none.
    pub(crate) fn stand_ins(&self) -> Option<&Arc<dyn StandIns>> {
        self.why_not.is_none().then_some(&self.stand_ins)
    }
}

impl Executable for Foreign {
    fn format(&self) -> &str {
        &self.format
    }

    fn exports(&self) -> &[Export] {
        &self.exports
    }

    fn run(&self, dispatch: &Dispatch, _: Range<u64>, _: &RunControl) -> Result<(), Halt> {
        let name = self.name_of(dispatch.export);
        let format = &self.format;
        let why = match &self.why_not {
            Some(reason) => reason.to_string(),
            None => "its command buffer was not finished".to_owned(),
        };
        Err(Halt::Failed(Status::unimplemented(format!(
            "@{name} is of format '{format}', which does not run here, and has no bytecode that \
             could stand for it: {why}"
        ))))
    }

    fn foreign(&self) -> Option<&Foreign> {
        Some(self)
    }
}
