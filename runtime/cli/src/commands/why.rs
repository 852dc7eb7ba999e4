//! `iree-dbg why`: compiles a source, runs it, compares its results with files, and says which
//! dispatch is wrong. `compare::explain` does the work; the folder of the dispatch is `repro`'s.

use std::path::{Path, PathBuf};

use compare::{Cause, CompareError, Compiled, Expected, Findings, Overrides, Settings};
use compile::{
    BackEnd, Cancellation, CompileRequest, Scratch, compile, for_device, have_target,
    named_back_ends,
};
use debug::{Debugger, LaunchOptions};
use hal::{DeviceKind, NativeCode};
use repro::{FolderOptions, Tools, WrittenFolder, capture_numbered, write_folder};

use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::program::DebuggeeArguments;
use crate::progress_line::ProgressLine;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The source
    #[arg(value_name = "INPUT.mlir")]
    input: PathBuf,

    #[command(flatten)]
    program: DebuggeeArguments,

    /// The expected value of a result, in order
    #[arg(long, value_name = "FILE.npy", required_unless_present = "golden")]
    expect: Vec<PathBuf>,

    /// A directory of .npy files of expected tensors, named by them: hidden.npy for %hidden
    #[arg(long, value_name = "DIRECTORY")]
    golden: Option<PathBuf>,

    /// Keep the modules here, and write the folder of the first bad dispatch to `repro` in it;
    /// otherwise that is in a temporary folder
    #[arg(long, short, value_name = "DIRECTORY")]
    output: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Allow relative differences up to this, instead of what a dispatch computes; for tensors
    /// whose names match a pattern with PATTERN:
    #[arg(long, value_name = "[PATTERN:]NUMBER", value_parser = Overrides::parse)]
    rtol: Vec<(String, f64)>,

    /// The same for absolute differences
    #[arg(long, value_name = "[PATTERN:]NUMBER", value_parser = Overrides::parse)]
    atol: Vec<(String, f64)>,

    /// Which iree-compile to run; by default $IREE_COMPILE, or the one on PATH or in the `.venv` of
    /// the project
    #[arg(long = "iree-compile", value_name = "FILE")]
    compiler: Option<PathBuf>,

    /// Flags for iree-compile; without a target, that is llvm-cpu for this processor where machine
    /// code runs, else vmvx
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<String>,
}

/// Runs the command. What keeps it from comparing is 2, not 1: that is for what differs.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    match explained(arguments) {
        Ok(status) => Ok(status),
        Err(error) => {
            report(&error);
            Ok(ExitStatus::Usage)
        }
    }
}

fn explained(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let scratch = Scratch::new("iree-dbg-why-")?;
    let folder = arguments.output.clone().unwrap_or_else(|| scratch.path().to_owned());
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let (target, other) = arguments.targets(&folder)?;
    let program = arguments.compiled(&target, &folder)?;
    let overrides =
        Overrides { absolute: arguments.atol.clone(), relative: arguments.rtol.clone() };
    let expected = Expected { results: &arguments.expect, tensors: arguments.golden.as_deref() };
    let mut line = ProgressLine::default();
    let found = compare::explain(
        &program,
        expected,
        || {
            let compiled = arguments.compiled(&other?, &folder);
            let compiled = compiled.map_err(|it| CompareError::NotCompiled(it.to_string()))?;
            // The other back end is one of the processor's.
            let host = compiled.launch.host.on_processor();
            Ok(Compiled { launch: LaunchOptions { host, ..compiled.launch }, ..compiled })
        },
        &Settings { overrides, ..Settings::default() },
        &mut |at| line.show(at),
    );
    line.clear();
    let found = found?;
    found.expected.notes.iter().for_each(|note| errln!("note: {note}"));
    let folder = repro(&found, &program.launch, &arguments.input, &folder.join("repro"));
    if arguments.output.is_none() && matches!(folder, Some(Ok(_))) {
        // The folder is what the user is told of.
        scratch.keep();
    }
    if arguments.json {
        let path = folder.as_ref().and_then(|it| it.as_ref().ok());
        let path = path.map(|written| written.path.display().to_string());
        outln!("{}", found.to_json(path.as_deref()));
    } else {
        let told = folder.map(|folder| told(&folder));
        outln!("{}", wrapped(&found.paragraph(told.as_deref())));
    }
    Ok(match found.cause() {
        Cause::None => ExitStatus::Success,
        _ => ExitStatus::Failure,
    })
}

/// Flags of the compiler, and what they compile for.
struct Target {
    name: String,
    flags: Vec<String>,
    /// What the module is called.
    suffix: &'static str,
}

impl Arguments {
    /// What the program is compiled for, and another back end, or why there is none.
    fn targets(&self, folder: &Path) -> Result<(Target, Result<Target, CompareError>), Failure> {
        let launch = self.launch(&folder.join("none.vmfb"))?;
        let is_allowed = launch.host.native_code != NativeCode::Refused;
        let formats = ["embedded-elf-x86_64", "embedded-elf-arm_64"];
        let runs_machine_code = formats.iter().any(|it| hal::runs_format(it, is_allowed));
        let of = |back_end: BackEnd, suffix| Target {
            name: back_end.name().to_owned(),
            flags: back_end.instead(&self.flags),
            suffix,
        };
        let flags = for_device(self.program.device().name(), self.flags.clone());
        if !have_target(&flags) {
            return Ok(match runs_machine_code {
                true => (of(BackEnd::LlvmCpu, ""), Ok(of(BackEnd::Vmvx, ".other"))),
                false => (of(BackEnd::Vmvx, ""), Err(no_machine_code())),
            });
        }
        let named = named_back_ends(&self.flags);
        let other = match (named.iter().any(|it| it == "llvm-cpu"), runs_machine_code) {
            (true, _) => Ok(of(BackEnd::Vmvx, ".other")),
            (false, true) => Ok(of(BackEnd::LlvmCpu, ".other")),
            (false, false) if named == ["vmvx"] => Err(no_machine_code()),
            (false, false) => Ok(of(BackEnd::Vmvx, ".other")),
        };
        let name = match (named.is_empty(), self.program.device()) {
            (false, _) => named.join(","),
            (true, device @ DeviceKind::Gpu(..)) => device.name().to_owned(),
            (true, _) => "the target of the flags".to_owned(),
        };
        Ok((Target { name, flags, suffix: "" }, other))
    }

    fn launch(&self, module: &PathBuf) -> Result<LaunchOptions, Failure> {
        let launch = self.program.launch_options(Some(module), Ok)?.ok_or("name a source")?;
        Ok(LaunchOptions { iree_compile: self.compiler.clone(), ..launch })
    }

    fn compiled(&self, target: &Target, folder: &Path) -> Result<Compiled, Failure> {
        let stem = self.input.file_stem().unwrap_or_default().to_string_lossy();
        let output = folder.join(format!("{stem}{}.vmfb", target.suffix));
        let request = CompileRequest {
            input: self.input.clone(),
            output: std::path::absolute(output)?,
            flags: target.flags.clone(),
            compiler: self.compiler.clone(),
            ..CompileRequest::default()
        };
        let made = compile(&request, &Cancellation::default(), &mut |line| errln!("{line}"))?;
        Ok(Compiled { back_end: target.name.clone(), launch: self.launch(&made.module)? })
    }
}

fn no_machine_code() -> CompareError {
    let why = "no machine code runs here, so that vmvx is the only one";
    CompareError::NotCompiled(why.to_owned())
}

/// Writes the folder of the first bad dispatch, if there is one that is not known to be right.
fn repro(
    found: &Findings,
    launch: &LaunchOptions,
    input: &Path,
    folder: &Path,
) -> Option<Result<WrittenFolder, Failure>> {
    let bad = found.suspect()?;
    let written = || {
        let mut debugger = Debugger::load(launch.clone())?;
        let run = capture_numbered(&mut debugger, bad.number)?;
        if run.after.export != bad.names.0 {
            let (found, wanted) = (&run.after.export, &bad.names.0);
            let why = format!("dispatch #{} is @{found} now, not @{wanted}", bad.number);
            return Err(why.into());
        }
        let source = std::path::absolute(input).ok();
        let tools = Tools::find(source.as_deref().and_then(Path::parent));
        let options = FolderOptions { shapes: None, tools, finding: None };
        Ok(write_folder(folder, &run, &options)?)
    };
    Some(written())
}

/// What came of the folder, in a sentence.
fn told(folder: &Result<WrittenFolder, Failure>) -> String {
    match folder {
        Ok(WrittenFolder { path, trial, .. }) => {
            let path = path.display();
            format!(
                "The dispatch is in {path}, with its inputs and with what it has left in this run; \
                 `sh {path}/run.sh` runs it with IREE's own tools: {trial}."
            )
        }
        Err(reason) => format!("No folder was written for the dispatch: {reason}."),
    }
}

/// A line has at most so many characters.
const COLUMNS: usize = 100;

/// A paragraph in lines.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > COLUMNS {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
