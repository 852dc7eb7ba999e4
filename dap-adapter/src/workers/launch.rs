//! The way from a `launch` request to a loaded program.
//!
//! Compiling a `.mlir` can take minutes, and mapping a module of gigabytes takes some time too. So
//! both happen on a thread of their own. The session keeps answering and can cancel the launch, and
//! the compiler's messages reach the client as they come.

use std::path::Path;
use std::thread::{self, JoinHandle};

use compile::{Cancellation, Scratch, compile};
use debug::{Announcer, Debugger};

use crate::configuration::{LaunchArguments, Unfit};
use crate::debuggee::Debuggee;
use crate::panics::{self, Panicked};

/// A loaded program, or why there is none.
pub(crate) type Launched = Result<Box<Debuggee>, LaunchFailure>;

/// Why a program was not loaded; for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchFailure {
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error("cannot make a directory to compile into: {0}")]
    NoScratch(#[source] std::io::Error),
    #[error(transparent)]
    Compile(#[from] compile::CompileError),
    #[error(transparent)]
    Load(#[from] debug::LaunchError),
    #[error("`level`: {0}")]
    Level(String),
    #[error(transparent)]
    Panic(#[from] Panicked),
}

/// What a launch reports.
pub(crate) enum Report {
    /// The compiler printed a line.
    CompilerLine(String),
    /// The launch has ended.
    Launched(Launched),
}

/// A launch in progress.
pub(crate) struct Launch {
    /// The directory that the compiler writes to.
    scratch: Option<Scratch>,
    cancellation: Cancellation,
    thread: JoinHandle<()>,
}

impl Launch {
    /// Begins a launch; `report` receives the outcome.
    ///
    /// # Errors
    /// The arguments are wrong, or there is no place for the compiler's output.
    pub(crate) fn begin(
        mut arguments: LaunchArguments,
        report: impl Fn(Report) + Clone + Send + Sync + 'static,
    ) -> Result<Self, LaunchFailure> {
        arguments.resolve()?;
        let scratch = if arguments.is_source() {
            let made = Scratch::new("iree-dbg-");
            Some(made.map_err(LaunchFailure::NoScratch)?)
        } else {
            None
        };
        let directory = scratch.as_ref().map(|scratch| scratch.path().to_owned());
        let cancellation = Cancellation::default();
        let shared = cancellation.clone();
        let thread = thread::spawn(move || {
            let load = || load(&arguments, directory.as_deref(), &shared, &report);
            let launched = panics::caught(load).unwrap_or_else(|panicked| Err(panicked.into()));
            report(Report::Launched(launched));
        });
        Ok(Self { scratch, cancellation, thread })
    }

    /// Cancels the launch. Waits until the compiler has ended, as it must not outlive the adapter.
    pub(crate) fn cancel(self) {
        self.cancellation.cancel();
        // The thread reports errors and panics; here only its end matters.
        let _ = self.thread.join();
    }

    /// The launch has ended. Returns the directory with the compiled module, which has to live as
    /// long as the program may read from it.
    pub(crate) fn finish(self) -> Option<Scratch> {
        self.scratch
    }
}

fn load(
    arguments: &LaunchArguments,
    scratch: Option<&Path>,
    cancellation: &Cancellation,
    report: &(impl Fn(Report) + Clone + Send + Sync + 'static),
) -> Launched {
    let compiled = match scratch {
        Some(scratch) => {
            let mut on_line = |line: &str| report(Report::CompilerLine(line.to_owned()));
            let request = arguments.compile_request(scratch);
            let output = compile(&request, cancellation, &mut on_line)?;
            if let Some(reason) = &output.no_companion {
                let text = "no debug companion was made, so locals and lines are few";
                on_line(&format!("{text}: {reason}"));
            }
            Some(output.module)
        }
        None => None,
    };
    let lines = report.clone();
    let mut options = if arguments.is_recording() {
        arguments.recorded_options(|line| lines(Report::CompilerLine(line.to_owned())))?
    } else {
        arguments.launch_options(compiled)?
    };
    options.announcer = Announcer::new(move |line| lines(Report::CompilerLine(line.to_owned())));
    options.cancellation = cancellation.clone();
    let settings = arguments.settings()?;
    let mut debugger = Debugger::load(options)?;
    let level = settings.level.unwrap_or(debugger.program().own_level());
    debugger.set_level(level).map_err(|error| LaunchFailure::Level(error.to_string()))?;
    let expected = arguments.expected(&debugger)?;
    let mut debuggee = Box::new(Debuggee::new(debugger, settings));
    debuggee.expected = expected;
    debuggee.opens_at = arguments.opens_at()?;
    debuggee.console =
        std::mem::take(&mut debuggee.console).in_editor().called_with(arguments.called());
    Ok(debuggee)
}
