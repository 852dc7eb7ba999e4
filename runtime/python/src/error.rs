//! [`Error`]: what goes wrong between Python and a program. Python hears the text.

use std::io;
use std::path::PathBuf;

/// Why Python gets no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// What Python says is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// An argument is not JSON.
    #[error(transparent)]
    Arguments(#[from] abi::SyntaxError),
    /// Values do not fit a function.
    #[error(transparent)]
    Structure(#[from] values::StructureError),
    #[error(transparent)]
    Status(#[from] vm::Status),
    #[error(transparent)]
    TensorType(#[from] abi::tensor::TensorError),
    #[error("a tensor {tensor_type} cannot have {bytes} bytes")]
    TensorLength { tensor_type: abi::tensor::TensorType, bytes: usize },
    #[error(transparent)]
    Device(#[from] hal::UnknownDevice),
    #[error(transparent)]
    Gpu(#[from] hal::NoGpu),
    #[error(transparent)]
    Limit(#[from] vm::LimitError),
    #[error("there are no such bytes")]
    NoBytes,
    #[error("a module is a path or bytes")]
    NoPathOrBytes,
    #[error("no module to open")]
    NoModule,
    #[error("{}{source}", place(path))]
    Module { path: Option<PathBuf>, source: vmfb::LoadError },
    #[error(transparent)]
    Launch(#[from] debug::LaunchError),
    #[error("no thread for the program: {0}")]
    NoThread(io::Error),
    #[error("the import {0:?} has no module; name it as \"module.function\"")]
    ImportWithoutModule(String),
    #[error("the program imports no function {name:?}; {}", imported(known))]
    NotImported { name: String, known: Vec<String> },
    #[error("the program calls an import that it does not declare")]
    UndeclaredImport,
    #[error("there is no such import")]
    NoImport,
    #[error("there is no function {0:?}")]
    NoFunction(String),
    /// A module says of a function what makes no sense.
    #[error("{name}: {source}")]
    CallForm { name: String, source: abi::explain::CallFormError },
    #[error("the program is closed")]
    Closed,
    #[error("the program stands still for an editor; let it go on")]
    StandsStill,
    #[error("frame {0} is not on the stack")]
    NoFrame(usize),
    #[error(transparent)]
    Expression(#[from] debug::ExpressionError),
    #[error("there is no question {0:?}")]
    NoQuestion(String),
    #[error("a breakpoint needs a file and a line, a function or a dispatch")]
    NoPlace,
    #[error(transparent)]
    Refused(#[from] debug::Refused),
    #[error(transparent)]
    BreakpointId(#[from] std::num::TryFromIntError),
    #[error(transparent)]
    BreakpointOption(#[from] debug::OptionError),
    #[error("the program is being debugged already")]
    Served,
    #[error("a port is a number from 0 to 65535")]
    NoPort,
    #[error("cannot listen on {host}:{port}: {source}")]
    NotListening { host: String, port: u16, source: io::Error },
    #[error(transparent)]
    NoAddress(io::Error),
    #[error("the token is empty")]
    EmptyToken,
    #[error("no random token: {0}")]
    NoToken(io::Error),
    #[error("iree-dbg panicked; please report it")]
    Panicked,
}

/// A path before an error, if there is one.
fn place(path: &Option<PathBuf>) -> String {
    path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default()
}

/// What a program imports, in a clause.
fn imported(known: &[String]) -> String {
    match known {
        [] => "it imports none".to_owned(),
        names => format!("it imports {}", names.join(", ")),
    }
}
