//! What keeps programs, dispatches and tensors from being compared.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use abi::element_type::ElementType;
use debug::{LaunchError, NoOpinion, NoTwin, NotEvaluated, ViewError};

/// Why programs are not compared.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompareError {
    /// The program cannot be loaded.
    #[error(transparent)]
    NotLoaded(Arc<LaunchError>),
    /// One of two programs cannot be loaded.
    #[error("side {side}: {source}")]
    SideNotLoaded {
        /// `A` or `B`.
        side: &'static str,
        /// Why.
        source: Arc<LaunchError>,
    },
    /// The sides call other functions.
    #[error(
        "side A calls @{a}, and side B @{b}; name a function that both have with --function=NAME"
    )]
    OtherFunction {
        /// That of side A.
        a: String,
        /// That of side B.
        b: String,
    },
    /// The function of both sides takes or returns something else on side B.
    #[error("@{0} has another signature on side B")]
    OtherSignature(String),
    /// The program whose output is right has none.
    #[error("{0} failed, so that no output can be wrong")]
    NoOutput(&'static str),
    /// A dispatch cannot run as bytecode.
    #[error(transparent)]
    NoBytecode(#[from] NoTwin),
    /// The program fails whose results are to be explained.
    #[error("the program fails: {0}")]
    Fails(String),
    /// There are more files than results.
    #[error("there are {files} files of expected results, and @{function} returns {returned}")]
    TooManyFiles {
        /// How many files.
        files: usize,
        /// The function.
        function: String,
        /// How many results it has.
        returned: usize,
    },
    /// A tensor is not compared with its file.
    #[error("{name}: {reason}")]
    NotCompared {
        /// Its names.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Nothing is compared with the files; what the report says of that.
    #[error("{0}")]
    NothingCompared(String),
    /// A directory of files cannot be read.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// A directory has no file of a tensor.
    #[error("{} has no .npy files; name them by their tensors, or result0.npy", .0.display())]
    NoFiles(PathBuf),
    /// The source is not compiled for another back end; the caller says why.
    #[error("{0}")]
    NotCompiled(String),
}

impl From<LaunchError> for CompareError {
    fn from(error: LaunchError) -> Self {
        Self::NotLoaded(Arc::new(error))
    }
}

/// Why nothing is known of what a dispatch should have left.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NotJudged {
    #[error(transparent)]
    NotLoaded(#[from] CompareError),
    /// Its text is not evaluated.
    #[error("{}", .0.reason)]
    NoOpinion(Box<NoOpinion>),
    /// It reads what another dispatch has left, of which nothing is known.
    #[error("it reads what @{export} has left: {reason}")]
    Reads { export: String, reason: Box<NotJudged> },
    #[error("it reads what no text says")]
    ReadsUnsaid,
    #[error("what dispatches have read before is too much to be kept")]
    TooMuchRead,
    #[error("what it has read was not kept")]
    NotKept,
    #[error("it was not asked")]
    NotAsked,
    #[error("it was not evaluated")]
    NotEvaluated,
    #[error("its text does not say what is in it")]
    NotSaid,
    #[error("its text has {shape:?} of {element_type}, and it is {own}")]
    OtherElements { shape: Vec<usize>, element_type: ElementType, own: String },
    #[error("side {side}: {reason}")]
    OfSide { side: &'static str, reason: Box<NotJudged> },
    #[error("what a dispatch before it has left is not judged")]
    Earlier,
    #[error("no dispatch is known to have left it on both sides")]
    NoDispatch,
    #[error("the program did not stop before it")]
    NotStopped,
    #[error("the program does not run it")]
    NotRun,
}

impl From<NoOpinion> for NotJudged {
    fn from(refused: NoOpinion) -> Self {
        Self::NoOpinion(Box::new(refused))
    }
}

/// Why two tensors, or the dispatches that have left them, are not compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCompared {
    /// The debugger cannot look at it.
    #[error(transparent)]
    View(#[from] ViewError),
    /// What it should be is not known.
    #[error(transparent)]
    NotEvaluated(#[from] NotEvaluated),
    /// The dispatch uses something that is not known.
    #[error("{0}")]
    Missing(String),
    /// The dispatch does not run as bytecode.
    #[error(transparent)]
    NoTwin(#[from] NoTwin),
    #[error("the program did not stop before it")]
    NotStopped,
    #[error("it stores a part of it, and only the run knows which")]
    PartUnknown,
    #[error(
        "no tensor of side B is known to be the same: of the dispatch that is like it, {name} is \
         {what}"
    )]
    NotAligned { name: String, what: &'static str },
    #[error("not judged: {reason}{extent}")]
    NotJudged { reason: NotJudged, extent: String },
    #[error(
        "not judged: no bound for what differs: a step, a pole or an overflow is near, or what it \
         reads is not known{extent}"
    )]
    NoBound { extent: String },
    #[error("no bound for any of {0} elements: a step, a pole or an overflow is near")]
    NoBounds(usize),
    #[error("nothing differs")]
    NothingDiffers,
    #[error("there is no file")]
    NoFile,
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: FileError },
    #[error("{} has {found}, and the tensor is {own}", path.display())]
    OtherType { path: PathBuf, found: String, own: String },
}

/// Why a file has no tensor.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Npy(#[from] abi::npy::NpyError),
    #[error(transparent)]
    Memory(#[from] vm::Status),
    /// The debugger cannot look at it.
    #[error(transparent)]
    View(#[from] ViewError),
}

/// Why a text is no tolerance.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ToleranceError {
    /// It has no number.
    #[error("{0:?} is no tolerance; write a number, or PATTERN:NUMBER for some tensors")]
    NoNumber(String),
    /// Its number is less than 0, or NaN.
    #[error("a tolerance is not negative, and {0:?} is")]
    Negative(String),
}
