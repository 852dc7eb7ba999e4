//! `iree-dbg diff`: which dispatch is wrong? Runs a module against the text of its dispatches in
//! float64 or against their bytecode, or two programs, in lock step, and reports what differs. The
//! crate `compare` does the work.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compare::{Keep, Mode, Outcome, Overrides, Progress, Report, Settings};
use debug::LaunchOptions;
use hal::{DeviceKind, Parameters};

use super::{onnx_tensors, recorded_diff};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::kept_tensors;
use crate::program::DebuggeeArguments;
use crate::progress_line::ProgressLine;
use crate::version;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module; a second one is the other side, or the ONNX model that it was made of, as ONNX
    /// Runtime computes it; else that is the text of its dispatches. Two recordings are compared by
    /// the hashes in them, without running either
    #[arg(value_name = "MODULE.vmfb", num_args = 0..=2)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    program: DebuggeeArguments,

    /// What each dispatch of side B works on: what side A has left, or its own; bisect finds the
    /// fewest dispatches that make the final output wrong
    #[arg(long, value_enum, default_value_t = ModeName::Isolated)]
    mode: ModeName,

    /// The arguments of side B, instead of those of --input
    #[arg(long = "b-input", value_name = "VALUE", allow_hyphen_values = true)]
    b_inputs: Vec<String>,

    /// The parameters of side B, instead of those of --parameters
    #[arg(long = "b-parameters", value_name = "[SCOPE=]FILE")]
    b_parameters: Vec<String>,

    /// The device of side B, instead of that of --device: the same module against itself
    #[arg(long = "b-device", value_name = "NAME")]
    b_devices: Vec<DeviceKind>,

    /// A directory of .npy files as side B, named by tensors, or result0.npy for the first result
    #[arg(long, value_name = "DIRECTORY")]
    golden: Option<PathBuf>,

    /// The text of each dispatch as side B, and nothing else: evaluated in float64 on the tensors
    /// that it reads; what it leaves must lie within a bound of that. Without this flag, what is
    /// not evaluated is compared with its bytecode
    #[arg(long, conflicts_with_all = ["golden", "bytecode"])]
    reference: bool,

    /// The bytecode of each dispatch as side B, compiled from its text; where both differ, the text
    /// says which is wrong
    #[arg(long, conflicts_with = "golden")]
    bytecode: bool,

    /// The most scalar operations of a dispatch that are evaluated in float64
    #[arg(long, value_name = "N", default_value_t = debug::MOST_OPERATIONS)]
    reference_operations: u64,

    /// The share of the dispatches that has to be compared: where nothing differs and fewer were,
    /// the exit status is 3
    #[arg(long, value_name = "PERCENT", default_value = "50%", value_parser = share)]
    require_compared: f64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Say on standard error what is compared, in lines that begin with `progress:`
    #[arg(long)]
    progress: bool,

    /// Also write the report as one file of HTML, which loads nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Also write both sides of each tensor that is not equal as .npy files into this folder, with
    /// the report as diff.json; an earlier such folder is replaced, and no other one
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<PathBuf>,

    /// The most bytes that --keep writes. The first tensor that differs is written whatever its
    /// size is; what is within its bounds has half of them; what is left out says so in the report
    #[arg(long, value_name = "N", default_value_t = 1 << 28, requires = "keep")]
    keep_bytes: usize,

    /// Allow relative differences up to this, instead of what a dispatch computes; for tensors
    /// whose names match a pattern with PATTERN:
    #[arg(long, value_name = "[PATTERN:]NUMBER", value_parser = Overrides::parse)]
    rtol: Vec<(String, f64)>,

    /// The same for absolute differences
    #[arg(long, value_name = "[PATTERN:]NUMBER", value_parser = Overrides::parse)]
    atol: Vec<(String, f64)>,
}

/// How the sides run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum ModeName {
    /// Each dispatch has the same inputs on both sides
    Isolated,
    /// Each side goes on with its own results
    Accumulated,
    /// Some dispatches as on side A, others as on side B
    Bisect,
}

/// A text is no share of a whole.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("name a share from 0% to 100%")]
struct NoShare;

/// A share of a whole: `90%`.
fn share(text: &str) -> Result<f64, NoShare> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok();
    let percent = percent.filter(|it| (0.0..=100.0).contains(it));
    percent.map(|it| it / 100.0).ok_or(NoShare)
}

/// Runs the command. What keeps it from comparing is 2, not 1: that is for what differs.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    match compared(arguments) {
        Ok(status) => Ok(status),
        Err(error) => {
            report(&error);
            Ok(ExitStatus::Usage)
        }
    }
}

fn compared(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    if let Some(recordings) = recorded_diff::both(&arguments.files)? {
        arguments.check_of_recordings()?;
        return recorded_diff::run(recordings, arguments.json);
    }
    let overrides =
        Overrides { absolute: arguments.atol.clone(), relative: arguments.rtol.clone() };
    let keep = match &arguments.keep {
        Some(_) if arguments.mode == ModeName::Bisect => {
            return Err(
                "--mode=bisect compares no tensors that --keep could write; leave out one \
                        of them"
                    .into(),
            );
        }
        Some(folder) => {
            // Before a long run.
            kept_tensors::check_free(folder)?;
            Keep::up_to(arguments.keep_bytes)
        }
        None => Keep::default(),
    };
    let settings = Settings { overrides, keep };
    let mut line = match arguments.progress {
        true => ProgressLine::in_lines(),
        false => ProgressLine::default(),
    };
    let progress = &mut |at: Progress<'_>| line.show(at);
    if let Some(model) = arguments.onnx_model() {
        let a = arguments.side_of_model()?;
        let files = onnx_tensors::computed(model, &a)?;
        let described = format!("ONNX Runtime on {}", model.display());
        let found = compare::against_framework(a, files.path(), described, &settings, progress)?;
        line.clear();
        return arguments.say(found);
    }
    let sides = arguments.sides()?;
    if sides.1.is_some() && (arguments.reference || arguments.bytecode) {
        let flag = if arguments.reference { "--reference" } else { "--bytecode" };
        let how = "give one module, and no flag that begins with --b-";
        return Err(format!("{flag} is side B; {how}").into());
    }
    let most = arguments.reference_operations;
    let found = match sides {
        (a, None) if arguments.golden.is_some() => {
            let directory = arguments.golden.as_deref().ok_or("name a directory")?;
            compare::against_files(a, directory, &settings, progress)
        }
        (_, Some(_)) if arguments.golden.is_some() => {
            return Err(
                "--golden is side B; give one module, and no flag that begins with --b-".into()
            );
        }
        (a, None) if arguments.reference => {
            if arguments.mode != ModeName::Isolated {
                return Err("--reference judges each dispatch alone; leave out --mode".into());
            }
            compare::against_reference(a, most, &settings, progress)
        }
        (a, None) => match arguments.mode {
            ModeName::Isolated if arguments.bytecode => {
                compare::against_bytecode(a, most, &settings, progress)
            }
            ModeName::Isolated => compare::against_text(a, most, &settings, progress),
            ModeName::Bisect => compare::bisect_bytecode(&a, most, &settings, progress),
            ModeName::Accumulated => {
                return Err("--mode=accumulated needs a second side: another module, or a flag \
                            that begins with --b-"
                    .into());
            }
        },
        (a, Some(b)) => {
            let described = arguments.described();
            let (isolated, accumulated) = (Mode::Isolated, Mode::Accumulated);
            match arguments.mode {
                ModeName::Isolated => {
                    compare::against_other([a, b], described, isolated, most, &settings, progress)
                }
                ModeName::Accumulated => {
                    let mode = accumulated;
                    compare::against_other([a, b], described, mode, most, &settings, progress)
                }
                ModeName::Bisect => compare::bisect_other(&[a, b], &described, &settings, progress),
            }
        }
    }?;
    line.clear();
    arguments.say(found)
}

impl Arguments {
    /// Says what was found.
    fn say(&self, mut found: Report) -> Result<ExitStatus, Failure> {
        found.required = self.require_compared;
        if let Some(folder) = &self.keep {
            kept_tensors::write(&mut found, folder, self.keep_bytes)?;
            if !self.json {
                found.notes.push(kept_tensors::sentence(&found, folder));
            }
        }
        if let Some(path) = &self.html {
            let flags = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
            let about = [("flags", flags), ("version", version::LONG.clone())];
            vmfb::WholeFile::write(path, found.to_html(&about).as_bytes())
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        let mut output = crate::printing::output();
        match self.json {
            true => writeln!(output, "{}", found.to_json())?,
            false => output.write_all(found.text().as_bytes())?,
        }
        Ok(match found.outcome() {
            Outcome::Alike => ExitStatus::Success,
            Outcome::Differs => ExitStatus::Failure,
            Outcome::NotRun => ExitStatus::Usage,
            Outcome::TooLittle => {
                if let Some(hint) = self.hint(&found) {
                    errln!("hint: {hint}");
                }
                ExitStatus::TooLittle
            }
        })
    }

    /// Recordings are compared as they are.
    fn check_of_recordings(&self) -> Result<(), Failure> {
        let has_b = !(self.b_inputs.is_empty() && self.b_parameters.is_empty());
        let is_other = self.golden.is_some() || self.reference || self.bytecode || has_b;
        let is_told = !(self.rtol.is_empty() && self.atol.is_empty() && self.b_devices.is_empty());
        let is_written = self.html.is_some() || self.keep.is_some();
        let runs = self.mode != ModeName::Isolated || !self.program.is_unspecified();
        if is_other || is_told || is_written || runs {
            return Err(
                "two recordings are compared by the hashes in them, which are the same or \
                        not; only --json goes with that"
                    .into(),
            );
        }
        Ok(())
    }

    /// The ONNX model that is the other side.
    fn onnx_model(&self) -> Option<&Path> {
        let [_, model] = self.files.as_slice() else { return None };
        model.extension().is_some_and(|it| it == "onnx").then_some(model)
    }

    /// How the module is launched that is compared with its model.
    fn side_of_model(&self) -> Result<LaunchOptions, Failure> {
        let is_other = self.golden.is_some() || self.reference || self.bytecode;
        let has_b = !(self.b_inputs.is_empty() && self.b_parameters.is_empty());
        if is_other || has_b || !self.b_devices.is_empty() || self.mode != ModeName::Isolated {
            let why = "leave out --mode and the flags that name another side";
            return Err(format!("the model is side B; {why}").into());
        }
        let options = self.program.launch_options(self.files.first(), Ok)?;
        Ok(options.ok_or("name a module")?)
    }

    /// How both sides are launched; without a second one, the first is compared with itself.
    fn sides(&self) -> Result<(LaunchOptions, Option<LaunchOptions>), Failure> {
        let options = self.program.launch_options(self.files.first(), Ok)?;
        let a = options.ok_or("name a module")?;
        if self.files.len() < 2
            && self.b_inputs.is_empty()
            && self.b_parameters.is_empty()
            && self.b_devices.is_empty()
        {
            return Ok((a, None));
        }
        let b = self.program.launch_options(self.files.last(), Ok)?;
        let mut b = b.ok_or("name a module")?;
        if !self.b_inputs.is_empty() {
            b.inputs.clone_from(&self.b_inputs);
        }
        if !self.b_parameters.is_empty() {
            b.host.parameters = Arc::new(Parameters::open(&self.b_parameters)?);
        }
        if let Some((first, more)) = self.b_devices.split_first() {
            (b.host.device, b.host.more_devices) = (*first, more.to_vec());
        }
        Ok((a, Some(b)))
    }

    /// What to do where too little was compared.
    fn hint(&self, found: &Report) -> Option<&'static str> {
        let is_bisect = self.mode == ModeName::Bisect && !found.is_of_two;
        if self.bytecode || is_bisect {
            return Some(match is_bisect {
                true => {
                    "bytecode is side B here, of machine code only; without --mode=bisect, each \
                         dispatch is compared with its text"
                }
                false => {
                    "only machine code has bytecode to be compared with; without --bytecode, \
                          each dispatch is compared with its text"
                }
            });
        }
        let is_of_text = !found.is_of_two && self.golden.is_none();
        let is_said = |what: &str| {
            let mut reasons = found.dispatches.iter().filter_map(|it| it.why_not());
            reasons.any(|it| it.contains(what))
        };
        if is_of_text && is_said("its source is not kept") {
            return Some(
                "the text of dispatches is in the debug file, which `iree-dbg compile` writes \
                 beside the module",
            );
        }
        None
    }

    /// What both sides are.
    fn described(&self) -> [String; 2] {
        let name = |path: Option<&PathBuf>| {
            path.map_or_else(|| "the program".to_owned(), |it| it.display().to_string())
        };
        let mut b = name(self.files.last());
        for (values, what) in [(&self.b_inputs, "input"), (&self.b_parameters, "parameters")] {
            values.iter().for_each(|value| b.push_str(&format!(" --{what}={value}")));
        }
        self.b_devices.iter().for_each(|device| b.push_str(&format!(" --device={device}")));
        [name(self.files.first()), b]
    }
}
