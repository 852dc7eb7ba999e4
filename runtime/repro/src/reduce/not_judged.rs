//! [`NotJudged`]: why nothing says whether a program fails.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use abi::element_type::ElementType;
use reference::{OutputError, Refusal};

use crate::dispatch_run::Unusable;

/// Why nothing says whether a program fails.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotJudged {
    /// The dispatch is no function over tensors that are known.
    #[error(transparent)]
    Dispatch(#[from] Unusable),
    /// An operation with a region has no end.
    #[error("an operation has no end")]
    NoEnd,
    /// There is no opinion on what its text says.
    #[error(transparent)]
    NoOpinion(#[from] Refusal),
    /// The opinion does not fit the tensors that were left.
    #[error(transparent)]
    OtherTensors(#[from] OutputError),
    /// Its tensors are not compared.
    #[error("elements of type {0} are not compared")]
    Elements(ElementType),
    /// The compiler leaves nothing to run.
    #[error("it takes no tensor, so the compiler computes it")]
    NoTensors,
    /// No more programs may be compiled.
    #[error("no more compilations are allowed")]
    Exhausted,
    /// No single result of it is wrong.
    #[error("its results are wrong only together")]
    Together,
    /// There is no folder for trials.
    #[error("{0}")]
    NoScratch(Arc<io::Error>),
    /// A file of a trial cannot be written or read.
    #[error("{}: {source}", folder.display())]
    Scratch {
        /// Where.
        folder: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// One of IREE's tools cannot be started.
    #[error("{} cannot be started: {source}", tool.display())]
    NotStarted {
        /// The tool.
        tool: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// One of IREE's tools fails; its first error.
    #[error("{0}")]
    Tool(String),
}
