//! The flags that the commands with a program share: what it runs on.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use hal::{Config, DeviceKind, NativeCode, Parameters, Plugins, SandboxChoice};

use super::gpu::GpuArguments;
use super::iree_flags::IreeFlags;
use super::limits::LimitArguments;
use crate::failure::Failure;

/// The most threads, if no flag says.
const DEFAULT_MAX_THREADS: usize = 64;

/// The flags for what a program runs on: device, parameters, native code, limits.
#[derive(clap::Args)]
pub(crate) struct DeviceArguments {
    /// The device that programs see: local-sync (one thread), local-task (all cores), or
    /// vulkan, cuda, hip (vulkan://1, cuda://GPU-… of `--list_devices`); repeat it for several
    #[arg(long = "device", value_name = "NAME", default_values_t = [DeviceKind::default()])]
    devices: Vec<DeviceKind>,

    /// Refuse to run machine code in modules: only bytecode runs
    #[arg(long = "no-native")]
    no_native: bool,

    /// Run machine code in modules in a process of its own that can only compute: `on`, `off`, or
    /// `auto`, for recordings, which others may have sent (on Linux on x86-64)
    #[arg(long = "sandbox", value_name = "WHEN", default_value_t)]
    sandbox: SandboxChoice,

    /// An archive of parameters (.irpa, .gguf, .safetensors; a .npy, .bin or .raw file is one
    /// parameter), and the scope by which the program names it
    #[arg(long = "parameters", value_name = "[SCOPE=]FILE")]
    parameters: Vec<String>,

    /// How many threads local-task runs on; 0 means one per core
    #[arg(long = "task_topology_group_count", value_name = "COUNT", default_value_t = 0)]
    threads: usize,

    /// The most threads that local-task runs on, if their number is chosen by the cores
    #[arg(long = "task_topology_max_group_count", value_name = "COUNT", default_value_t = DEFAULT_MAX_THREADS)]
    max_threads: usize,

    /// Run local-task on as many threads as there are processors in these lists
    #[arg(long = "task_topology_cpu_ids", value_name = "ID,…")]
    processors: Vec<String>,

    /// How memory is made: `debug` guards it as --guard does; `caching` is taken, and changes
    /// nothing
    #[arg(long = "device_allocator", value_name = "SPEC")]
    allocators: Vec<String>,

    /// Refused: IREE's own tools write replays
    #[arg(long = "device_replay_output", value_name = "FILE", hide = true)]
    replay: Option<String>,

    /// A library whose functions machine code imports; `embedded:FILE` and `FILE.sos` are ELF files
    /// that need no system. Of several, the last is asked first
    #[arg(long = "executable_plugin", value_name = "FILE")]
    plugins: Vec<String>,

    #[command(flatten)]
    gpu: GpuArguments,

    #[command(flatten)]
    iree: IreeFlags,

    /// The type of a function of a native library (--module=lib.so), in MLIR; by default it is in
    /// the text beside the library (lib.mlir)
    #[arg(long = "signature", value_name = "FUNC.FUNC", allow_hyphen_values = true)]
    signatures: Vec<String>,

    /// Pass only the lower 32 bits of each number in calls within a module, as IREE's runtimes up
    /// to 3.12 do
    #[arg(long = "imitate-narrow-calls", alias = "imitate_narrow_calls")]
    imitate_narrow_calls: bool,

    /// Guard the program's memory: an access after the end of a buffer fails where it happens, and
    /// memory that was never written can be told from memory that was
    #[arg(long = "guard")]
    guard: bool,

    #[command(flatten)]
    limits: LimitArguments,
}

impl DeviceArguments {
    /// The first device that the program sees.
    pub(crate) fn kind(&self) -> DeviceKind {
        self.devices.first().copied().unwrap_or_default()
    }

    /// The configuration of the program's host, with native libraries that it can import from.
    ///
    /// # Errors
    /// A library or an archive of parameters cannot be opened.
    pub(crate) fn config_with(&self, libraries: &[PathBuf]) -> Result<Config, Failure> {
        let mut config = self.config()?;
        if self.no_native && !libraries.is_empty() {
            return Err("PERMISSION_DENIED; --no-native refuses native libraries".into());
        }
        let opened = libraries.iter().map(|path| ffi::open(path, &self.signatures));
        config.libraries = opened.collect::<Result<_, _>>()?;
        Ok(config)
    }

    /// The configuration of the program's host.
    ///
    /// # Errors
    /// An archive of parameters cannot be opened.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let native_code = self.native_code(false);
        let parameters = Arc::new(Parameters::open(&self.parameters)?);
        if self.replay.as_ref().is_some_and(|file| !file.is_empty()) {
            return Err("UNIMPLEMENTED; --device_replay_output: replays are not written here; \
                        iree-run-module writes them"
                .into());
        }
        let plugins: Vec<String> =
            self.plugins.iter().filter(|file| !file.is_empty()).cloned().collect();
        if self.no_native && !plugins.is_empty() {
            return Err("PERMISSION_DENIED; --no-native refuses --executable_plugin".into());
        }
        if self.sandbox == SandboxChoice::On && !plugins.is_empty() {
            return Err(
                "PERMISSION_DENIED; --executable_plugin: a plugin runs in this process, and \
                        --sandbox=on lets machine code run in its sandbox only"
                    .into(),
            );
        }
        let plugins = Plugins::open(&plugins)?;
        let config = Config {
            device: self.kind(),
            more_devices: self.devices.iter().skip(1).copied().collect(),
            threads: self.threads()?,
            native_code,
            plugins,
            parameters,
            libraries: Vec::new(),
            limits: self.limits.limits(),
            imitates_narrow_calls: self.imitate_narrow_calls,
            is_guarded: self.guard || self.has_debug_allocator()?,
            ..Config::default()
        };
        Ok(self.gpu.open(config)?)
    }

    /// Whether no flag is given, besides `--no-native` and `--sandbox`.
    pub(crate) fn is_unspecified(&self) -> bool {
        self.devices == [DeviceKind::default()]
            && self.parameters.is_empty()
            && self.plugins.is_empty()
            && self.processors.is_empty()
            && self.allocators.is_empty()
            && self.signatures.is_empty()
            && self.gpu.is_unspecified()
            && (self.threads, self.max_threads) == (0, DEFAULT_MAX_THREADS)
            && !self.imitate_narrow_calls
            && !self.guard
            && self.limits.is_unspecified()
    }

    /// How machine code may run, of a program that others may have sent or not.
    pub(crate) fn native_code(&self, is_sent: bool) -> NativeCode {
        if self.no_native { NativeCode::Refused } else { self.sandbox.native_code(is_sent) }
    }

    /// What the user should know about flags that change nothing.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.iree.notes();
        if self.allocators.iter().any(|spec| allocator_name(spec) == "caching") {
            notes.push("--device_allocator=caching: memory goes back to the system at once".into());
        }
        if !self.processors.is_empty() {
            notes.push(
                "--task_topology_cpu_ids: only their number counts; taskset restricts processors"
                    .into(),
            );
        }
        notes
    }

    fn has_debug_allocator(&self) -> Result<bool, Failure> {
        let names = self.allocators.iter().map(|spec| allocator_name(spec));
        match names.clone().find(|name| !matches!(*name, "debug" | "caching")) {
            Some(other) => Err(format!(
                "INVALID_ARGUMENT; unrecognized allocator '{other}'; there are `debug` and \
                 `caching`"
            )
            .into()),
            None => Ok(names.into_iter().any(|name| name == "debug")),
        }
    }

    /// The number of threads, 0 for one per core.
    fn threads(&self) -> Result<usize, Failure> {
        let mut processors = BTreeSet::new();
        for id in self.processors.iter().flat_map(|list| list.split(',')) {
            let id = id.trim().parse::<u32>().map_err(|_| {
                format!("INVALID_ARGUMENT; --task_topology_cpu_ids: `{id}` is no processor")
            })?;
            processors.insert(id);
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(match (self.threads, processors.len()) {
            (0, 0) if cores > self.max_threads => self.max_threads,
            (0, named) => named,
            (threads, _) => threads,
        })
    }
}

/// `caching` of `caching:*=1gib`.
fn allocator_name(spec: &str) -> &str {
    spec.split(':').next().unwrap_or_default()
}
