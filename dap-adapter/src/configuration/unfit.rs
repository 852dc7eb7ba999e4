//! Why a program cannot be debugged as it is configured; for the user.

use std::path::PathBuf;
use std::str::FromStr;

use debug::Level;
use hal::{NoGpu, NoSandboxChoice, UnknownDevice};
use values::InputError;
use vm::{LimitError, NoMoment, Status};

/// What is wrong with the arguments of `launch` or `attach`, or with what they name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("`program` is missing: name a .vmfb or a .mlir file")]
    NoProgram,
    #[error("cannot find the directory {}: {error}", .directory.display())]
    NoDirectory { directory: PathBuf, error: std::io::Error },
    #[error("`cwd` {} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("there is no file {}", .0.display())]
    NoFile(PathBuf),
    #[error(
        "`function`, `inputs` and `modules` are those of the recording {}; leave them out",
        .0.display()
    )]
    OfRecording(PathBuf),
    #[error(transparent)]
    Recording(#[from] recording::RecordingError),
    #[error("`level`: {0}")]
    Level(<Level as FromStr>::Err),
    #[error("`record` is true, false or \"auto\", and not {0}")]
    Record(String),
    #[error("`expected`: {0}")]
    Expected(InputError),
    #[error("`moment`: {0}")]
    Moment(NoMoment),
    #[error("`recordMemory`: {0}")]
    RecordMemory(LimitError),
    #[error("`pastMemory`: {0}")]
    PastMemory(LimitError),
    #[error("`maxMemory`: {0}; write a number of bytes or a text such as \"512MiB\"")]
    MaxMemory(LimitError),
    #[error("an input is text as for `--input=`, or a number; write {0:?}")]
    Input(String),
    #[error("`native` is false, and {} is a native library", .0.display())]
    NativeLibrary(PathBuf),
    #[error("`native` is false, and {0} is a plugin of machine code")]
    NativePlugin(String),
    #[error("{0} is a plugin, which runs in this process, and `sandbox` is on")]
    SandboxedPlugin(String),
    #[error("`sandbox`: {0}")]
    Sandbox(NoSandboxChoice),
    #[error("`device`: {0}")]
    Device(UnknownDevice),
    #[error("`device`: {0}")]
    Gpu(NoGpu),
    #[error("`executablePlugins`: {0}")]
    Plugins(Status),
    #[error("`parameters`: {0}")]
    Parameters(Status),
    #[error(transparent)]
    Library(#[from] ffi::OpenError),
}
