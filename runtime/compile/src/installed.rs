//! [`installed_compiler`]: the compiler that would be run, and what it calls itself.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::cancellation::Cancellation;
use crate::error::CompileError;
use crate::find_compiler;
use crate::process::Starter;
use crate::process_group::ProcessGroup;
use crate::runs::version_of;

/// A compiler that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledCompiler {
    /// The program.
    pub path: PathBuf,
    /// What it calls itself: `3.13.0rc20261016 @ 89ece87…`.
    pub version: String,
}

/// The compiler of this name, or else the one that is found from `directory`, see
/// [`CompileRequest::compiler`](crate::CompileRequest::compiler).
///
/// # Errors
/// There is none, or it cannot be started.
pub fn installed_compiler(
    named: Option<&Path>,
    directory: Option<&Path>,
    cancellation: &Cancellation,
) -> Result<InstalledCompiler, CompileError> {
    let path = match named {
        Some(named) => named.to_owned(),
        None => find_compiler::find(directory)?.path,
    };
    let group = ProcessGroup::new().ok();
    let (compiler, group) = (path.as_path(), group.as_ref());
    let starter = Starter { compiler, directory, environment: &[], group, cancellation };
    let running = starter.start(&["--version".to_owned()], Stdio::piped())?;
    let version = version_of(running).unwrap_or_else(|| "of unknown version".to_owned());
    Ok(InstalledCompiler { path, version })
}
