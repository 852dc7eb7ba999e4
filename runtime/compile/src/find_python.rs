//! Finds a Python that has some modules, by the rules of `find_compiler`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::CompileError;
use crate::find_compiler::search;

/// What Python is called.
pub(crate) const PYTHONS: &[&str] =
    if cfg!(windows) { &["python.exe"] } else { &["python3", "python"] };
/// The variable that names one.
const VARIABLE: &str = "IREE_DBG_PYTHON";

/// Ends with 0 if Python has all modules.
const HAS_MODULES: &str = "import importlib.util, sys
try:
    sys.exit(any(importlib.util.find_spec(it) is None for it in sys.argv[1:]))
except ImportError:
    sys.exit(1)";

/// Finds a Python with all these modules: the file that `IREE_DBG_PYTHON` names, else one on
/// `PATH`, in the active environment, or in the project around `directory` if that is trusted.
/// `empty` is a folder without files, where Python imports nothing that lies around.
///
/// # Errors
/// There is none.
pub fn find_python(
    modules: &[&str],
    directory: Option<&Path>,
    empty: &Path,
) -> Result<PathBuf, CompileError> {
    let named = env::var_os(VARIABLE).filter(|named| !named.is_empty()).map(PathBuf::from);
    let found = PYTHONS.iter().filter_map(|python| search(python, directory).ok());
    let mut found = named.into_iter().chain(found.map(|it| it.path));
    found
        .find(|it| has_modules(it, modules, empty))
        .ok_or_else(|| CompileError::NoPython { modules: modules.join(" "), variable: VARIABLE })
}

/// Whether a Python has all modules.
pub(crate) fn has_modules(python: &Path, modules: &[&str], empty: &Path) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", HAS_MODULES]).args(modules).current_dir(empty);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
