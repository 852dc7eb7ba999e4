//! [`Trial`]: running a folder's script with the tools that are here, and what came of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use compile::ProcessGroup;

use crate::script::NOT_RUN;

/// IREE's tools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tools {
    /// iree-compile.
    pub compiler: PathBuf,
    /// iree-run-module.
    pub runner: PathBuf,
    /// What the compiler calls itself.
    pub version: String,
}

/// Why a folder is run with no tools.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoTools {
    /// There is no iree-compile, or it does not say what it is.
    #[error(transparent)]
    Compiler(Arc<compile::CompileError>),
    /// There is no iree-run-module.
    #[error("there is no iree-run-module beside iree-compile or on PATH")]
    Runner,
    /// The user wants none; by which option.
    #[error("{0} was given")]
    NotWanted(&'static str),
}

impl Tools {
    /// The tools that a project in a directory uses: its iree-compile, and the iree-run-module
    /// beside it or on the PATH.
    ///
    /// # Errors
    /// [`NoTools`]: there is none; the message says where they were looked for.
    pub fn find(directory: Option<&Path>) -> Result<Self, NoTools> {
        let found = compile::installed_compiler(None, directory, &compile::Cancellation::default());
        let found = found.map_err(|error| NoTools::Compiler(Arc::new(error)))?;
        let name = format!("iree-run-module{}", std::env::consts::EXE_SUFFIX);
        let beside = found.path.parent().map(|folder| folder.join(&name));
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&on_path).map(|folder| folder.join(&name));
        let runner = beside.into_iter().chain(on_path).find(|path| path.is_file());
        let runner = runner.ok_or(NoTools::Runner)?;
        Ok(Self { compiler: found.path, runner, version: found.version })
    }
}

/// What came of running a folder's script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trial {
    /// It gave the bits of the run.
    Same(Tools),
    /// It gave other bits; what the comparison said.
    Different(Tools, String),
    /// It could not be compiled or run; what the tools said.
    Failed(Tools, String),
    /// It was not run; the reason.
    NotRun(String),
}

impl Trial {
    /// Runs the script of a folder.
    #[must_use]
    pub fn of(folder: &Path, tools: &Tools) -> Self {
        let mut command = Command::new("sh");
        command.arg(folder.join("run.sh")).stdin(Stdio::null());
        command.env("IREE_COMPILE", &tools.compiler).env("IREE_RUN_MODULE", &tools.runner);
        let output = match ProcessGroup::output(&mut command) {
            Ok(output) => output,
            Err(error) => return Self::NotRun(format!("sh cannot be started: {error}")),
        };
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.code() {
            Some(0) => Self::Same(tools.clone()),
            Some(NOT_RUN) | None => Self::Failed(tools.clone(), first_error(&said(&output.stderr))),
            Some(_) => {
                let compared = format!("{}\n{}", said(&output.stdout), said(&output.stderr));
                // The lines of cmp, or of iree-run-module.
                let failed = |line: &&str| line.starts_with("[FAILED]");
                let lines =
                    compared.lines().filter(|line| line.contains(" differ") || failed(line));
                let lines = lines.map(|line| line.split("; expected that").next().unwrap_or(line));
                Self::Different(tools.clone(), lines.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// Whether the tools gave the bits of the run.
    #[must_use]
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }
}

/// The line that says what went wrong.
pub(crate) fn first_error(said: &str) -> String {
    let line = said.lines().find(|line| line.contains("error:") || line.contains("; "));
    line.or_else(|| said.lines().next_back()).unwrap_or("no message").to_owned()
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same(tools) => write!(f, "the same bits with iree-compile {}", tools.version),
            Self::Different(tools, what) => {
                write!(f, "other bits with iree-compile {}: {what}", tools.version)
            }
            Self::Failed(tools, what) => {
                write!(f, "does not run with iree-compile {}: {what}", tools.version)
            }
            Self::NotRun(reason) => write!(f, "not compared: {reason}"),
        }
    }
}
