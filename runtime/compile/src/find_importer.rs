//! Finds iree-import-onnx, the importer of ONNX models, by the rules of `find_compiler`.
//!
//! It comes with the Python package of iree-compile, so the one beside that is the one of the same
//! version. Where its script is not installed, Python runs its module.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::CompileError;
use crate::find_compiler::{Found, search};
use crate::find_python::{PYTHONS, has_modules};

const NAME: &str = if cfg!(windows) { "iree-import-onnx.exe" } else { "iree-import-onnx" };
const MODULE: &str = "iree.compiler.tools.import_onnx";
const VARIABLE: &str = "IREE_IMPORT_ONNX";

/// How the importer is started.
#[derive(Debug)]
pub(crate) struct Importer {
    pub(crate) program: PathBuf,
    /// What stands before its own arguments.
    pub(crate) arguments: Vec<String>,
    /// Programs that were passed over, each with the reason.
    pub(crate) ignored: Vec<String>,
}

impl Importer {
    /// Finds the importer: the file that `IREE_IMPORT_ONNX` names, else the one beside the
    /// compiler, else one on `PATH`, in the active Python environment or in the project around
    /// `directory`, else a Python in one of these places that has its module. `empty` is a folder
    /// without files, where Python imports nothing that lies around.
    ///
    /// # Errors
    /// There is none, or the variable names no file.
    pub(crate) fn find(
        compiler: &Found,
        directory: Option<&Path>,
        empty: &Path,
    ) -> Result<Self, CompileError> {
        if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
            let tried = || format!("{VARIABLE}={}", named.to_string_lossy());
            let path = PathBuf::from(&named);
            return match path.is_file() {
                true => Ok(Self::script(Found::chosen(path))),
                false => Err(CompileError::NoImporter { tried: tried() }),
            };
        }
        if let Some(found) = beside(compiler, NAME) {
            return Ok(Self::script(found));
        }
        let nowhere = match search(NAME, directory) {
            Ok(found) => return Ok(Self::script(found)),
            Err(nowhere) => nowhere,
        };
        let pythons = PYTHONS.iter().flat_map(|python| {
            beside(compiler, python).into_iter().chain(search(python, directory).ok())
        });
        let mut pythons = pythons.filter(|python| has_modules(&python.path, &[MODULE], empty));
        pythons.next().map(Self::module).ok_or_else(|| {
            let folder = compiler.path.parent().unwrap_or(&compiler.path).display();
            CompileError::NoImporter { tried: format!("{VARIABLE}, {folder}, {nowhere}") }
        })
    }

    fn script(found: Found) -> Self {
        Self { program: found.path, arguments: Vec::new(), ignored: found.ignored }
    }

    fn module(python: Found) -> Self {
        let arguments = vec!["-m".to_owned(), MODULE.to_owned()];
        Self { program: python.path, arguments, ignored: python.ignored }
    }
}

/// A program beside the compiler, or beside the file that the compiler is a link to. A compiler of
/// the project lends no trust: `search` looks at what lies beside it.
fn beside(compiler: &Found, name: &str) -> Option<Found> {
    if compiler.is_of_project {
        return None;
    }
    let real = compiler.path.canonicalize().ok();
    let mut folders = [Some(&compiler.path), real.as_ref()].into_iter().flatten();
    folders.find_map(|path| {
        let beside = path.parent()?.join(name);
        beside.is_file().then(|| Found::chosen(beside))
    })
}
