//! The arguments of `launch`: what they may contain, and their conversion for the debugger and the
//! compiler.
//!
//! Relative paths, also those within inputs (`@input.npy`), are relative to `cwd`. This process
//! does not change its own directory: over TCP it serves other sessions too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use compile::{CompileRequest, for_device};
use debug::{
    Debugger, LaunchOptions, ModuleSource, PastOptions, RecordOptions, RunMoment, SourceMap,
};
use hal::NativeCode;
use recording::Recorded;
use serde::Deserialize;
use serde_json::Value;

use super::expected::Expected;
use super::host::HostOptions;
use super::settings::{Settings, StepBy, level, log_path};
use super::unfit::Unfit;
use crate::protocol::RequestError;

/// The most memory for a recording that the user has not asked for, in bytes.
const MOST_UNASKED: usize = 1 << 30;

/// The arguments of `launch`. The protocol leaves them to the adapter;
/// `editors/vscode/package.json` describes them to users.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LaunchArguments {
    /// A `.vmfb`; or a `.mlir` or an ONNX model to compile first.
    program: PathBuf,
    /// The export to call; optional if there is only one.
    function: Option<String>,
    /// Its inputs, as `iree-run-module --input=` takes them.
    inputs: Inputs,
    /// Modules and native libraries to load before the program, for its imports.
    modules: Vec<PathBuf>,
    /// Whether to stop before the function's first instruction.
    stop_on_entry: bool,
    /// The level that is shown and stepped, by its name; by default the source.
    level: Option<String>,
    /// The same as the level `disassembly`, from older configurations.
    disassembly: bool,
    /// How far a step goes if its request does not say.
    step_by: StepBy,
    /// The directory that relative paths start from.
    cwd: Option<PathBuf>,
    /// The folders that are the user's own; by default `cwd`, if that is given. Machine code from
    /// elsewhere runs in a sandbox, where `sandbox` is `auto`.
    workspace_folders: Option<Vec<PathBuf>>,
    /// Prefixes of paths that the compiler recorded, and the directories that replace them.
    source_map: SourcePairs,
    /// More directories to search for sources.
    source_directories: Vec<PathBuf>,
    /// The directory of debug files that do not lie beside their modules.
    debug_directory: Option<PathBuf>,
    /// More flags for iree-compile.
    compiler_flags: Vec<String>,
    /// The version of ONNX that a model is brought to before it is imported.
    opset_version: Option<u32>,
    /// The path of iree-compile.
    iree_compile: Option<PathBuf>,
    /// Environment variables for iree-compile; null leaves a variable unchanged.
    env: BTreeMap<String, Option<String>>,
    /// The device, the parameters and the limits.
    #[serde(flatten)]
    host: HostOptions,
    /// Whether expressions may read memory of this process outside the program.
    foreign_memory: bool,
    /// Whether the console says how bytecode and machine code of a dispatch compare that was
    /// stepped into; yes by default.
    compare_bytecode: Option<bool>,
    /// The results that it should have, as `iree-run-module --expected_output=` takes them.
    expected: Inputs,
    /// How far floats may be from them, relative to them.
    expected_tolerance: Option<f64>,
    /// Whether the program is recorded, so that it can go back.
    record: Record,
    /// The most memory for the recording, as `500MiB`; a quarter of what is free, if not said.
    record_memory: Option<String>,
    /// The most memory for tensors that commands have overwritten, so that they can still be shown,
    /// as `500MiB`; 0 for none.
    past_memory: Option<String>,
    /// The moment at which it is opened, as `when` writes it: `@41.2.38`. It is recorded then.
    moment: Option<String>,
    /// Whether machine code runs again although the recording has the results of its commands.
    without_results: bool,
    /// Whether the program runs without stopping anywhere.
    no_debug: bool,
    /// Whether the client shows failed launches by itself, so that its own dialog for them is not
    /// asked for.
    quiet_failures: bool,
    /// Whether the client has asked its user about programs of the workspace, and they may run.
    trusted: bool,
    /// A file for the protocol log.
    log: Option<PathBuf>,
}

/// An input: text, or a number without quotes.
#[derive(Deserialize, Clone, Debug)]
#[serde(try_from = "serde_json::Value")]
struct Input(String);

impl TryFrom<Value> for Input {
    type Error = Unfit;

    fn try_from(value: Value) -> Result<Self, Unfit> {
        match value {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) => Ok(Self(number.to_string())),
            other => Err(Unfit::Input(other.to_string())),
        }
    }
}

/// Whether a program is recorded.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(try_from = "serde_json::Value")]
enum Record {
    #[default]
    No,
    /// It is, and stays at its end, where its past can be looked at.
    Yes,
    /// It is, if that costs little, and stays at its end only if something is wrong with its
    /// results.
    Auto,
}

impl TryFrom<Value> for Record {
    type Error = Unfit;

    fn try_from(value: Value) -> Result<Self, Unfit> {
        match value {
            Value::Null | Value::Bool(false) => Ok(Self::No),
            Value::Bool(true) => Ok(Self::Yes),
            Value::String(text) if text == "auto" => Ok(Self::Auto),
            other => Err(Unfit::Record(other.to_string())),
        }
    }
}

/// All inputs: a list, or a single one.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(try_from = "serde_json::Value")]
struct Inputs(Vec<Input>);

impl TryFrom<Value> for Inputs {
    type Error = Unfit;

    fn try_from(value: Value) -> Result<Self, Unfit> {
        let all = match value {
            Value::Array(all) => all,
            one => vec![one],
        };
        all.into_iter().map(Input::try_from).collect::<Result<_, _>>().map(Self)
    }
}

/// Pairs of prefixes: an object, or a list of pairs if their order matters.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
enum SourcePairs {
    Object(serde_json::Map<String, Value>),
    List(Vec<(PathBuf, PathBuf)>),
}

impl Default for SourcePairs {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl LaunchArguments {
    /// The file for the protocol log.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        log_path(self.log.as_deref(), self.cwd.as_deref())
    }

    /// The error of a launch that has failed.
    pub(crate) fn failure(&self, text: impl Into<String>) -> RequestError {
        RequestError { show_user: !self.quiet_failures, ..RequestError::launch(text) }
    }

    /// A title for the progress of the launch.
    pub(crate) fn progress_title(&self) -> String {
        let verb = if self.is_source() { "Compiling" } else { "Loading" };
        let name = self.program.file_name().unwrap_or_default().to_string_lossy();
        format!("{verb} {name}")
    }

    /// Whether the program has to be compiled first.
    pub(crate) fn is_source(&self) -> bool {
        compile::is_source(&self.program)
    }

    /// Checks what can be checked before loading, and makes all paths absolute.
    ///
    /// # Errors
    /// The program or the directory is missing, or there is no such level.
    pub(crate) fn resolve(&mut self) -> Result<(), Unfit> {
        if self.program.as_os_str().is_empty() {
            return Err(Unfit::NoProgram);
        }
        let given = self.cwd.clone().filter(|it| !it.as_os_str().is_empty());
        let own = self.workspace_folders.take().or_else(|| Some(vec![given?]));
        let cwd = self.cwd.clone().unwrap_or_default();
        let cwd =
            std::path::absolute(if cwd.as_os_str().is_empty() { Path::new(".") } else { &cwd })
                .map_err(|error| Unfit::NoDirectory { directory: cwd.clone(), error })?;
        if !cwd.is_dir() {
            return Err(Unfit::NotADirectory(cwd));
        }
        self.program = cwd.join(&self.program);
        if !self.program.is_file() {
            return Err(Unfit::NoFile(self.program.clone()));
        }
        self.workspace_folders = own.map(|own| own.iter().map(|it| cwd.join(it)).collect());
        self.debug_directory = self.debug_directory.take().map(|it| cwd.join(it));
        self.source_directories.iter_mut().for_each(|it| *it = cwd.join(&it));
        self.modules.iter_mut().for_each(|module| *module = cwd.join(&module));
        for input in self.inputs.0.iter_mut().chain(&mut self.expected.0) {
            input.0 = absolute_input(&input.0, &cwd);
        }
        if self.trusted {
            compile::trust_projects(true);
        }
        self.host.make_absolute(&cwd);
        self.cwd = Some(cwd);
        self.settings().map(drop)
    }

    /// # Errors
    /// There is no such level.
    pub(crate) fn settings(&self) -> Result<Settings, Unfit> {
        let level = level(self.level.as_deref(), self.disassembly)?;
        let Self { stop_on_entry, no_debug, step_by, .. } = *self;
        let stop_on_entry = stop_on_entry || self.opens_at()?.is_some();
        let ends_if_right = self.record == Record::Auto;
        Ok(Settings { stop_on_entry, no_debug, level, step_by, ends_if_right })
    }

    /// The same with another function or other inputs.
    pub(crate) fn called_with(self, called: commands::Inputs) -> Self {
        let commands::Inputs { function, inputs } = called;
        let inputs = inputs.map(|texts| Inputs(texts.into_iter().map(Input).collect()));
        Self { function: function.or(self.function), inputs: inputs.unwrap_or(self.inputs), ..self }
    }

    /// What the program is called with, as commands know it.
    pub(crate) fn called(&self) -> commands::Inputs {
        let inputs = Some(self.inputs.0.iter().map(|input| input.0.clone()).collect());
        commands::Inputs { function: self.function.clone(), inputs }
    }

    /// The options for the debugger. Opens the native libraries and the archives of parameters.
    /// `compiled` replaces a program that was compiled first.
    ///
    /// # Errors
    /// Something that is named cannot be opened, or does not exist.
    pub(crate) fn launch_options(&self, compiled: Option<PathBuf>) -> Result<LaunchOptions, Unfit> {
        let program = compiled.unwrap_or_else(|| self.program.clone());
        let modules = self.modules.iter().cloned().chain([program]);
        let (libraries, modules): (Vec<PathBuf>, Vec<PathBuf>) =
            modules.partition(|path| ffi::is_library(path));
        Ok(LaunchOptions {
            modules: modules.into_iter().map(ModuleSource::Path).collect(),
            function: self.function.clone(),
            inputs: self.inputs.0.iter().map(|input| input.0.clone()).collect(),
            host: self.host.config(&libraries, self.is_from_outside())?,
            debug_directory: self.debug_directory.clone(),
            source_directories: self.all_source_directories(),
            source_map: self.source_map(),
            foreign_memory: self.foreign_memory,
            skips_comparison: self.compare_bytecode == Some(false),
            iree_compile: self.iree_compile.clone(),
            record: self.recording()?,
            past: self.past()?,
            ..LaunchOptions::default()
        })
    }

    /// Whether the program, or another module, lies outside of the folders that are the user's own.
    /// Nothing does if the client says of none.
    fn is_from_outside(&self) -> bool {
        let Some(own) = &self.workspace_folders else { return false };
        // Links lead where they lead.
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let own: Vec<PathBuf> = own.iter().map(real).collect();
        let mut programs = self.modules.iter().chain([&self.program]).map(real);
        programs.any(|program| !own.iter().any(|folder| program.starts_with(folder)))
    }

    /// The same for a program that is the file of a recorded run, which has the modules, the inputs
    /// and the device. `tell` hears what it is of.
    ///
    /// # Errors
    /// It cannot be used, or something is named that it has.
    pub(crate) fn recorded_options(&self, tell: impl FnMut(&str)) -> Result<LaunchOptions, Unfit> {
        if self.function.is_some() || !self.inputs.0.is_empty() || !self.modules.is_empty() {
            return Err(Unfit::OfRecording(self.program.clone()));
        }
        let recorded = match Recorded::open(&self.program)? {
            recorded if self.without_results => recorded.without_results(),
            recorded => recorded,
        };
        recorded.summary().iter().map(String::as_str).for_each(tell);
        let record = self.recording()?.unwrap_or_default();
        let mut options = recorded.launch_options(record)?;
        if options.host.native_code != NativeCode::Refused {
            options.host.native_code = self.host.native_code(true)?;
        }
        Ok(LaunchOptions {
            source_directories: self.all_source_directories(),
            source_map: self.source_map(),
            foreign_memory: self.foreign_memory,
            skips_comparison: self.compare_bytecode == Some(false),
            iree_compile: self.iree_compile.clone(),
            past: self.past()?,
            ..options
        })
    }

    /// The results that the loaded program should have.
    ///
    /// # Errors
    /// One of them is no value of its type, or there is one too many.
    pub(crate) fn expected(&self, debugger: &Debugger) -> Result<Option<Expected>, Unfit> {
        let texts: Vec<&str> = self.expected.0.iter().map(|text| &*text.0).collect();
        Expected::read(&texts, self.expected_tolerance, debugger)
    }

    /// The moment at which the program is opened.
    ///
    /// # Errors
    /// `moment` is none.
    pub(crate) fn opens_at(&self) -> Result<Option<RunMoment>, Unfit> {
        let text = self.moment.as_deref().filter(|text| !text.is_empty() && !self.no_debug);
        text.map(|text| text.parse().map_err(Unfit::Moment)).transpose()
    }

    /// Whether the program is the file of a recorded run.
    pub(crate) fn is_recording(&self) -> bool {
        recording::is_recording(&self.program)
    }

    /// # Errors
    /// `pastMemory` is no size.
    fn past(&self) -> Result<Option<PastOptions>, Unfit> {
        let memory = self.past_memory.as_deref().map(vm::parse_bytes).transpose();
        let memory = memory.map_err(Unfit::PastMemory)?;
        let chosen = memory.map(|memory| PastOptions { memory }).unwrap_or_default();
        Ok(Some(chosen).filter(|it| it.memory > 0 && !self.no_debug))
    }

    /// # Errors
    /// `recordMemory` is no size.
    fn recording(&self) -> Result<Option<RecordOptions>, Unfit> {
        let chosen = RecordOptions::default();
        let memory = self.record_memory.as_deref().map(vm::parse_bytes).transpose();
        let memory = memory.map_err(Unfit::RecordMemory)?;
        let is_wanted = match self.record {
            Record::No => memory.is_some() || self.moment.is_some(),
            Record::Yes => true,
            Record::Auto => !self.host.is_of_gpu(),
        } && !self.no_debug;
        let gives_way = self.record == Record::Auto;
        let most = if gives_way { chosen.memory.min(MOST_UNASKED) } else { chosen.memory };
        let memory = memory.unwrap_or(most);
        let disk = if gives_way { 0 } else { (memory as u64).saturating_mul(4) };
        let options = RecordOptions { memory, disk, gives_way, ..chosen };
        Ok(is_wanted.then_some(options))
    }

    /// The request to compile the program into a directory.
    pub(crate) fn compile_request(&self, output_directory: &Path) -> CompileRequest {
        let mut name = self.program.file_stem().unwrap_or_default().to_owned();
        name.push(".vmfb");
        CompileRequest {
            input: self.program.clone(),
            output: output_directory.join(name),
            opset: self.opset_version,
            flags: for_device(self.host.device(), self.compiler_flags.clone()),
            compiler: self.iree_compile.clone(),
            directory: self.cwd.clone(),
            environment: self.environment(),
            ..CompileRequest::default()
        }
    }

    fn environment(&self) -> Vec<(String, String)> {
        let set = self.env.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        set.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The directories to search for sources: the user's, the compiler's working directory, and the
    /// program's own.
    fn all_source_directories(&self) -> Vec<PathBuf> {
        let beside = self.program.parent().map(Path::to_owned);
        self.source_directories.iter().cloned().chain(beside).chain(self.cwd.clone()).collect()
    }

    fn source_map(&self) -> SourceMap {
        let cwd = self.cwd.clone().unwrap_or_default();
        match &self.source_map {
            SourcePairs::List(pairs) => {
                SourceMap::new(pairs.iter().map(|(from, to)| (from.clone(), cwd.join(to))))
            }
            SourcePairs::Object(pairs) => {
                let texts = pairs.iter().filter_map(|(from, to)| Some((from, to.as_str()?)));
                SourceMap::new(texts.map(|(from, to)| (PathBuf::from(from), cwd.join(to))))
            }
        }
    }
}

/// An input. The file that it may name (`@in.npy`, `4xf32=@in.bin`) is relative to a directory.
fn absolute_input(input: &str, directory: &Path) -> String {
    match values::file_of_input(input) {
        Some((before, file)) => format!("{before}{}", directory.join(file).display()),
        None => input.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_inputs_are_relative_to_the_directory() {
        let cases = [
            ("4xf32=1,2,3,4", "4xf32=1,2,3,4"),
            ("@in.npy", "@/data/in.npy"),
            ("2xi8=@a/in.bin", "2xi8=@/data/a/in.bin"),
            ("@/other/in.npy", "@/other/in.npy"),
            ("2xi8=+in.bin", "2xi8=+/data/in.bin"),
            ("*all.npy", "*/data/all.npy"),
        ];
        for (input, expected) in cases {
            assert_eq!(absolute_input(input, Path::new("/data")), expected);
        }
    }
}
