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

use debug::{Debugger, LaunchOptions, ModuleSource};
use debuginfo::compile::{Cancellation, CompileRequest, compile};
use serde::Deserialize;
use tempfile::TempDir;

use crate::debuggee::Debuggee;
use crate::protocol::Request;
use crate::runner::panic_text;
use crate::session::Event;

/// What a client may say. The protocol leaves this to the adapter; `editors/vscode/package.json`
/// describes it to users.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LaunchArguments {
    /// A `.vmfb`, or a `.mlir` to compile first.
    program: PathBuf,
    /// The export to call; may be left out if there is one only.
    function: Option<String>,
    /// Its inputs, as `iree-run-module --input=` takes them.
    inputs: Vec<String>,
    /// Modules to load before the program, for its imports.
    modules: Vec<PathBuf>,
    /// Whether to stop before the function's first instruction.
    stop_on_entry: bool,
    /// Show the disassembly, and step through it, even where the source is known.
    disassembly: bool,
    /// Where relative paths count from.
    cwd: Option<PathBuf>,
    /// More flags for iree-compile.
    compiler_flags: Vec<String>,
    /// Which iree-compile.
    iree_compile: Option<PathBuf>,
    /// Environment variables for iree-compile; null leaves one as it is.
    env: BTreeMap<String, Option<String>>,
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
    pub(crate) disassembly: bool,
}

/// A program, or why there is none.
pub(crate) type Launched = Result<Box<Debuggee>, String>;

/// A launch that is under way.
pub(crate) struct Launch {
    /// Waits for its response.
    pub(crate) request: Request,
    /// Where the compiler writes. Lives as long as the session.
    scratch: Option<TempDir>,
    cancellation: Cancellation,
    thread: JoinHandle<()>,
}

impl Launch {
    /// Gives the launch up. Waits until the compiler is gone: it must not outlive the adapter.
    pub(crate) fn cancel(self) -> Request {
        self.cancellation.cancel();
        let _ = self.thread.join(); // It sends what went wrong instead of panicking.
        self.request
    }

    /// The launch is through; what is left is the directory to keep.
    pub(crate) fn finish(self) -> (Request, Option<TempDir>) {
        (self.request, self.scratch)
    }
}

/// Begins to launch. The outcome comes as an event.
pub(crate) fn begin(
    mut arguments: LaunchArguments,
    request: Request,
    events: Sender<Event>,
) -> Result<Launch, String> {
    arguments.make_absolute()?;
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
    Ok(Launch { request, scratch, cancellation, thread })
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
    let options = LaunchOptions {
        modules: modules.map(ModuleSource::Path).collect(),
        function: arguments.function.clone(),
        inputs: arguments.inputs.clone(),
        source_directories: arguments.source_directories(),
        ..LaunchOptions::default()
    };
    let debugger = Debugger::load(options).map_err(|error| error.to_string())?;
    let settings = Settings {
        stop_on_entry: arguments.stop_on_entry,
        no_debug: arguments.no_debug,
        disassembly: arguments.disassembly,
    };
    Ok(Box::new(Debuggee::new(debugger, settings)))
}

impl LaunchArguments {
    /// Where the protocol's messages go.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        let log = self.log.as_ref().filter(|log| !log.as_os_str().is_empty())?;
        Some(self.cwd.as_ref().map_or_else(|| log.clone(), |cwd| cwd.join(log)))
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
        self.modules.iter_mut().for_each(|module| *module = cwd.join(&module));
        self.inputs.iter_mut().for_each(|input| *input = input_from(input, &cwd));
        self.cwd = Some(cwd);
        Ok(())
    }

    fn environment(&self) -> Vec<(String, String)> {
        let set = self.env.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        set.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Where sources may lie that the module names by a relative path.
    fn source_directories(&self) -> Vec<PathBuf> {
        let beside = self.program.parent().map(Path::to_owned);
        self.cwd.iter().cloned().chain(beside).collect()
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
