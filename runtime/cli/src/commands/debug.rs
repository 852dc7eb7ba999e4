//! `iree-dbg debug`: the terminal debugger on a module, a source file, or the embedded example.
//!
//! Commands come from a prompt if there is a terminal, else from standard input; `-x` and `-ex`
//! come first, in their order. Commands that were not typed at a prompt are echoed, so that the
//! output reads like a session.

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use commands::Next;
use debug::{InterruptHandle, LaunchOptions, PastOptions, RecordOptions};
use hal::NativeCode;
use recording::{EarlyEnd, Recorded};

use super::doctor;
use crate::example;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::printing::Screen;
use crate::program::{DebuggeeArguments, SourceArguments};
use crate::prompt::{PROMPT, prompt};
use crate::terminal::Terminal;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module, which --module= can name too; a source or an ONNX model, which is compiled
    /// first; or the file of a recorded run
    #[arg(value_name = "MODULE.vmfb|INPUT.mlir|MODEL.onnx|RECORDING")]
    module: Option<PathBuf>,

    #[command(flatten)]
    sources: SourceArguments,

    #[command(flatten)]
    scripts: Scripts,

    /// Say what the file would do, its modules, machine code, files and sizes, and run nothing
    #[arg(long, requires = "module")]
    inspect: bool,

    /// Run the code of a recording that has the results of its dispatches, as if it had none
    #[arg(long, requires = "module")]
    without_results: bool,

    /// Exit after -x and -ex, without a prompt; with 1 if a command or the program has failed
    #[arg(long)]
    batch: bool,

    /// Print each answer, stop and message as one object of JSON a line
    #[arg(long)]
    json_lines: bool,

    /// Record the program, so that it can go back: `rs`, `rn`, `rc`
    #[arg(long)]
    record: bool,

    /// The most memory for the recording: 500MiB, 4GiB; a quarter of what is free, if not said
    #[arg(long, value_name = "SIZE", value_parser = vm::parse_bytes)]
    record_memory: Option<usize>,

    /// The most disk space for what of the recording does not fit into that memory; four times the
    /// memory, if not said, and 0 for none
    #[arg(long, value_name = "SIZE", value_parser = vm::parse_bytes)]
    record_disk: Option<usize>,

    /// The most memory for what tensors were before commands have overwritten them, so that they
    /// can still be shown: 500MiB; a sixteenth of what is free and at most 1GiB, if not said, and 0
    /// for none
    #[arg(long, value_name = "SIZE", value_parser = vm::parse_bytes)]
    past_memory: Option<usize>,

    /// Neither read nor write the history of the prompt
    #[arg(long)]
    no_history: bool,

    #[command(flatten)]
    program: DebuggeeArguments,
}

/// What is executed before the prompt, in the order of the command line.
struct Scripts(Vec<Script>);

#[derive(Clone)]
enum Script {
    File(PathBuf),
    Line(String),
}

impl clap::Args for Scripts {
    fn augment_args(command: clap::Command) -> clap::Command {
        let file = clap::Arg::new("command")
            .short('x')
            .long("command")
            .value_name("SCRIPT")
            .value_parser(clap::value_parser!(PathBuf))
            .action(clap::ArgAction::Append)
            .help("Execute the commands in this file first");
        let line = clap::Arg::new("eval-command")
            .long("eval-command")
            .value_name("COMMAND")
            .allow_hyphen_values(true)
            .action(clap::ArgAction::Append)
            .help("Execute this command first; -ex is the same");
        command.arg(file).arg(line)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Scripts {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let places = |id| matches.indices_of(id).into_iter().flatten();
        let files = matches.get_many::<PathBuf>("command").into_iter().flatten();
        let lines = matches.get_many::<String>("eval-command").into_iter().flatten();
        let files = places("command").zip(files.cloned().map(Script::File));
        let lines = places("eval-command").zip(lines.cloned().map(Script::Line));
        let mut found: Vec<(usize, Script)> = files.chain(lines).collect();
        found.sort_by_key(|(place, _)| *place);
        Ok(Self(found.into_iter().map(|(_, script)| script).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Arguments {
    /// What is kept of overwritten tensors.
    fn past(&self) -> Option<PastOptions> {
        let chosen = self.past_memory.map(|memory| PastOptions { memory });
        Some(chosen.unwrap_or_default()).filter(|it| it.memory > 0)
    }

    /// What is recorded, if something is.
    fn recording(&self) -> Option<RecordOptions> {
        let chosen = RecordOptions::default();
        let memory = self.record_memory.unwrap_or(chosen.memory);
        let disk = self.record_disk.map_or((memory as u64).saturating_mul(4), |it| it as u64);
        let is_wanted = self.record || self.record_memory.is_some() || self.record_disk.is_some();
        is_wanted.then_some(RecordOptions { memory, disk, ..chosen })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    if let Some(file) = arguments.module.as_deref().filter(|_| arguments.inspect) {
        return doctor::inspect(file);
    }
    let (options, opening) = options(arguments)?;
    let record = arguments.recording().or(options.record);
    let options = LaunchOptions { record, past: arguments.past(), ..options };
    let mut terminal = Terminal::new(options, arguments.json_lines, crate::printing::output())?;
    interrupt_on_control_c(&terminal)?;
    let mut next = Next::Command;
    if let Some(line) = opening {
        next = echo_lines(&mut terminal, line.as_bytes())?;
    }
    for script in &arguments.scripts.0 {
        if next == Next::Quit {
            break;
        }
        next = match script {
            Script::File(path) => {
                let file = std::fs::File::open(path)
                    .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                echo_lines(&mut terminal, io::BufReader::new(file))?
            }
            Script::Line(line) => echo_lines(&mut terminal, line.as_bytes())?,
        };
    }
    let only_scripts = arguments.batch && !arguments.scripts.0.is_empty();
    if next == Next::Command && !only_scripts {
        if io::stdin().is_terminal() && !arguments.batch {
            prompt(&mut terminal, !arguments.no_history)?;
        } else {
            echo_lines(&mut terminal, io::stdin().lock())?;
        }
    }
    let has_failed = terminal.has_failed() || (arguments.batch && terminal.program_has_failed());
    Ok(if has_failed { ExitStatus::Failure } else { ExitStatus::Success })
}

/// How the program is launched, and the line that leads to where it is opened, if that is not its
/// beginning.
fn options(arguments: &Arguments) -> Result<(LaunchOptions, Option<String>), Failure> {
    if let Some(path) = arguments.module.as_ref().filter(|path| recording::is_recording(path)) {
        return recorded(arguments, path);
    }
    let device = arguments.program.device();
    let made = |path| arguments.sources.module(path, device, &mut |line| errln!("{line}"));
    if let Some(options) = arguments.program.launch_options(arguments.module.as_ref(), made)? {
        return Ok((options, None));
    }
    if !arguments.json_lines {
        outln!(
            "Debugging the embedded example, {}: main(2.0, 5). `help` lists the commands; \
             try\n`break improve`, `run`, `locals`, `next`, `finish`, `print %estimates`.",
            example::SOURCE.0
        );
    }
    Ok((example::options(), None))
}

/// The program of a recorded run. One that has failed is opened at its failure, and one that was
/// killed where it was then, as far as the file goes.
fn recorded(
    arguments: &Arguments,
    path: &Path,
) -> Result<(LaunchOptions, Option<String>), Failure> {
    if !arguments.program.is_unspecified() {
        let path = path.display();
        let text = "has the program and its inputs, so no others can be given";
        return Err(format!("the recording {path} {text}").into());
    }
    let recorded = match Recorded::open(path)? {
        recorded if arguments.without_results => recorded.without_results(),
        recorded => recorded,
    };
    recorded.summary().iter().for_each(|line| errln!("note: {line}"));
    let record = arguments.recording().unwrap_or_default();
    let mut options = recorded.launch_options(record)?;
    if options.host.native_code != NativeCode::Refused {
        options.host.native_code = arguments.program.native_code(true);
    }
    let opening = recorded.early_end().map(|end| match end {
        EarlyEnd::Failure => "run".to_owned(),
        EarlyEnd::Moment(moment) => format!("goto {moment}"),
        EarlyEnd::Command(number) => format!("goto {number}"),
    });
    Ok((options, opening))
}

/// How long the program may take to stop before the user hears what it is busy with.
const PATIENCE: Duration = Duration::from_millis(500);

/// Control-C stops the program, not the debugger.
fn interrupt_on_control_c<W: Screen>(terminal: &Terminal<W>) -> Result<(), ctrlc::Error> {
    let interrupt: InterruptHandle = terminal.interrupt_handle();
    // The handler runs on a thread of its own, so it may wait.
    ctrlc::set_handler(move || {
        interrupt.interrupt();
        std::thread::sleep(PATIENCE);
        if interrupt.is_pending()
            && let Some(busy) = interrupt.busy()
        {
            errln!("The program is still {busy}");
        }
    })
}

fn echo_lines<W: Screen>(terminal: &mut Terminal<W>, lines: impl BufRead) -> io::Result<Next> {
    for line in lines.lines() {
        let line = line?;
        terminal.echo(PROMPT, &line)?;
        if terminal.execute(&line)? == Next::Quit {
            return Ok(Next::Quit);
        }
    }
    Ok(Next::Command)
}
