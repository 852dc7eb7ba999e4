//! Bytecode for calls of a module's dispatches, made by iree-compile.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use compile::{Cancellation, CompileError, TwinOutput, TwinRequest, compile_twin};
use debuginfo::{TwinCall, WorkgroupCount};
use vmfb::FileBytes;

/// How often the compiler is asked whether it has ended.
const PATIENCE: Duration = Duration::from_millis(10);

/// Bytecode that allocates more at once than this was compiled with a bound for a size that is not
/// known, and no memory is that large.
const MOST_SCRATCH: u64 = 1 << 30;

/// The sources of a module's dispatches, and what compiles them.
#[derive(Clone, Debug)]
pub(crate) struct TwinMaker {
    /// The text of them, from the debug file.
    pub(crate) sources: FileBytes,
    /// The iree-compile to use; otherwise it is looked for.
    pub(crate) compiler: Option<PathBuf>,
    /// The directory of the module, where a compiler is looked for.
    pub(crate) directory: Option<PathBuf>,
}

/// Why there is no bytecode.
#[derive(Clone, Debug)]
pub(crate) enum NotMade {
    /// The user does not want to wait for it.
    Cancelled,
    /// The compiler cannot make it.
    Refused(String),
    /// There can be none at all: no compiler, for one.
    Impossible(String),
}

/// Bytecode of dispatches, in one module.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) module: Vec<u8>,
    pub(crate) companion: Vec<u8>,
    /// The compiler's text with counts of workgroups.
    counted: String,
    /// The dispatches that are not in it, with the reason.
    pub(crate) missing: Vec<(String, String)>,
}

impl TwinMaker {
    /// The text of the sources.
    pub(crate) fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(self.sources.owned()).map_err(|error| error.to_string())
    }

    /// Makes bytecode for calls, all in one run of the compiler.
    pub(crate) fn make(
        &self,
        calls: &[TwinCall<'_>],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Made, NotMade> {
        let sources = self.text().map_err(NotMade::Impossible)?;
        let (source, missing) = debuginfo::twin_sources(sources, calls);
        if let [(_, reason), ..] = &missing[..]
            && missing.len() == calls.len()
        {
            return Err(NotMade::Refused(reason.clone()));
        }
        let TwinOutput { module, companion, counted } = self.compile(source, is_cancelled)?;
        let missing = missing.into_iter().map(|(name, reason)| (name.to_owned(), reason)).collect();
        Ok(Made { module, companion, counted, missing })
    }

    fn compile(
        &self,
        source: String,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<TwinOutput, NotMade> {
        let (compiler, directory) = (self.compiler.clone(), self.directory.clone());
        let request = TwinRequest { source, compiler, directory };
        let cancellation = Cancellation::default();
        let (sender, receiver) = channel();
        let shared = cancellation.clone();
        let worker = std::thread::spawn(move || {
            // Nothing listens any more after a panic here.
            let _ = sender.send(compile_twin(&request, &shared));
        });
        let compiled = loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(compiled) => break compiled,
                Err(RecvTimeoutError::Timeout) if is_cancelled() => cancellation.cancel(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let text = "the compilation of its bytecode has panicked".to_owned();
                    return Err(NotMade::Impossible(text));
                }
            }
        };
        // It has sent its result, and ends.
        let _ = worker.join();
        compiled.map_err(|error| match error {
            CompileError::Cancelled => NotMade::Cancelled,
            CompileError::Failed { message, status, .. } => {
                let why = message.unwrap_or_else(|| status.to_string());
                NotMade::Refused(format!("iree-compile cannot make bytecode of it: {why}"))
            }
            error => NotMade::Impossible(error.to_string()),
        })
    }
}

impl Made {
    /// How many workgroups the bytecode of a dispatch has.
    ///
    /// # Errors
    /// It has none that can run.
    pub(crate) fn count(&self, export: &str) -> Result<WorkgroupCount, String> {
        if let Some((_, reason)) = self.missing.iter().find(|(name, _)| name == export) {
            return Err(reason.clone());
        }
        if debuginfo::most_scratch(&self.counted, export) > MOST_SCRATCH {
            return Err("its bytecode needs more scratch memory than there is".to_owned());
        }
        WorkgroupCount::parse(&self.counted, export).ok_or_else(|| {
            "the compiler does not say how many workgroups its bytecode has".to_owned()
        })
    }
}
