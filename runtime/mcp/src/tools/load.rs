//! `load`: a program is loaded, and stands before its beginning.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use compile::{CompileRequest, Scratch, compile, for_device, is_source};
use debug::{LaunchOptions, ModuleSource, RecordOptions};
use hal::{Config, NativeCode, Parameters};
use recording::Recorded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Tool};
use crate::access::Allowed;
use crate::bounds;
use crate::problem::Problem;
use crate::program::{Desk, Origin, Program};

pub(crate) struct Load;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The module (.vmfb), or the file of a recorded run; with --allow=compile also a source
    /// (.mlir) or a model (.onnx), which is compiled first.
    module: String,
    /// Modules that it imports from, in their order.
    #[serde(default)]
    before: Vec<String>,
    /// The exported function; not needed if there is only one.
    function: Option<String>,
    /// Its arguments: `5`, `2x2xf32=1,2,3,4`, `4xf32=7`, `@x.npy`, `2x2xf32=@raw.bin`.
    #[serde(default)]
    inputs: Vec<String>,
    /// Archives of parameters: `[scope=]file.irpa`, `.safetensors`, `.gguf`.
    #[serde(default)]
    parameters: Vec<String>,
    /// `local-sync`, which is the default, `local-task`, which uses all cores, `vulkan`, `cuda`
    /// or `hip`.
    device: Option<String>,
    /// Record the run, so that it can go back; true if not said.
    #[serde(default = "yes")]
    record: bool,
    /// Guard memory: an access after the end of a buffer fails where it happens.
    #[serde(default)]
    guard: bool,
    /// Flags of iree-compile, for a source.
    #[serde(default)]
    flags: Vec<String>,
    /// The most seconds; 120 if not said.
    #[allow(dead_code, reason = "the server reads it, before the tool is asked")]
    seconds: Option<f64>,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Loaded {
    /// The modules, in their order.
    modules: Vec<String>,
    /// The function that `run` calls.
    function: String,
    /// What it is called with.
    inputs: Vec<String>,
    /// How many dispatches it has.
    dispatches: usize,
    /// Its sources, as resources.
    sources: Vec<String>,
    /// Whether it can go back.
    recorded: bool,
    /// Notes of the debugger, and of the compiler.
    notes: Vec<String>,
    /// What to ask next.
    next: Vec<String>,
}

impl Tool for Load {
    const NAME: &'static str = "load";
    const TITLE: &'static str = "Load a program";
    const ABOUT: &'static str = "Loads a module, with the function to call and its inputs, in the \
        place of the program before. It then stands before its beginning; breakpoints are gone. \
        Machine code runs in a sandbox.";
    const EFFECT: Effect = Effect::MayCompile;
    const SECONDS: f64 = 120.0;
    type Arguments = Arguments;
    type Answer = Loaded;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Loaded, Problem> {
        let path = desk.access.readable(&arguments.module)?;
        for text in &arguments.inputs {
            desk.access.check_text(text)?;
        }
        let mut notes = Vec::new();
        let record = arguments.record.then(RecordOptions::default);
        let (options, origin, scratch) = if recording::is_recording(&path) {
            recorded(desk, &path, &mut notes)?
        } else {
            let (module, scratch) = compiled(desk, &arguments, &path, &mut notes)?;
            let (options, origin) = launched(desk, arguments, &path, module)?;
            (options, origin, scratch)
        };
        let options = LaunchOptions {
            record: options.record.or(record),
            sources_within: Some(desk.access.roots().to_vec()),
            never_compiles: !desk.access.allows(Allowed::Compile),
            interrupt: desk.stopper.interrupt(),
            cancellation: desk.stopper.cancellation(),
            ..options
        };
        let program = Program::load(options, origin, scratch)?;
        let loaded = summary(&program, notes);
        let known = program.driver().debugger().program();
        let sources = known.source_files().into_iter();
        let texts = sources.filter_map(|it| Some((it.file.clone(), known.source_text(&it.file)?)));
        desk.library.set_sources(texts);
        desk.program = Some(program);
        let uris = desk.library.all().into_iter().map(|it| it.uri);
        let sources = uris.filter(|it| it.contains("/source/")).take(8).collect();
        Ok(Loaded { sources, ..loaded })
    }
}

/// The path of the module: a source is compiled first.
fn compiled(
    desk: &Desk,
    arguments: &Arguments,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<(PathBuf, Option<Scratch>), Problem> {
    if !is_source(path) {
        return Ok((path.to_owned(), None));
    }
    desk.access.require(Allowed::Compile, &format!("compiling {}", arguments.module))?;
    let folder = Scratch::new("iree-dbg-")?;
    let name = path.file_name().unwrap_or_default();
    let request = CompileRequest {
        input: path.to_owned(),
        output: folder.path().join(name).with_extension("vmfb"),
        flags: for_device(arguments.device.as_deref().unwrap_or_default(), arguments.flags.clone()),
        ..CompileRequest::default()
    };
    let made = compile(&request, &desk.stopper.cancellation(), &mut |line| {
        if notes.len() < 20 {
            notes.push(bounds::line(line, 400));
        }
    })?;
    Ok((made.module, Some(folder)))
}

fn launched(
    desk: &Desk,
    arguments: Arguments,
    path: &Path,
    module: PathBuf,
) -> Result<(LaunchOptions, Origin), Problem> {
    let Arguments { before, function, inputs, parameters, device, guard, .. } = arguments;
    let before = before.iter().map(|it| desk.access.readable(it));
    let mut modules: Vec<PathBuf> = before.collect::<Result<_, _>>()?;
    modules.push(module);
    let mut archives = Vec::new();
    for archive in &parameters {
        let (scope, file) = archive.split_once('=').unwrap_or(("", archive));
        let file = desk.access.readable(file)?;
        let scope = if scope.is_empty() { String::new() } else { format!("{scope}=") };
        archives.push(format!("{scope}{}", file.display()));
    }
    let opened = Parameters::open(&archives).map_err(|status| status.to_string())?;
    let chosen = device.as_deref().map(str::parse).transpose();
    let host = Config {
        device: chosen.map_err(|error| Problem::from(format!("{error}")))?.unwrap_or_default(),
        native_code: desk.access.native_code,
        parameters: Arc::new(opened),
        is_guarded: guard,
        ..Config::default()
    };
    let host = host.with_gpus().map_err(|error| Problem::from(format!("{error}")))?;
    let beside = modules.iter().map(PathBuf::as_path).chain([path]).filter_map(Path::parent);
    let roots = desk.access.roots().iter().map(PathBuf::as_path);
    let directories = beside.chain(roots).map(Path::to_owned).collect();
    let options = LaunchOptions {
        modules: modules.iter().cloned().map(ModuleSource::Path).collect(),
        function: function.clone(),
        inputs: inputs.clone(),
        host,
        source_directories: directories,
        ..LaunchOptions::default()
    };
    let source = is_source(path).then(|| path.to_owned());
    let origin = Origin { modules, source, function, inputs, parameters: archives, device };
    Ok((options, origin))
}

/// The program of a recorded run.
fn recorded(
    desk: &Desk,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<(LaunchOptions, Origin, Option<Scratch>), Problem> {
    let recorded = Recorded::open(path).map_err(|error| error.to_string())?;
    notes.extend(recorded.summary());
    let options = recorded.launch_options(RecordOptions::default());
    let mut options = options.map_err(|error| error.to_string())?;
    if options.host.native_code != NativeCode::Refused {
        options.host.native_code = desk.access.native_code;
    }
    let origin = Origin { function: options.function.clone(), ..Origin::default() };
    Ok((options, origin, None))
}

fn summary(program: &Program, mut notes: Vec<String>) -> Loaded {
    let debugger = program.driver().debugger();
    let known = debugger.program();
    notes.extend(known.notes().iter().map(|it| bounds::line(it, 400)));
    let modules = known.modules().map(|(_, name, _)| name.to_owned());
    Loaded {
        modules: modules.collect(),
        function: known.entry_name().to_owned(),
        inputs: program.origin.inputs.iter().map(|it| bounds::line(it, 100)).collect(),
        dispatches: debugger.machine().dispatch_list().len(),
        sources: Vec::new(),
        recorded: program.is_recorded(),
        notes,
        next: ["run {\"how\": \"continue\"}", "dispatches {}", "first_bad {}", "diff {}"]
            .map(str::to_owned)
            .to_vec(),
    }
}

impl Answer for Loaded {
    fn text(&self) -> String {
        let mut lines = self.notes.clone();
        let inputs = self.inputs.join(", ");
        lines.push(format!(
            "loaded {}: {}({inputs}), {} dispatches{}",
            self.modules.join(", "),
            self.function,
            self.dispatches,
            if self.recorded { ", recorded" } else { "" }
        ));
        lines.extend(self.sources.iter().map(|it| format!("source: {it}")));
        lines.join("\n")
    }

    fn next(&self) -> &[String] {
        &self.next
    }
}
