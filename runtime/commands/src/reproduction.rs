//! `repro`: the dispatch that the program stands at, as a folder for IREE's own tools.

use std::fmt::Write;
use std::path::Path;

use debug::StopReason;
use repro::{FolderOptions, Tools, capture, write_folder};

use crate::session::{Action, Performer, Problem};

impl Performer<'_> {
    /// Writes the folder. Where the program stands before the dispatch, the dispatch is run first,
    /// for what it leaves.
    pub(crate) fn reproduce(&mut self, path: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let was_after = self.debugger.machine().stands_after_dispatch();
        let captured = capture(self.debugger);
        if !was_after && self.debugger.machine().stands_after_dispatch() {
            writeln!(self.out, "the dispatch was run, for what it leaves")?;
            self.action = Some(Action::Moved(StopReason::Step));
        }
        let run = captured.map_err(|error| error.to_string())?;
        let options = FolderOptions { shapes: None, tools: Tools::find(None), finding: None };
        let written = write_folder(Path::new(path), &run, &options);
        let written = written.map_err(|error| error.to_string())?;
        self.out.put("path", path);
        self.out.put("outcome", written.trial.to_string());
        writeln!(self.out, "{path}: {}", written.trial)?;
        Ok(())
    }
}
