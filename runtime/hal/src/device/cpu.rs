//! `!hal.device`: the CPU as a device, under one of IREE's names for it, or a graphics processor.
//!
//! Both have the same memory, queue and order: a graphics processor differs in the executables that
//! it runs, and in its answers.

use std::any::Any;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use gpu::{Api, GpuName};
use vm::{Kept, Object, Status};

use super::nested_modules::NestedModules;
use super::refusals::Refusals;
use crate::executables::{
    self, DispatchTime, MachineCode, NativeCode, OpenGpu, Sandbox, StandIns, WorkerPool,
};
use crate::history::History;
use crate::memory::Allocator;
use crate::scheduling::{Queue, Submission};

/// Which of IREE's devices a program sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeviceKind {
    /// Dispatches run on the calling thread.
    #[default]
    LocalSync,
    /// Dispatches run on all cores.
    LocalTask,
    /// Dispatches run on a graphics processor.
    Gpu(Api, GpuName),
}

impl DeviceKind {
    /// The name that `--device=` takes and programs match.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LocalSync => "local-sync",
            Self::LocalTask => "local-task",
            Self::Gpu(api, _) => api.driver(),
        }
    }

    /// The pool for its dispatches. `threads` counts for `local-task` only, where 0 is one for each
    /// core.
    #[must_use]
    pub(crate) fn pool(self, threads: usize) -> WorkerPool {
        match (self, threads) {
            (Self::LocalSync | Self::Gpu(..), _) => WorkerPool::calling_thread(),
            (Self::LocalTask, 0) => WorkerPool::all_cores(),
            // More threads than this is a mistake, and each takes memory.
            (Self::LocalTask, threads) => WorkerPool::with_threads(threads.min(1024)),
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpu(api, name) if *name != GpuName::default() => {
                write!(f, "{}://{name}", api.driver())
            }
            _ => f.write_str(self.name()),
        }
    }
}

/// A name of a device that is not here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "no device `{name}`: programs run on the CPU here, as local-sync (one thread) or local-task \
     (all cores), or on a graphics processor, as vulkan, cuda or hip, with a number or an \
     identifier where there are several: vulkan://1, cuda://GPU-…"
)]
pub struct UnknownDevice {
    /// Its name, without what selects one of several.
    pub name: String,
}

impl FromStr for DeviceKind {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, UnknownDevice> {
        // The text after `://` selects one of several devices. The CPU is always the same one.
        let (driver, path) = text.split_once("://").unwrap_or((text, ""));
        if let Some(api) = Api::of_driver(driver) {
            let unknown = || UnknownDevice { name: text.to_owned() };
            return path.parse().map(|name| Self::Gpu(api, name)).map_err(|_| unknown());
        }
        match driver {
            "local-sync" => Ok(Self::LocalSync),
            "local-task" | "local" => Ok(Self::LocalTask),
            other => Err(UnknownDevice { name: other.to_owned() }),
        }
    }
}

/// The CPU, or a graphics processor.
#[derive(Debug)]
pub struct Device {
    kind: DeviceKind,
    machine_code: MachineCode,
    /// The bytecode for a program whose own device is not here.
    stand_ins: Option<Arc<dyn StandIns>>,
    allocator: Allocator,
    shared: Arc<Shared>,
}

/// What all devices of a program share: they are the same CPU, and work for one device may wait for
/// work of another.
#[derive(Debug)]
struct Shared {
    queue: Queue,
    pool: WorkerPool,
    nested_modules: NestedModules,
    history: History,
    refusals: Refusals,
}

/// `!hal.device`: a ref to a device.
#[derive(Clone, Debug)]
pub struct DeviceRef(pub Arc<Device>);

impl Device {
    /// A device with an empty queue.
    #[must_use]
    pub(crate) fn new(
        kind: DeviceKind,
        pool: WorkerPool,
        machine_code: MachineCode,
        allocator: Allocator,
    ) -> Self {
        Self {
            kind,
            machine_code,
            stand_ins: None,
            shared: Arc::new(Shared {
                queue: Queue::default(),
                pool,
                nested_modules: NestedModules::default(),
                history: History::with_journal(allocator.journal().clone()),
                refusals: Refusals::default(),
            }),
            allocator,
        }
    }

    /// Another device of the same program, under the name of `kind`. It shares the queue and the
    /// pool.
    #[must_use]
    pub(crate) fn another(
        &self,
        kind: DeviceKind,
        gpu: Option<OpenGpu>,
        gpu_apart: Option<Result<Arc<Sandbox>, Status>>,
    ) -> Self {
        Self {
            kind,
            machine_code: MachineCode { gpu, gpu_apart, ..self.machine_code.clone() },
            stand_ins: self.stand_ins.clone(),
            allocator: self.allocator.clone(),
            shared: self.shared.clone(),
        }
    }

    /// The same device in the place of those that bytecode stands in for.
    #[must_use]
    pub(crate) fn with_stand_ins(self, stand_ins: Option<Arc<dyn StandIns>>) -> Self {
        Self { stand_ins, ..self }
    }

    /// The bytecode for a program whose own device is not here.
    #[must_use]
    pub fn stand_ins(&self) -> Option<&Arc<dyn StandIns>> {
        self.stand_ins.as_ref()
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// Whether it runs machine code.
    #[must_use]
    pub(crate) fn native_code(&self) -> NativeCode {
        self.machine_code.allowed
    }

    /// Whether it runs machine code, and what that imports from.
    #[must_use]
    pub(crate) fn machine_code(&self) -> &MachineCode {
        &self.machine_code
    }

    /// The allocator of its memory.
    #[must_use]
    pub fn allocator(&self) -> &Allocator {
        &self.allocator
    }

    /// Its queue. All affinities select this one.
    #[must_use]
    pub(crate) fn queue(&self) -> &Queue {
        &self.shared.queue
    }

    /// The pool that runs its dispatches.
    #[must_use]
    pub(crate) fn pool(&self) -> &WorkerPool {
        &self.shared.pool
    }

    /// How many workgroups may run at the same time.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        self.shared.pool.concurrency()
    }

    /// Makes dispatches run on one thread, their workgroups in order, or on all threads again.
    pub fn set_one_threaded(&self, is_one: bool) {
        self.shared.pool.set_alone(is_one);
    }

    /// Measures dispatches from now on. Those that are watched workgroup by workgroup do not count.
    pub fn time_dispatches(&self) {
        self.shared.pool.time_dispatches();
    }

    /// How long the dispatches of each export took since this was last asked.
    #[must_use]
    pub fn take_dispatch_times(&self) -> Vec<DispatchTime> {
        self.shared.pool.take_dispatch_times()
    }

    /// The modules that executables are in the program's context, if the program is inspected.
    #[must_use]
    pub fn nested_modules(&self) -> &NestedModules {
        &self.shared.nested_modules
    }

    /// The commands that ran, if the program is inspected.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.shared.history
    }

    /// Submits work, and runs all submissions that are ready.
    ///
    /// # Errors
    /// A submission that ran has failed.
    pub(crate) fn submit(&self, submission: Submission) -> Result<(), Status> {
        match self.shared.queue.submit(submission) {
            None => Ok(()),
            ready => self.shared.queue.run(ready, &self.shared.pool, &self.shared.history),
        }
    }

    /// Runs the submissions that have become ready.
    ///
    /// # Errors
    /// A submission that ran has failed.
    pub(crate) fn pump(&self) -> Result<(), Status> {
        self.shared.queue.run(None, &self.shared.pool, &self.shared.history)
    }

    /// Adds advice to the error of a program that found no device to run on. Other errors stay as
    /// they are.
    #[must_use]
    pub fn explain(&self, status: Status) -> Status {
        self.shared.refusals.explain(status, self.native_code())
    }

    /// Whether bytecode stands for executables of a format.
    #[must_use]
    pub(crate) fn stands_for(&self, format: &str) -> bool {
        let formats = self.stand_ins.iter().flat_map(|it| it.formats());
        formats.into_iter().any(|other| other == format)
    }

    /// The answer to a program's question; `None` if the question is unknown. In a recorded run
    /// whose results are known, it is that of the device then.
    #[must_use]
    pub(crate) fn query(&self, category: &str, key: &str) -> Option<i64> {
        let history = self.history();
        let recorded = history.results().and_then(|it| it.answer(self.kind.name(), category, key));
        let answer = recorded.unwrap_or_else(|| self.answer(category, key));
        if let Some(sink) = history.sink() {
            sink.answered(self.kind.name(), category, key, answer);
        }
        answer
    }

    fn answer(&self, category: &str, key: &str) -> Option<i64> {
        match (category, key) {
            ("hal.device.id", pattern) => {
                let others = self.stand_ins.iter().flat_map(|it| it.devices());
                let mut names = others.map(String::as_str).chain([self.kind.name()]);
                let is_this = names.any(|name| abi::glob::matches(pattern, name));
                if !is_this {
                    self.shared.refusals.device(pattern);
                }
                Some(is_this.into())
            }
            ("hal.executable.format", format) => {
                let is_supported = self.stands_for(format)
                    || executables::is_supported(format, &self.machine_code);
                if !is_supported {
                    self.shared.refusals.format(format);
                }
                Some(is_supported.into())
            }
            ("hal.cpu", feature) => executables::processor_feature(feature),
            ("hal.device", "concurrency") => Some(1),
            ("hal.dispatch", "concurrency") => Some(self.shared.pool.concurrency() as i64),
            _ => self.machine_code.gpu.as_ref()?.answer(category, key),
        }
    }
}

impl Object for DeviceRef {
    fn type_name(&self) -> &str {
        "hal.device"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// What waits in the queue cannot be put back.
    fn keep(&self) -> Kept {
        if self.0.queue().waiting_count() == 0 { Kept::Constant } else { Kept::Busy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_knows_of_itself() {
        let (kind, pool) = (DeviceKind::LocalSync, WorkerPool::calling_thread());
        let device = Device::new(kind, pool, MachineCode::default(), Allocator::default());
        assert_eq!(device.query("hal.device.id", "local*"), Some(1));
        assert_eq!(device.query("hal.device.id", "cuda"), Some(0));
        assert_eq!(device.query("hal.executable.format", "cuda-nvptx-fb"), Some(0));
        assert_eq!(device.query("hal.device", "weight"), None);
        assert_eq!("vulkan".parse(), Ok(DeviceKind::Gpu(Api::Vulkan, GpuName::Index(0))));
        assert_eq!("vulkan://1".parse::<DeviceKind>().unwrap().to_string(), "vulkan://1");
        assert!("vulkan://one".parse::<DeviceKind>().is_err());
        assert_eq!("hip://2".parse(), Ok(DeviceKind::Gpu(Api::Hip, GpuName::Index(2))));
        assert!("metal".parse::<DeviceKind>().is_err());
    }
}
