//! The flags that the commands with a program share: what it runs on.

use std::path::PathBuf;
use std::sync::Arc;

use hal::{Config, DeviceKind, NativeCode, Parameters};

use super::limits::LimitArguments;

/// The flags for what a program runs on: device, parameters, native code, limits.
#[derive(clap::Args)]
pub(crate) struct DeviceArguments {
    /// The device that programs see: local-sync (one thread) or local-task (all cores); repeat
    /// the flag for several devices
    #[arg(long = "device", value_name = "NAME", default_values_t = [DeviceKind::default()])]
    devices: Vec<DeviceKind>,

    /// Refuse to run machine code in modules: only bytecode runs
    #[arg(long = "no-native")]
    no_native: bool,

    /// An archive of parameters (.irpa, .gguf, .safetensors; a .npy, .bin or .raw file is one
    /// parameter), and the scope by which the program names it
    #[arg(long = "parameters", value_name = "[SCOPE=]FILE")]
    parameters: Vec<String>,

    /// How many threads local-task runs on; 0 means one per core
    #[arg(long = "task_topology_group_count", alias = "task_topology_max_group_count")]
    #[arg(value_name = "COUNT", default_value_t = 0)]
    threads: usize,

    /// Accepted for compatibility with IREE's tools. Modules are read, and the constants of large
    /// ones are mapped
    #[arg(long = "module_mode", value_name = "MODE", hide = true)]
    #[arg(value_parser = ["preload", "mmap"])]
    module_mode: Option<String>,

    /// Accepted for compatibility with IREE's tools. Small archives are read, and large ones are
    /// mapped
    #[arg(long = "parameter_mode", value_name = "MODE", hide = true)]
    #[arg(value_parser = ["preload", "file"])]
    parameter_mode: Option<String>,

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
    /// The configuration of the program's host, with native libraries that it can import from.
    ///
    /// # Errors
    /// A library or an archive of parameters cannot be opened.
    pub(crate) fn config_with(&self, libraries: &[PathBuf]) -> Result<Config, String> {
        let mut config = self.config()?;
        if self.no_native && !libraries.is_empty() {
            return Err("PERMISSION_DENIED; --no-native refuses native libraries".to_owned());
        }
        let opened = libraries.iter().map(|path| ffi::open(path, &self.signatures));
        config.libraries = opened.collect::<Result<_, _>>()?;
        Ok(config)
    }

    /// The configuration of the program's host.
    ///
    /// # Errors
    /// An archive of parameters cannot be opened.
    pub(crate) fn config(&self) -> Result<Config, String> {
        let native_code = if self.no_native { NativeCode::Refused } else { NativeCode::Allowed };
        let parameters = Parameters::open(&self.parameters).map_err(|status| status.to_string())?;
        let parameters = Arc::new(parameters);
        Ok(Config {
            device: self.devices.first().copied().unwrap_or_default(),
            more_devices: self.devices.iter().skip(1).copied().collect(),
            threads: self.threads,
            native_code,
            parameters,
            libraries: Vec::new(),
            limits: self.limits.limits(),
            imitates_narrow_calls: self.imitate_narrow_calls,
            is_guarded: self.guard,
            stand_ins: None,
        })
    }
}
