//! Executables of a recorded run: their functions are known, and their code does not run. What
//! their dispatches leave, the recording has (see `results.rs`).

use std::ops::Range;

use vm::{RunControl, Status};

use super::dispatch::Dispatch;
use super::halt::Halt;
use super::interface::{Executable, Export};

/// An executable without code.
#[derive(Debug)]
pub(crate) struct RecordedExecutable {
    format: String,
    exports: Vec<Export>,
}

impl RecordedExecutable {
    pub(crate) fn new(format: String, exports: Vec<Export>) -> Self {
        Self { format, exports }
    }
}

impl Executable for RecordedExecutable {
    fn format(&self) -> &str {
        &self.format
    }

    fn exports(&self) -> &[Export] {
        &self.exports
    }

    fn run(&self, dispatch: &Dispatch, _: Range<u64>, _: &RunControl) -> Result<(), Halt> {
        let name = self.name_of(dispatch.export);
        Err(Halt::Failed(Status::failed_precondition(format!(
            "the code of @{name} does not run: its results come from the recording, which has them \
             only for the run as it was; debug it with --without-results (\"withoutResults\": true in \
             a launch) to run the code"
        ))))
    }

    fn is_recorded(&self) -> bool {
        true
    }
}
