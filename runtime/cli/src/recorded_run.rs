//! `run --record=FILE`, which runs a program under the debugger and leaves a file of the run.

use std::path::{Path, PathBuf};

use debug::{Debugger, LaunchOptions, RecordOptions, Resume, StopReason};
use recording::Writer;
use vm::{Status, Value};

use crate::failure::{Failure, RunFailure};
use crate::program::Program;

/// What a file of a run has of dispatches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Has {
    /// Digests, with which they are compared when they run again.
    Digests,
    /// What they have left, too, so that they need not run again.
    Results,
}

/// When a run leaves a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaves {
    Always,
    Failure,
}

/// Runs a program to its end, with the results that it has without a debugger. `program` is the
/// same one, for names in a failure.
///
/// # Errors
/// The program cannot be loaded or recorded. The inner result is that of the run.
pub(crate) fn run(
    options: LaunchOptions,
    path: &Path,
    leaves: Leaves,
    has: Has,
    program: &Program,
) -> Result<Result<Vec<Value>, RunFailure>, Failure> {
    let file = Unfinished::new(path, leaves);
    // The file has what going back needs; memory needs the last checkpoint only.
    let record =
        Some(RecordOptions { memory: 0, disk: 0, every: None, ..RecordOptions::default() });
    let options = LaunchOptions { record, ..options };
    let mut debugger = Debugger::load(options.clone())?;
    let writer = match Writer::begin(&file.path, &options, &mut debugger) {
        Ok(writer) => {
            if has == Has::Results {
                writer.keep_results(&debugger);
            }
            Some(writer)
        }
        Err(error) if error.is_full() => {
            errln!("warning: the run is not recorded: {error}");
            None
        }
        Err(error) => return Err(error.into()),
    };
    outln!("EXEC @{}", program.function_name);
    let reason = loop {
        let reason = debugger.resume(Resume::Continue);
        if reason.is_final() {
            break reason;
        }
    };
    // A recording that cannot be written costs no result.
    let is_failure = matches!(reason, StopReason::Failed(_));
    match writer.map(|writer| writer.end(&mut debugger, &reason)) {
        None => file.give_up(),
        Some(Ok(())) => file.finish(is_failure)?,
        Some(Err(error)) => {
            errln!("warning: the recording ends early: {error}");
            file.finish(is_failure)?;
        }
    }
    Ok(match reason {
        StopReason::Completed(results) => Ok(results),
        StopReason::Failed(failure) => Err(program.failure(failure)),
        _ => Err(RunFailure::outside(Status::internal("the run has not ended"), Vec::new())),
    })
}

/// The file while the run goes on. A process that is killed leaves it under this name.
struct Unfinished<'a> {
    path: PathBuf,
    wanted: &'a Path,
    leaves: Leaves,
}

impl<'a> Unfinished<'a> {
    fn new(wanted: &'a Path, leaves: Leaves) -> Self {
        let path = match leaves {
            Leaves::Always => wanted.to_owned(),
            Leaves::Failure => {
                let mut name = wanted.as_os_str().to_owned();
                name.push(".unfinished");
                PathBuf::from(name)
            }
        };
        Self { path, wanted, leaves }
    }

    /// Removes what has no use.
    fn give_up(self) {
        if self.path.is_file() {
            // If that fails, an empty file stays.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn finish(self, has_failed: bool) -> Result<(), Failure> {
        let name = self.wanted.display();
        match self.leaves {
            Leaves::Always => {}
            Leaves::Failure if has_failed => {
                std::fs::rename(&self.path, self.wanted)
                    .map_err(|error| format!("cannot write {name}: {error}"))?;
                errln!(
                    "note: the run is recorded in {name}; `iree-dbg debug {name}` makes it again"
                );
            }
            Leaves::Failure => std::fs::remove_file(&self.path)
                .map_err(|error| format!("cannot remove {}: {error}", self.path.display()))?,
        }
        Ok(())
    }
}
