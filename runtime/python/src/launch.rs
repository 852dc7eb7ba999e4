//! What Python opens a program with, as the debugger takes it.

use std::path::PathBuf;
use std::sync::Arc;

use debug::{LaunchOptions, ModuleSource};
use hal::{Config, NativeCode, NativeLibrary, Parameters};
use serde_json::Value as Json;
use vm::{ExecutionLimits, parse_bytes, parse_duration};

use crate::error::Error;

/// The modules of a program, where its files are, and the device that it sees. `memory` are the
/// modules that are given as bytes; `libraries` have what it imports.
///
/// # Errors
/// The options make no sense.
pub(crate) fn options(
    options: &Json,
    memory: &[&[u8]],
    libraries: Vec<Arc<dyn NativeLibrary>>,
) -> Result<LaunchOptions, Error> {
    Ok(LaunchOptions {
        modules: modules(&options["modules"], memory)?,
        debug_directory: options["debug_directory"].as_str().map(PathBuf::from),
        source_directories: texts(&options["source_directories"])
            .into_iter()
            .map(PathBuf::from)
            .collect(),
        host: Config { libraries, ..config(options)? },
        ..LaunchOptions::default()
    })
}

/// The texts of a JSON array.
pub(crate) fn texts(json: &Json) -> Vec<String> {
    let items = json.as_array().into_iter().flatten();
    items.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// The modules that are named.
///
/// # Errors
/// One is neither a path nor bytes.
pub(crate) fn modules(json: &Json, memory: &[&[u8]]) -> Result<Vec<ModuleSource>, Error> {
    let items = json.as_array().into_iter().flatten();
    let modules = items.map(|item| match (item["path"].as_str(), item["memory"].as_u64()) {
        (Some(path), _) => Ok(ModuleSource::Path(PathBuf::from(path))),
        (None, Some(index)) => {
            let bytes = usize::try_from(index).ok().and_then(|index| memory.get(index));
            let bytes = bytes.ok_or(Error::NoBytes)?.to_vec();
            let name = item["name"].as_str().unwrap_or("module").to_owned();
            Ok(ModuleSource::memory(name, bytes, None))
        }
        _ => Err(Error::NoPathOrBytes),
    });
    modules.collect()
}

fn config(options: &Json) -> Result<Config, Error> {
    let mut devices = Vec::new();
    for device in texts(&options["devices"]) {
        devices.push(device.parse()?);
    }
    let parameters = Arc::new(Parameters::open(&texts(&options["parameters"]))?);
    let memory = options["max_memory"].as_str().map(parse_bytes).transpose()?;
    let depth = options["max_call_depth"].as_u64().and_then(|it| usize::try_from(it).ok());
    let limits = ExecutionLimits::chosen(options["max_steps"].as_u64(), memory, depth);
    let time = options["max_time"].as_str().map(parse_duration).transpose()?;
    let is_native = options["native"].as_bool().unwrap_or(true);
    // The program that becomes a sandbox: this one is Python.
    let sandbox = options["sandbox"].as_str().map(PathBuf::from);
    let native_code = match &sandbox {
        _ if !is_native => NativeCode::Refused,
        Some(_) => NativeCode::Sandboxed,
        None => NativeCode::Allowed,
    };
    sandbox.into_iter().for_each(hal::offer_sandbox);
    let config = Config {
        device: devices.first().copied().unwrap_or_default(),
        more_devices: devices.iter().skip(1).copied().collect(),
        threads: options["threads"].as_u64().map_or(0, |it| usize::try_from(it).unwrap_or(0)),
        native_code,
        parameters,
        limits: ExecutionLimits { time, ..limits },
        is_guarded: options["guard"].as_bool().unwrap_or(false),
        ..Config::default()
    };
    Ok(config.with_gpus()?)
}
