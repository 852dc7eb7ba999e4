//! `iree-dbg debug`: the terminal debugger on a module, a source file, or the embedded example.
//!
//! Commands come from a prompt if there is a terminal, else from standard input; `-x` reads a
//! script first. Commands that were not typed at a prompt are echoed, so that the output reads like
//! a session.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use compile::{Cancellation, CompileRequest, compile};
use debug::{InterruptHandle, LaunchOptions, ModuleSource};
use rustyline::error::ReadlineError;

use crate::example;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::modules::split_libraries;
use crate::program::DeviceArguments;
use crate::terminal::{Next, Terminal};

const PROMPT: &str = "(iree-dbg) ";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module, which --module= can name too; or a source, which is compiled first
    #[arg(value_name = "MODULE.vmfb|INPUT.mlir")]
    module: Option<PathBuf>,

    /// Execute the commands in this file first
    #[arg(short = 'x', long = "command", value_name = "SCRIPT")]
    script: Option<PathBuf>,

    /// Exit after the script
    #[arg(long, requires = "script")]
    batch: bool,

    /// A module; each may import from the modules before it, and the last one has the function
    #[arg(long = "module", value_name = "MODULE.vmfb")]
    modules: Vec<PathBuf>,

    /// The exported function to call; optional if there is only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// An argument, in order: 5, 0x10, 2.5, (null)
    #[arg(long = "input", value_name = "VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,

    #[command(flatten)]
    device: DeviceArguments,

    /// The directory of debug files that do not lie beside their modules
    #[arg(long = "debug-directory", value_name = "DIRECTORY")]
    debug_directory: Option<PathBuf>,

    /// A directory to search for source files
    #[arg(long = "directory", value_name = "DIRECTORY")]
    directories: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    // Holds modules that are compiled here, until the session ends.
    let scratch = tempfile::tempdir()?;
    let mut terminal = Terminal::new(options(arguments, scratch.path())?, io::stdout())?;
    interrupt_on_control_c(&terminal)?;
    let mut next = Next::Command;
    if let Some(script) = &arguments.script {
        let file = std::fs::File::open(script)
            .map_err(|error| format!("cannot read {}: {error}", script.display()))?;
        next = echo_lines(&mut terminal, io::BufReader::new(file))?;
    }
    if next == Next::Command && !arguments.batch {
        if io::stdin().is_terminal() {
            prompt(&mut terminal)?;
        } else {
            echo_lines(&mut terminal, io::stdin().lock())?;
        }
    }
    Ok(if terminal.has_failed() { ExitStatus::Failure } else { ExitStatus::Success })
}

fn options(arguments: &Arguments, scratch: &Path) -> Result<LaunchOptions, Failure> {
    let paths: Vec<PathBuf> = arguments.modules.iter().chain(&arguments.module).cloned().collect();
    let (modules, libraries) = split_libraries(&paths);
    if modules.is_empty() {
        println!(
            "Debugging the embedded example, {}: main(2.0, 5). `help` lists the commands; try\n\
             `break improve`, `run`, `locals`, `next`, `finish`, `print %estimates`.",
            example::SOURCE.0
        );
        return Ok(example::options());
    }
    let beside = modules.iter().filter_map(|path| path.parent()).map(PathBuf::from);
    let here = std::env::current_dir().into_iter();
    let directories = arguments.directories.iter().cloned().chain(here).chain(beside).collect();
    Ok(LaunchOptions {
        modules: modules
            .into_iter()
            .map(|path| Ok(ModuleSource::Path(compiled(path, scratch)?)))
            .collect::<Result<_, Failure>>()?,
        function: arguments.function.clone(),
        inputs: arguments.inputs.clone(),
        host: arguments.device.config_with(&libraries)?,
        debug_directory: arguments.debug_directory.clone(),
        source_directories: directories,
        ..LaunchOptions::default()
    })
}

/// The path of a module. A source is compiled first.
fn compiled(path: PathBuf, scratch: &Path) -> Result<PathBuf, Failure> {
    if path.extension().is_none_or(|extension| extension != "mlir") {
        return Ok(path);
    }
    let output = scratch.join(path.file_name().unwrap_or_default()).with_extension("vmfb");
    let request = CompileRequest { input: path, output, ..CompileRequest::default() };
    let made = compile(&request, &Cancellation::default(), &mut |line| eprintln!("{line}"))?;
    Ok(made.module)
}

/// How long the program may take to stop before the user hears what it is busy with.
const PATIENCE: Duration = Duration::from_millis(500);

/// Control-C stops the program, not the debugger.
fn interrupt_on_control_c<W: Write>(terminal: &Terminal<W>) -> Result<(), ctrlc::Error> {
    let interrupt: InterruptHandle = terminal.interrupt_handle();
    // The handler runs on a thread of its own, so it may wait.
    ctrlc::set_handler(move || {
        interrupt.interrupt();
        std::thread::sleep(PATIENCE);
        if interrupt.is_pending()
            && let Some(busy) = interrupt.busy()
        {
            eprintln!("The program is still {busy}");
        }
    })
}

fn prompt<W: Write>(terminal: &mut Terminal<W>) -> Result<(), Failure> {
    let mut editor = rustyline::DefaultEditor::new()?;
    loop {
        match editor.readline(PROMPT) {
            Ok(line) => {
                if !line.trim().is_empty() {
                    editor.add_history_entry(&line)?;
                }
                if terminal.execute(&line)? == Next::Quit {
                    return Ok(());
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn echo_lines<W: Write>(terminal: &mut Terminal<W>, lines: impl BufRead) -> io::Result<Next> {
    for line in lines.lines() {
        let line = line?;
        writeln!(terminal.out(), "{PROMPT}{line}")?;
        if terminal.execute(&line)? == Next::Quit {
            return Ok(Next::Quit);
        }
    }
    Ok(Next::Command)
}
