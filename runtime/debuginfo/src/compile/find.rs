//! Where iree-compile is.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::CompileError;

const NAME: &str = if cfg!(windows) { "iree-compile.exe" } else { "iree-compile" };
const SCRIPTS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// Finds iree-compile: what the environment variable `IREE_COMPILE` names, else on `PATH`, else in the
/// active Python environment, else in a `.venv` or `venv` of the directory to run in, of the source's
/// directory, or of one above either.
///
/// # Errors
/// It is nowhere, or `IREE_COMPILE` names something that is no file.
pub fn find_compiler(directory: Option<&Path>, input: &Path) -> Result<PathBuf, CompileError> {
    if let Some(named) = env::var_os("IREE_COMPILE").filter(|named| !named.is_empty()) {
        let path = PathBuf::from(&named);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(CompileError::NoCompiler {
                tried: format!("IREE_COMPILE={}", named.to_string_lossy()),
            })
        };
    }
    let on_path = env::var_os("PATH").unwrap_or_default();
    let active =
        env::var_os("VIRTUAL_ENV").map(|environment| Path::new(&environment).join(SCRIPTS));
    let here = env::current_dir().unwrap_or_default();
    let directory = directory.map_or_else(|| here.clone(), |directory| here.join(directory));
    let source = directory.join(input);
    env::split_paths(&on_path)
        .chain(active)
        .chain(environments(&directory))
        .chain(environments(&source))
        .map(|folder| folder.join(NAME))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| CompileError::NoCompiler { tried: tried(&on_path, &directory) })
}

/// The script folders of Python environments in a directory and those above it.
fn environments(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let folders =
        directory.ancestors().flat_map(|folder| [folder.join(".venv"), folder.join("venv")]);
    folders.map(|environment| environment.join(SCRIPTS))
}

fn tried(on_path: &OsStr, directory: &Path) -> String {
    let folders = env::split_paths(on_path).count();
    format!(
        "IREE_COMPILE, {folders} folders on PATH, and .venv/{SCRIPTS} in {} and above",
        directory.display()
    )
}
