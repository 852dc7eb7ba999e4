//! `iree-dbg repro`: runs a function, and writes a folder for one of its dispatches, or for each,
//! with which IREE's own tools run that dispatch again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use debug::Debugger;
use debuginfo::Shapes;
use repro::{
    Capturer, DispatchRun, FolderOptions, NoTools, ReduceProgress, Tools, Wanted, WantedDispatch,
    write_folder,
};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::program::DebuggeeArguments;
use crate::progress_line::ProgressLine;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module, which --module= can name too
    #[arg(value_name = "MODULE.vmfb")]
    module: Option<PathBuf>,

    #[command(flatten)]
    program: DebuggeeArguments,

    /// The dispatch: the number of its command in the run, as stacks, `info dispatches` and `diff`
    /// show it, its name, or a pattern of names; without this flag, each dispatch gets a folder of
    /// its own
    #[arg(long, value_name = "NAME|NUMBER")]
    dispatch: Option<String>,

    /// Which run of a dispatch that is named, from 1; without this flag, the first
    #[arg(long, value_name = "N")]
    run: Option<u64>,

    /// The folder to write
    #[arg(long, short, value_name = "DIRECTORY")]
    output: PathBuf,

    /// Keep dynamic shapes, also where static ones give the same bits
    #[arg(long)]
    keep_dynamic: bool,

    /// Do not run the folder with IREE's tools
    #[arg(long)]
    no_comparison: bool,

    /// If the dispatch is wrong: drop operations and shrink shapes while IREE's compiler still
    /// makes wrong code of it; right is what its text means, in float64
    #[arg(long, requires = "dispatch", conflicts_with_all = ["no_comparison", "keep_dynamic"])]
    reduce: bool,

    /// How many programs --reduce may compile and run
    #[arg(long, value_name = "N", default_value_t = 60)]
    reduce_attempts: usize,
}

impl Arguments {
    /// The folder of the module, whose project has a compiler.
    fn folder(&self) -> Option<PathBuf> {
        let module = std::path::absolute(self.module.as_ref()?).ok()?;
        module.parent().map(Path::to_owned)
    }

    fn options(&self) -> FolderOptions {
        FolderOptions {
            shapes: self.keep_dynamic.then_some(Shapes::Kept),
            tools: match self.no_comparison {
                true => Err(NoTools::NotWanted("--no-comparison")),
                false => Tools::find(self.folder().as_deref()),
            },
            finding: None,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let launch = arguments.program.launch_options(arguments.module.as_ref(), Ok)?;
    let mut debugger = Debugger::load(launch.ok_or("name a module")?)?;
    for note in debugger.program().notes() {
        errln!("note: {note}");
    }
    let options = arguments.options();
    let dispatch = arguments.dispatch.as_deref().map_or(WantedDispatch::All, WantedDispatch::named);
    let is_one = match (&dispatch, arguments.run) {
        (WantedDispatch::Command(number), Some(_)) => {
            return Err(format!("command {number} is one run of its dispatch: no --run=").into());
        }
        (WantedDispatch::Command(_), None) => true,
        (WantedDispatch::Name(name), _) => !name.contains(['*', '?']),
        (WantedDispatch::All, _) => false,
    };
    let wanted = Wanted { dispatch, run: arguments.run.unwrap_or(1) };
    let mut capturer = Capturer::new(&mut debugger, wanted);
    let mut counts = Counts::default();
    while let Some(captured) = capturer.next(&mut debugger)? {
        if arguments.reduce {
            let first = captured?;
            if let (false, Some(second)) = (is_one, capturer.next(&mut debugger)?) {
                return Err(several(&first, second.as_ref().ok()).into());
            }
            return reduced(arguments, &first, options);
        }
        let written = captured.map_err(Failure::from).and_then(|run| {
            let path = match is_one {
                true => arguments.output.clone(),
                false => arguments.output.join(folder_name(&run)),
            };
            Ok(write_folder(&path, &run, &options)?)
        });
        counts.all += 1;
        match written {
            Ok(written) => {
                outln!("{}: {}", written.path.display(), written.trial);
                *counts.by_outcome.entry(outcome(&written.trial)).or_default() += 1;
            }
            Err(reason) if is_one => return Err(reason),
            Err(reason) => {
                outln!("no folder: {reason}");
                *counts.by_outcome.entry("without a folder").or_default() += 1;
            }
        }
        if is_one {
            break;
        }
    }
    if counts.all == 0 {
        return Err(not_reached(arguments, &debugger).into());
    }
    if !is_one {
        let parts = counts.by_outcome.iter().map(|(what, count)| format!("{count} {what}"));
        let noun = if counts.all == 1 { "dispatch" } else { "dispatches" };
        outln!("{} {noun}: {}", counts.all, parts.collect::<Vec<_>>().join(", "));
    }
    let is_bad = |what: &str| !matches!(what, "the same" | "not compared");
    Ok(match counts.by_outcome.keys().any(|what| is_bad(what)) {
        true => ExitStatus::Failure,
        false => ExitStatus::Success,
    })
}

/// Why nothing is reduced where a pattern fits several dispatches.
fn several(first: &DispatchRun, second: Option<&DispatchRun>) -> String {
    let named = |run: &DispatchRun| format!("@{} (command {})", run.after.export, run.after.number);
    let second = second.map_or_else(|| "another one".to_owned(), named);
    format!(
        "--reduce needs one dispatch, and {} and {second} fit; name one with --dispatch",
        named(first)
    )
}

/// Writes the folder of a reduced dispatch; of the whole one, if it cannot be reduced.
fn reduced(
    arguments: &Arguments,
    run: &DispatchRun,
    mut options: FolderOptions,
) -> Result<ExitStatus, Failure> {
    let tools = options.tools.clone()?;
    let mut line = ProgressLine::default();
    let found = repro::reduce(run, &tools, arguments.reduce_attempts, &mut |at| {
        let ReduceProgress { attempts, most_attempts, operations } = at;
        line.say(&format!("program {attempts} of {most_attempts}: {operations} operations"));
    });
    line.clear();
    let reason = match found {
        Ok(found) => {
            let written = repro::write_reduced(&arguments.output, run, &found, &tools)?;
            outln!("{}: {}", written.path.display(), found.failure);
            outln!("{}", found.summary());
            found.steps.iter().for_each(|step| outln!("  {step}"));
            if matches!(written.trial, repro::Trial::Different(..)) {
                return Ok(ExitStatus::Success);
            }
            return Err(format!("its script does not show that: {}", written.trial).into());
        }
        Err(reason) => reason.to_string(),
    };
    options.finding = Some(reason.clone());
    let written = write_folder(&arguments.output, run, &options);
    let written = written.map_err(|error| format!("{reason}; {error}"))?;
    outln!("{}: {}", written.path.display(), written.trial);
    Err(reason.into())
}

/// How many folders were written, and what came of them.
#[derive(Default)]
struct Counts {
    all: usize,
    by_outcome: BTreeMap<&'static str, usize>,
}

fn outcome(trial: &repro::Trial) -> &'static str {
    match trial {
        repro::Trial::Same(_) => "the same",
        repro::Trial::Different(..) => "different",
        repro::Trial::Failed(..) => "not running",
        repro::Trial::NotRun(_) => "not compared",
    }
}

/// The folder of one dispatch of several.
fn folder_name(run: &DispatchRun) -> String {
    let export = &run.after.export;
    let plain = |it: char| if it.is_ascii_alphanumeric() || "-_".contains(it) { it } else { '_' };
    let name: String = export.chars().map(plain).take(96).collect();
    format!("{:03}-{name}", run.after.number)
}

/// Why no dispatch was found.
fn not_reached(arguments: &Arguments, debugger: &Debugger) -> String {
    let commands = debugger.machine().commands_run();
    let dispatches: Vec<_> =
        commands.iter().filter_map(|(number, it)| Some((number, it.as_ref()?))).collect();
    let Some(wanted) = &arguments.dispatch else {
        return "the function has run no dispatch".to_owned();
    };
    let shown = dispatches.iter().take(20).map(|(number, name)| format!("\n  {number} @{name}"));
    let more = dispatches.len().saturating_sub(20);
    let more = if more > 0 { format!("\n  … and {more} more") } else { String::new() };
    let list = match dispatches.is_empty() {
        true => "the function has run no dispatch".to_owned(),
        false => format!("the dispatches that ran are:{}{more}", shown.collect::<String>()),
    };
    if let WantedDispatch::Command(wanted) = WantedDispatch::named(wanted) {
        return match commands.iter().any(|(number, _)| *number == wanted) {
            true => format!("command {wanted} is a fill, an update or a copy; {list}"),
            false => format!("no command has the number {wanted}; {list}"),
        };
    }
    let times = arguments.run.filter(|run| *run > 1);
    let times = times.map(|run| format!(" {run} times")).unwrap_or_default();
    format!("dispatch {wanted} did not run{times}; {list}")
}
