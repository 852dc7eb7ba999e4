//! Bytecode for calls of a module's dispatches, made by iree-compile.

use std::path::PathBuf;
use std::str::Utf8Error;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use compile::{Cancellation, CompileError, TwinOutput, TwinRequest, compile_twin};
use debuginfo::{DebugFile, NoSource, TwinCall, WorkgroupCount};
use twox_hash::XxHash3_64;
use vmfb::FileBytes;

/// How often the compiler is asked whether it has ended.
const PATIENCE: Duration = Duration::from_millis(10);

/// Bytecode that allocates more at once than this was compiled with a bound for a size that is not
/// known, and no memory is that large.
const MOST_SCRATCH: u64 = 1 << 30;

/// The version of what is kept.
const FORMAT: u32 = 1;

/// The sources of a module's dispatches, and what compiles them.
#[derive(Clone, Debug)]
pub(crate) struct TwinMaker {
    /// The text of them, from the debug file.
    pub(crate) sources: FileBytes,
    /// The iree-compile to use; otherwise it is looked for.
    pub(crate) compiler: Option<PathBuf>,
    /// Whether no compiler may be started.
    pub(crate) never_compiles: bool,
    /// The directory of the module, where a compiler is looked for.
    pub(crate) directory: Option<PathBuf>,
    /// The debug file, which keeps what was made.
    pub(crate) debug_file: Option<DebugFile>,
}

/// Why a run of the compiler has made no bytecode.
#[derive(Clone, Debug)]
pub(crate) enum NotMade {
    /// The user does not want to wait for it.
    Cancelled,
    /// The compiler cannot make it.
    Refused(NoBytecode),
    /// There can be none at all: no compiler, for one.
    Impossible(NoBytecode),
}

/// Why a dispatch has no bytecode.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoBytecode {
    /// The program was compiled without what is kept for debugging.
    #[error("its source is not there; compile the program with `iree-dbg compile`, which keeps it")]
    WithoutSources,
    /// The sources are no text.
    #[error(transparent)]
    NoText(#[from] Utf8Error),
    /// The source cannot be had, or not be changed.
    #[error(transparent)]
    Source(#[from] NoSource),
    /// The compiler has refused the source.
    #[error("iree-compile cannot make bytecode of it: {message}")]
    Refused {
        /// What it has printed, or how it has ended.
        message: String,
    },
    /// The compiler did not run, or has failed in another way.
    #[error("{0}")]
    Compiler(Arc<CompileError>),
    /// No compiler may be started.
    #[error("no compiler may be started here, and the debug file has no bytecode of it")]
    NotAllowed,
    /// The debugger itself has failed.
    #[error("the compilation of its bytecode has panicked")]
    Panicked,
    /// The bytecode was compiled with a bound for a size that is far too large.
    #[error("its bytecode needs more scratch memory than there is")]
    TooMuchScratch,
    /// The compiler's text has no count of workgroups.
    #[error("the compiler does not say how many workgroups its bytecode has")]
    NoCount,
    /// The bytecode cannot be loaded.
    #[error(transparent)]
    NotLoaded(#[from] vm::Status),
}

/// Bytecode of dispatches, in one module.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) module: Vec<u8>,
    pub(crate) companion: Vec<u8>,
    /// The compiler's text with counts of workgroups.
    counted: String,
    /// The dispatches that are not in it, with the reason.
    pub(crate) missing: Vec<(String, NoSource)>,
}

impl TwinMaker {
    /// The text of the sources.
    pub(crate) fn text(&self) -> Result<&str, Utf8Error> {
        std::str::from_utf8(self.sources.owned())
    }

    /// Makes bytecode for calls, all in one run of the compiler, unless the debug file has it
    /// already. `on_compile` hears that the compiler runs.
    pub(crate) fn make(
        &self,
        calls: &[TwinCall<'_>],
        on_compile: &dyn Fn(),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Made, NotMade> {
        let sources = self.text().map_err(|error| NotMade::Impossible(error.into()))?;
        let (source, missing) = debuginfo::twin_sources(sources, calls);
        if let [(_, reason), ..] = &missing[..]
            && missing.len() == calls.len()
        {
            return Err(NotMade::Refused(reason.clone().into()));
        }
        let key = kept_name(calls, &source);
        let kept = self.debug_file.as_ref().and_then(|file| unpacked(&file.twin(&key)?));
        let TwinOutput { module, companion, counted } = match kept {
            Some(kept) => kept,
            None if self.never_compiles => {
                return Err(NotMade::Impossible(NoBytecode::NotAllowed));
            }
            None => {
                on_compile();
                let made = self.compile(source, is_cancelled)?;
                self.keep(&key, &made);
                made
            }
        };
        let missing = missing.into_iter().map(|(name, reason)| (name.to_owned(), reason)).collect();
        Ok(Made { module, companion, counted, missing })
    }

    /// Keeps bytecode in the debug file, for other sessions.
    fn keep(&self, key: &str, made: &TwinOutput) {
        if let Some(file) = &self.debug_file {
            // A file that cannot be written, or is of another module by now, is left as it is:
            // the bytecode is then made again.
            let _ = file.keep_twin(key, packed(made));
        }
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
                    return Err(NotMade::Impossible(NoBytecode::Panicked));
                }
            }
        };
        // It has sent its result, and ends.
        let _ = worker.join();
        compiled.map_err(|error| match error {
            CompileError::Cancelled => NotMade::Cancelled,
            CompileError::Failed { message, status, .. } => {
                let message = message.unwrap_or_else(|| status.to_string());
                NotMade::Refused(NoBytecode::Refused { message })
            }
            error => NotMade::Impossible(NoBytecode::Compiler(Arc::new(error))),
        })
    }
}

/// The name under which bytecode is kept. It has the digest of the text that the compiler gets, so
/// that bytecode of another text is never taken for it.
fn kept_name(calls: &[TwinCall<'_>], source: &str) -> String {
    let name = match calls {
        [(name, _)] => (*name).to_owned(),
        calls => format!("{} dispatches", calls.len()),
    };
    format!("{name} {:016x} {FORMAT}", XxHash3_64::oneshot(source.as_bytes()))
}

/// Bytecode as it is kept: each part after its length.
fn packed(made: &TwinOutput) -> Vec<u8> {
    let parts = [&made.module[..], &made.companion, made.counted.as_bytes()];
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    bytes
}

/// What [`packed`] has packed.
fn unpacked(bytes: &[u8]) -> Option<TwinOutput> {
    let mut rest = bytes;
    let mut part = || {
        let (length, after) = rest.split_first_chunk::<8>()?;
        let (part, after) = after.split_at_checked(u64::from_le_bytes(*length).try_into().ok()?)?;
        rest = after;
        Some(part)
    };
    let (module, companion) = (part()?.to_vec(), part()?.to_vec());
    let counted = String::from_utf8(part()?.to_vec()).ok()?;
    Some(TwinOutput { module, companion, counted })
}

impl Made {
    /// How many workgroups the bytecode of a dispatch has.
    ///
    /// # Errors
    /// It has none that can run.
    pub(crate) fn count(&self, export: &str) -> Result<WorkgroupCount, NoBytecode> {
        if let Some((_, reason)) = self.missing.iter().find(|(name, _)| name == export) {
            return Err(reason.clone().into());
        }
        if debuginfo::most_scratch(&self.counted, export) > MOST_SCRATCH {
            return Err(NoBytecode::TooMuchScratch);
        }
        WorkgroupCount::parse(&self.counted, export).ok_or(NoBytecode::NoCount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let made =
            TwinOutput { module: vec![1, 2], companion: Vec::new(), counted: "é".to_owned() };
        let bytes = packed(&made);
        let again = unpacked(&bytes).unwrap();
        assert_eq!(again.module, made.module);
        assert_eq!((again.companion, again.counted), (made.companion, made.counted));
        for cut in 0..bytes.len() {
            assert!(unpacked(&bytes[..cut]).is_none(), "{cut}");
        }
        let mut huge = bytes;
        huge[7] = 0xFF;
        assert!(unpacked(&huge).is_none());
    }

    #[test]
    fn another_source_has_another_name() {
        let calls: [TwinCall<'_>; 1] = [("f", None)];
        assert_ne!(kept_name(&calls, "a"), kept_name(&calls, "b"));
        assert_eq!(kept_name(&calls, "a"), kept_name(&calls, "a"));
    }
}
