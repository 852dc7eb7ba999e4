//! The `launch` request: what it may say, and the way from there to a loaded program.
//!
//! Compiling a `.mlir` can take minutes and mapping a module of gigabytes some time, so both happen
//! on a thread of their own; the session goes on answering, and can cancel. The compiler's messages
//! reach the client as they come.
//!
//! Relative paths count from `cwd`, also those within inputs (`@input.npy`), without this process
//! changing its own directory: on TCP it serves other sessions too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use compile::{Cancellation, CompileRequest, compile};
use debug::{Debugger, Granularity, LaunchOptions, Level, ModuleSource, Resume, SourceMap};
use serde::Deserialize;
use tempfile::TempDir;

use crate::debuggee::{Debuggee, Kept};
use crate::protocol::Request;
use crate::runner::panic_text;
use crate::session::{Event, Waiting};
use crate::surroundings::Surroundings;

/// What a client may say. The protocol leaves this to the adapter; `editors/vscode/package.json`
/// describes it to users.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LaunchArguments {
    /// A `.vmfb`, or a `.mlir` to compile first.
    program: PathBuf,
    /// The export to call; may be left out if there is one only.
    function: Option<String>,
    /// Its inputs, as `iree-run-module --input=` takes them.
    inputs: Inputs,
    /// Modules to load before the program, for its imports.
    modules: Vec<PathBuf>,
    /// Whether to stop before the function's first instruction.
    stop_on_entry: bool,
    /// What is shown and stepped, by its name; the source, if nothing else is said.
    level: Option<String>,
    /// The same as the level `disassembly`.
    disassembly: bool,
    /// How far a step goes that does not say so itself.
    step_by: StepBy,
    /// Where relative paths count from.
    cwd: Option<PathBuf>,
    /// Where directories are now that the compiler knew by other names.
    source_map: SourcePairs,
    /// More directories that sources are looked for in.
    source_directories: Vec<PathBuf>,
    /// More flags for iree-compile.
    compiler_flags: Vec<String>,
    /// Which iree-compile.
    iree_compile: Option<PathBuf>,
    /// Environment variables for iree-compile; null leaves one as it is.
    env: BTreeMap<String, Option<String>>,
    /// What the program finds around it.
    #[serde(flatten)]
    surroundings: Surroundings,
    /// Whether expressions may look at memory of this process that is not the program's.
    foreign_memory: bool,
    /// Run without stopping anywhere.
    no_debug: bool,
    /// A file for the protocol's messages.
    log: Option<PathBuf>,
}

/// What of a launch matters later on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) stop_on_entry: bool,
    pub(crate) no_debug: bool,
    /// The level at first; it may be changed.
    pub(crate) level: Level,
    pub(crate) step_by: StepBy,
}

/// How far a step goes whose request has no granularity. The protocol then means a statement, and
/// lets adapters take a line for one. VS Code sends none (but `instruction` from its disassembly
/// view), and people there are used to F10 moving a line, as with all debuggers of native code; so
/// a line it is, unless the launch says otherwise. Neovim's plugin and Zed say themselves what they
/// want.
#[derive(Deserialize, Clone, Copy, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StepBy {
    /// To another line.
    #[default]
    Line,
    /// To another operation.
    Statement,
}

impl From<StepBy> for Granularity {
    fn from(step_by: StepBy) -> Self {
        match step_by {
            StepBy::Line => Self::Line,
            StepBy::Statement => Self::Statement,
        }
    }
}

impl Settings {
    /// How a program begins.
    pub(crate) fn first_resume(self) -> Resume {
        if self.stop_on_entry && !self.no_debug { Resume::ToEntry } else { Resume::Continue }
    }
}

/// What a client may say of a program that is there already.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AttachArguments {
    /// Whether to stop at once.
    stop_on_entry: bool,
    /// As for a launch.
    level: Option<String>,
    /// As for a launch.
    disassembly: bool,
    /// As for a launch.
    step_by: StepBy,
    /// As for a launch.
    log: Option<PathBuf>,
    /// Where the log's path counts from.
    cwd: Option<PathBuf>,
}

impl AttachArguments {
    /// # Errors
    /// There is no such level.
    pub(crate) fn settings(&self) -> Result<Settings, String> {
        let level = level(self.level.as_deref(), self.disassembly)?;
        let Self { stop_on_entry, step_by, .. } = *self;
        Ok(Settings { stop_on_entry, no_debug: false, level, step_by })
    }

    /// Where the protocol's messages go.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        log_path(self.log.as_deref(), self.cwd.as_deref())
    }
}

/// The level that is asked for, by its own field or by that which is older.
fn level(named: Option<&str>, disassembly: bool) -> Result<Level, String> {
    match named.filter(|named| !named.is_empty()) {
        Some(named) => named.parse().map_err(|error| format!("`level`: {error}")),
        None if disassembly => Ok(Level::Disassembly),
        None => Ok(Level::Source),
    }
}

fn log_path(log: Option<&Path>, cwd: Option<&Path>) -> Option<PathBuf> {
    let log = log.filter(|log| !log.as_os_str().is_empty())?;
    Some(cwd.map_or_else(|| log.to_owned(), |cwd| cwd.join(log)))
}

/// An input: text, or a number that somebody wrote without quotes.
#[derive(Deserialize, Clone, Debug)]
#[serde(try_from = "serde_json::Value")]
struct Input(String);

impl TryFrom<serde_json::Value> for Input {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        match value {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Number(number) => Ok(Self(number.to_string())),
            other => Err(format!(
                "an input is text as for `--input=`, or a number; write {:?}",
                other.to_string()
            )),
        }
    }
}

/// All inputs: a list, or the one that there is.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(try_from = "serde_json::Value")]
struct Inputs(Vec<Input>);

impl TryFrom<serde_json::Value> for Inputs {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        let all = match value {
            serde_json::Value::Array(all) => all,
            one => vec![one],
        };
        all.into_iter().map(Input::try_from).collect::<Result<_, _>>().map(Self)
    }
}

/// Pairs of prefixes: an object, or a list of pairs where their order matters.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
enum SourcePairs {
    Object(serde_json::Map<String, serde_json::Value>),
    List(Vec<(PathBuf, PathBuf)>),
}

impl Default for SourcePairs {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// A program, or why there is none.
pub(crate) type Launched = Result<Box<Debuggee>, String>;

/// A launch that is under way.
pub(crate) struct Launch {
    /// Waits for its response.
    pub(crate) request: Request,
    /// Requests for when the program is there again.
    pub(crate) waiting: Waiting,
    /// What the program had before, if it is launched anew.
    kept: Option<Box<Kept>>,
    /// Where the compiler writes. Lives as long as the session.
    scratch: Option<TempDir>,
    cancellation: Cancellation,
    thread: JoinHandle<()>,
}

/// What is left of a launch that is through.
pub(crate) struct Finished {
    pub(crate) request: Request,
    pub(crate) waiting: Waiting,
    pub(crate) kept: Option<Box<Kept>>,
    pub(crate) scratch: Option<TempDir>,
}

impl Launch {
    /// Begins to launch. The outcome comes as an event.
    pub(crate) fn begin(
        arguments: &LaunchArguments,
        request: Request,
        events: Sender<Event>,
        kept: Option<Kept>,
    ) -> Result<Self, String> {
        begin(arguments.clone(), request, events, kept.map(Box::new))
    }

    /// Whether there was a program before.
    pub(crate) fn is_restart(&self) -> bool {
        self.kept.is_some()
    }

    /// Gives the launch up. Waits until the compiler is gone: it must not outlive the adapter.
    pub(crate) fn cancel(self) -> Finished {
        self.cancellation.cancel();
        let Self { request, waiting, kept, scratch, thread, .. } = self;
        let _ = thread.join(); // It sends what went wrong instead of panicking.
        Finished { request, waiting, kept, scratch }
    }

    /// The launch is through.
    pub(crate) fn finish(self) -> Finished {
        let Self { request, waiting, kept, scratch, .. } = self;
        Finished { request, waiting, kept, scratch }
    }
}

fn begin(
    mut arguments: LaunchArguments,
    request: Request,
    events: Sender<Event>,
    kept: Option<Box<Kept>>,
) -> Result<Launch, String> {
    arguments.make_absolute()?;
    level(arguments.level.as_deref(), arguments.disassembly)?;
    let scratch = if arguments.is_source() {
        let made = tempfile::Builder::new().prefix("iree-dbg-").tempdir();
        Some(made.map_err(|error| format!("cannot make a directory to compile into: {error}"))?)
    } else {
        None
    };
    let directory = scratch.as_ref().map(|scratch| scratch.path().to_owned());
    let cancellation = Cancellation::default();
    let shared = cancellation.clone();
    let thread = thread::spawn(move || {
        let job = || load(&arguments, directory.as_deref(), &shared, &events);
        let launched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        let launched = launched
            .unwrap_or_else(|panic| Err(format!("the debugger failed: {}", panic_text(&*panic))));
        // Nobody listens when the session is over.
        let _ = events.send(Event::Launched(launched));
    });
    Ok(Launch { request, waiting: Vec::new(), kept, scratch, cancellation, thread })
}

fn load(
    arguments: &LaunchArguments,
    scratch: Option<&Path>,
    cancellation: &Cancellation,
    events: &Sender<Event>,
) -> Launched {
    let program = match scratch {
        Some(scratch) => arguments.compile(scratch, cancellation, events)?,
        None => arguments.program.clone(),
    };
    let modules = arguments.modules.iter().cloned().chain([program]);
    let (libraries, modules): (Vec<PathBuf>, Vec<PathBuf>) =
        modules.partition(|path| ffi::is_library(path));
    let options = LaunchOptions {
        modules: modules.into_iter().map(ModuleSource::Path).collect(),
        function: arguments.function.clone(),
        inputs: arguments.inputs.0.iter().map(|input| input.0.clone()).collect(),
        host: arguments.surroundings.config(&libraries)?,
        source_directories: arguments.all_source_directories(),
        source_map: arguments.source_map(),
        foreign_memory: arguments.foreign_memory,
        ..LaunchOptions::default()
    };
    let level = level(arguments.level.as_deref(), arguments.disassembly)?;
    let mut debugger = Debugger::load(options).map_err(|error| error.to_string())?;
    debugger.set_level(level).map_err(|error| format!("`level`: {error}"))?;
    let settings = Settings {
        stop_on_entry: arguments.stop_on_entry,
        no_debug: arguments.no_debug,
        level,
        step_by: arguments.step_by,
    };
    Ok(Box::new(Debuggee::new(debugger, settings)))
}

impl LaunchArguments {
    /// Where the protocol's messages go.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        log_path(self.log.as_deref(), self.cwd.as_deref())
    }

    /// What a launch does, for people who wait for it.
    pub(crate) fn what_happens(&self) -> String {
        let verb = if self.is_source() { "Compiling" } else { "Loading" };
        let name = self.program.file_name().unwrap_or_default().to_string_lossy();
        format!("{verb} {name}")
    }

    fn is_source(&self) -> bool {
        let extension = self.program.extension().and_then(|it| it.to_str());
        matches!(extension, Some("mlir" | "mlirbc"))
    }

    fn make_absolute(&mut self) -> Result<(), String> {
        if self.program.as_os_str().is_empty() {
            return Err("`program` is missing: name a .vmfb or a .mlir file".into());
        }
        let cwd = self.cwd.clone().unwrap_or_default();
        let cwd =
            std::path::absolute(if cwd.as_os_str().is_empty() { Path::new(".") } else { &cwd })
                .map_err(|error| format!("cannot find the directory {}: {error}", cwd.display()))?;
        if !cwd.is_dir() {
            return Err(format!("`cwd` {} is not a directory", cwd.display()));
        }
        self.program = cwd.join(&self.program);
        if !self.program.is_file() {
            return Err(format!("there is no file {}", self.program.display()));
        }
        self.source_directories.iter_mut().for_each(|it| *it = cwd.join(&it));
        self.modules.iter_mut().for_each(|module| *module = cwd.join(&module));
        self.inputs.0.iter_mut().for_each(|input| input.0 = input_from(&input.0, &cwd));
        self.surroundings.make_absolute(&cwd);
        self.cwd = Some(cwd);
        Ok(())
    }

    fn environment(&self) -> Vec<(String, String)> {
        let set = self.env.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        set.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Where sources may lie: where the user says, where the compiler runs or ran, beside the
    /// program.
    fn all_source_directories(&self) -> Vec<PathBuf> {
        let beside = self.program.parent().map(Path::to_owned);
        self.source_directories.iter().chain(&self.cwd).cloned().chain(beside).collect()
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

    fn compile(
        &self,
        scratch: &Path,
        cancellation: &Cancellation,
        events: &Sender<Event>,
    ) -> Result<PathBuf, String> {
        let mut name = self.program.file_stem().unwrap_or_default().to_owned();
        name.push(".vmfb");
        let request = CompileRequest {
            input: self.program.clone(),
            output: scratch.join(name),
            flags: self.compiler_flags.clone(),
            compiler: self.iree_compile.clone(),
            directory: self.cwd.clone(),
            environment: self.environment(),
        };
        let mut on_line = |line: &str| {
            let _ = events.send(Event::CompilerLine(line.to_owned()));
        };
        let output =
            compile(&request, cancellation, &mut on_line).map_err(|error| error.to_string())?;
        if let Err(reason) = &output.companion {
            on_line(&format!("no debug companion was made, so locals and lines are few: {reason}"));
        }
        Ok(output.module)
    }
}

/// An input whose file, if it names one, is looked for in a directory: `@in.npy`, `4xf32=@in.bin`.
fn input_from(input: &str, directory: &Path) -> String {
    let Some((before, file)) = input.split_once('@') else { return input.to_owned() };
    if before.is_empty() || before.ends_with('=') {
        format!("{before}@{}", directory.join(file).display())
    } else {
        input.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_inputs_are_looked_for_in_the_directory() {
        let cases = [
            ("4xf32=1,2,3,4", "4xf32=1,2,3,4"),
            ("@in.npy", "@/data/in.npy"),
            ("2xi8=@a/in.bin", "2xi8=@/data/a/in.bin"),
            ("@/other/in.npy", "@/other/in.npy"),
        ];
        for (input, expected) in cases {
            assert_eq!(input_from(input, Path::new("/data")), expected);
        }
    }
}
