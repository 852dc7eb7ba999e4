//! `iree-dbg diff`: which dispatch is wrong? Runs a module's machine code against the bytecode of
//! its dispatches or against their text in float64, or two programs, in lock step, and reports what
//! differs. The crate `compare` does the work.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use compare::{Mode, Overrides, Progress, Settings, Verdict};
use debug::LaunchOptions;
use hal::{DeviceKind, Parameters};

use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::program::DebuggeeArguments;
use crate::progress_line::ProgressLine;
use crate::version;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module; a second one is the other side, else that is the bytecode of its dispatches
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

    /// The text of each dispatch as side B, evaluated in float64 on the tensors that it reads; what
    /// it leaves must lie within a bound of that
    #[arg(long, conflicts_with = "golden")]
    reference: bool,

    /// The most scalar operations of a dispatch that are evaluated in float64
    #[arg(long, value_name = "N", default_value_t = debug::MOST_OPERATIONS)]
    reference_operations: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Also write the report as one file of HTML, which loads nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

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

/// What to do where no dispatch could be compared with its bytecode.
const ONLY_MACHINE_CODE: &str = "hint: only machine code is compared with its bytecode: name a second module, or compile with \
     --iree-hal-local-target-device-backends=llvm-cpu";

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
    let overrides =
        Overrides { absolute: arguments.atol.clone(), relative: arguments.rtol.clone() };
    let settings = Settings { overrides };
    let mut line = ProgressLine::default();
    let progress = &mut |at: Progress<'_>| line.show(at);
    let sides = arguments.sides()?;
    let is_against_bytecode = sides.1.is_none() && arguments.golden.is_none();
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
            compare::against_reference(a, arguments.reference_operations, &settings, progress)
        }
        (_, Some(_)) if arguments.reference => {
            return Err(
                "--reference is side B; give one module, and no flag that begins with --b-".into(),
            );
        }
        (a, None) => match arguments.mode {
            ModeName::Isolated => compare::against_bytecode(a, &settings, progress),
            ModeName::Bisect => compare::bisect_bytecode(&a, &settings, progress),
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
                    compare::against_other([a, b], described, isolated, &settings, progress)
                }
                ModeName::Accumulated => {
                    compare::against_other([a, b], described, accumulated, &settings, progress)
                }
                ModeName::Bisect => compare::bisect_other(&[a, b], &described, &settings, progress),
            }
        }
    }?;
    line.clear();
    if let Some(path) = &arguments.html {
        let flags = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        let about = [("flags", flags), ("version", version::LONG.clone())];
        std::fs::write(path, found.to_html(&about))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let mut output = io::stdout().lock();
    match arguments.json {
        true => writeln!(output, "{}", found.to_json())?,
        false => output.write_all(found.text().as_bytes())?,
    }
    Ok(match found.verdict() {
        Verdict::Equal | Verdict::Within => ExitStatus::Success,
        Verdict::Differs => ExitStatus::Failure,
        Verdict::NotCompared => {
            if is_against_bytecode && !found.dispatches.is_empty() {
                eprintln!("{ONLY_MACHINE_CODE}");
            }
            ExitStatus::Usage
        }
    })
}

impl Arguments {
    /// How both sides are launched; without a second one, that is the bytecode of the first.
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
            let opened = Parameters::open(&self.b_parameters);
            b.host.parameters = Arc::new(opened.map_err(|status| status.to_string())?);
        }
        if let Some((first, more)) = self.b_devices.split_first() {
            (b.host.device, b.host.more_devices) = (*first, more.to_vec());
        }
        Ok((a, Some(b)))
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
