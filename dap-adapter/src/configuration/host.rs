//! What a launched program runs on: its device, its parameters, native code, and the limits of time
//! and memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hal::{Config, DeviceKind, HAS_SANDBOX, NativeCode, Parameters, Plugins, SandboxChoice};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use vm::{ExecutionLimits, parse_bytes};

use super::unfit::Unfit;

/// The fields of `launch` about it. They have the names of the flags of `iree-dbg run`.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HostOptions {
    /// The device that the program sees: `local-sync`, the default, `local-task`, `vulkan`, `cuda`
    /// or `hip`.
    device: Option<String>,
    /// How many threads `local-task` runs on; by default one for each core.
    threads: Option<usize>,
    /// Whether machine code runs; by default it does.
    native: Option<bool>,
    /// Whose machine code runs in a process of its own that can only compute: `on`, `off`, or
    /// `auto`, the default, for recordings and for programs from outside of the workspace.
    sandbox: Option<String>,
    /// Archives of parameters, as `[scope=]file`.
    parameters: Vec<String>,
    /// Signatures of functions of native libraries that have no file of signatures beside them.
    signatures: Vec<String>,
    /// Libraries whose functions machine code imports; `embedded:FILE` and `FILE.sos` are ELF files
    /// that need no system.
    executable_plugins: Vec<String>,
    /// How many calls and backward jumps a call may make.
    max_steps: Option<u64>,
    /// How long a call may run: a number of seconds, or text such as `500ms`.
    #[serde(deserialize_with = "duration")]
    max_time: Option<Duration>,
    /// How many bytes all buffers and lists may take: a number, or text such as `"1GiB"`.
    max_memory: Option<Bytes>,
    /// How deeply calls may nest.
    max_call_depth: Option<usize>,
    /// Whether calls within modules pass what IREE's runtimes up to 3.12 pass.
    imitate_narrow_calls: bool,
    /// Whether device memory is guarded.
    guard: bool,
    /// Whether graphics processors are used in a process of their own.
    gpu_apart: bool,
}

/// A number of bytes.
#[derive(Deserialize, Clone, Debug)]
#[serde(try_from = "Value")]
struct Bytes(usize);

impl TryFrom<Value> for Bytes {
    type Error = Unfit;

    fn try_from(value: Value) -> Result<Self, Unfit> {
        let text = match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        parse_bytes(&text).map(Self).map_err(Unfit::MaxMemory)
    }
}

impl HostOptions {
    /// Makes relative paths relative to a directory.
    pub(crate) fn make_absolute(&mut self, cwd: &Path) {
        for archive in &mut self.parameters {
            let (scope, path) = match archive.split_once('=') {
                Some((scope, path)) => (format!("{scope}="), path),
                None => (String::new(), archive.as_str()),
            };
            *archive = format!("{scope}{}", cwd.join(path).display());
        }
        for plugin in &mut self.executable_plugins {
            *plugin = match plugin.strip_prefix("embedded:") {
                Some(path) => format!("embedded:{}", cwd.join(path).display()),
                None => cwd.join(&*plugin).display().to_string(),
            };
        }
    }

    /// The configuration for the program. Opens the archives of parameters and `libraries`, the
    /// native libraries among the modules. A program `from_outside` may have been sent by others,
    /// unless it comes with libraries or plugins, whose code runs with all rights anyway.
    ///
    /// # Errors
    /// There is no such device, a file cannot be opened, or `native` excludes a library.
    pub(crate) fn config(
        &self,
        libraries: &[PathBuf],
        from_outside: bool,
    ) -> Result<Config, Unfit> {
        let device = Some(self.device()).filter(|name| !name.is_empty());
        let device = device.map(str::parse).transpose();
        let is_native = self.native != Some(false);
        if !is_native && let Some(library) = libraries.first() {
            return Err(Unfit::NativeLibrary(library.clone()));
        }
        if !is_native && let Some(plugin) = self.executable_plugins.first() {
            return Err(Unfit::NativePlugin(plugin.clone()));
        }
        let is_alone = libraries.is_empty() && self.executable_plugins.is_empty();
        let native_code = self.native_code(from_outside && is_alone && HAS_SANDBOX)?;
        if native_code == NativeCode::Sandboxed
            && let Some(plugin) = self.executable_plugins.first()
        {
            return Err(Unfit::SandboxedPlugin(plugin.clone()));
        }
        let plugins = Plugins::open(&self.executable_plugins);
        let libraries = libraries.iter().map(|path| ffi::open(path, &self.signatures));
        let parameters = Parameters::open(&self.parameters);
        let config = Config {
            device: device.map_err(Unfit::Device)?.unwrap_or_default(),
            more_devices: Vec::new(),
            threads: self.threads.unwrap_or(0),
            native_code,
            plugins: plugins.map_err(Unfit::Plugins)?,
            parameters: Arc::new(parameters.map_err(Unfit::Parameters)?),
            libraries: libraries.collect::<Result<_, _>>()?,
            limits: self.limits(),
            imitates_narrow_calls: self.imitate_narrow_calls,
            is_guarded: self.guard,
            gpus_are_apart: self.gpu_apart,
            ..Config::default()
        };
        config.with_gpus().map_err(Unfit::Gpu)
    }

    /// Whether the program sees a graphics processor.
    pub(crate) fn is_of_gpu(&self) -> bool {
        matches!(self.device().parse(), Ok(DeviceKind::Gpu(..)))
    }

    /// The device that the program sees, as it is named; empty for the default.
    pub(crate) fn device(&self) -> &str {
        self.device.as_deref().unwrap_or_default()
    }

    /// How machine code may run, of a program that others may have sent or not.
    ///
    /// # Errors
    /// `sandbox` is none of its values.
    pub(crate) fn native_code(&self, is_sent: bool) -> Result<NativeCode, Unfit> {
        let choice = self.sandbox.as_deref().map(str::parse).transpose();
        let choice: SandboxChoice = choice.map_err(Unfit::Sandbox)?.unwrap_or_default();
        Ok(match self.native {
            Some(false) => NativeCode::Refused,
            _ => choice.native_code(is_sent),
        })
    }

    fn limits(&self) -> ExecutionLimits {
        let memory = self.max_memory.as_ref().map(|memory| memory.0);
        let limits = ExecutionLimits::chosen(self.max_steps, memory, self.max_call_depth);
        ExecutionLimits { time: self.max_time, ..limits }
    }
}

/// A duration as a number of seconds or as text.
fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = match Option::<serde_json::Value>::deserialize(deserializer)? {
        None | Some(serde_json::Value::Null) => return Ok(None),
        Some(serde_json::Value::String(text)) => text,
        Some(number) => number.to_string(),
    };
    let duration = vm::parse_duration(&text);
    duration.map(Some).map_err(|error| D::Error::custom(format!("`maxTime`: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn archives_are_relative_to_the_directory() {
        let cases = [
            ("model=w.irpa", "model=/data/w.irpa"),
            ("w.irpa", "/data/w.irpa"),
            ("model=/else/w.irpa", "model=/else/w.irpa"),
        ];
        for (archive, expected) in cases {
            let mut options: HostOptions =
                serde_json::from_value(json!({"parameters": [archive]})).unwrap();
            options.make_absolute(Path::new("/data"));
            assert_eq!(options.parameters, [expected]);
        }
    }

    #[test]
    fn time_is_a_number_or_text() {
        for (time, milliseconds) in [(json!(2), 2_000), (json!(0.5), 500), (json!("2min"), 120_000)]
        {
            let options: HostOptions = serde_json::from_value(json!({"maxTime": time})).unwrap();
            let expected = Some(Duration::from_millis(milliseconds));
            assert_eq!(options.limits().time, expected, "{time}");
        }
        let wrong = serde_json::from_value::<HostOptions>(json!({"maxTime": "soon"}));
        assert!(wrong.unwrap_err().to_string().contains("`maxTime`: "));
    }

    #[test]
    fn an_error_names_the_field() {
        let cases = [
            (json!({"device": "metal"}), "`device`: no device `metal`"),
            (json!({"parameters": ["a=/no/such.irpa"]}), "`parameters`: "),
        ];
        for (fields, expected) in cases {
            let options: HostOptions = serde_json::from_value(fields).unwrap();
            let error = options.config(&[], false).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let closed: HostOptions = serde_json::from_value(json!({"native": false})).unwrap();
        let error = closed.config(&["lib.so".into()], false).unwrap_err().to_string();
        assert!(error.contains("lib.so is a native library"), "{error}");
    }
}
