//! Libraries that MLIR compiled: functions over memrefs, called by their C interface or with bare pointers.
//!
//! A library does not say what its functions take, so their MLIR text comes with it: `lib.mlir` beside `lib.so`, or given by
//! the user. Each function that the text declares and for which the library has `_mlir_ciface_<name>` becomes a function of a
//! native module, with buffer views for memrefs:
//!
//! ```text
//! buffer view ─► descriptor on our side, its memory shared ─► _mlir_ciface_f(result*, descriptor*…, scalars…)
//! descriptor written by the callee ─► its elements gathered into a dense buffer view; its memory freed
//! ```
//!
//! A callee may write into the memory of its arguments; memory that may not be written is copied first. Who owns a returned
//! memref is the caller: it is freed, unless it lies in an argument or is a constant of the library.
//!
//! A declaration with the attribute `llvm.bareptr` is of a function that takes and gives plain pointers to dense elements, under
//! its own name. What such a pointer leads to is copied and never freed: nothing tells constants from what was allocated.

mod convert;
mod memory;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::cconv::Signature;
use abi::cconv_layout;
use abi::convention::parse_memref;
use abi::mlir::lowering::{Lowered, lower};
use abi::signature::Function;
use abi::syntax::SyntaxError;
use hal::modules::{Host, NativeLibrary};
use vm::{NativeModule, Status, Value};

use crate::guarded::guarded;
use memory::CodeAddress;
pub(crate) use memory::load;

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The system does not load it.
    #[error("{path}: {source}")]
    Load {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: libloading::Error,
    },
    /// Nothing says what its functions take.
    #[error(
        "{library}: nothing says what its functions take; put their MLIR text beside it as {expected}, or give --signature='func.func @f(memref<?xf32>) -> f32'"
    )]
    NoSignatures {
        /// The library.
        library: PathBuf,
        /// Where the text is looked for.
        expected: PathBuf,
    },
    /// The text cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A declaration is wrong.
    #[error("{place}: {source}")]
    Syntax {
        /// The file and the line, or the option.
        place: String,
        /// What is wrong.
        source: SyntaxError,
    },
    /// A function cannot be passed through the VM.
    #[error("@{name}: {reason}")]
    Function {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// There is none of its functions in the library.
    #[error(
        "{0}: it has none of the functions that its text declares by a C interface; compile them with the attribute llvm.emit_c_interface (or mlir-opt --llvm-request-c-wrappers), or declare them with the attribute llvm.bareptr if their memrefs are bare pointers"
    )]
    NoFunctions(PathBuf),
}

/// How a function takes its memrefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `_mlir_ciface_f`: pointers to descriptors.
    Descriptors,
    /// `f`: pointers to elements.
    BarePointers,
}

/// A function of a library.
#[derive(Debug)]
pub struct LibraryFunction {
    /// Its name.
    pub name: String,
    /// What it takes and gives.
    pub function: Function,
    /// How it travels through the VM.
    pub signature: Signature,
    lowered: Lowered,
    form: Form,
    address: CodeAddress,
}

/// A loaded library and what it exports.
#[derive(Debug)]
pub struct Library {
    name: String,
    path: PathBuf,
    functions: Vec<Arc<LibraryFunction>>,
    /// Keeps the code in place; functions refer to it.
    code: Arc<libloading::Library>,
}

impl Library {
    /// Loads a library. Its functions are those that `signatures` declare or, without any, those of the text beside it.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub fn open(path: &Path, signatures: &[String]) -> Result<Self, LibraryError> {
        let texts = if signatures.is_empty() {
            declarations_beside(path)?
        } else {
            signatures.iter().map(|text| ("--signature".to_owned(), text.clone())).collect()
        };
        let code = memory::load(path)?;
        let mut functions = Vec::new();
        for (place, text) in texts {
            let declaration =
                parse_memref(&text).map_err(|source| LibraryError::Syntax { place, source })?;
            let Some(name) = declaration.function.name.clone() else { continue };
            let c_interface = memory::symbol(&code, &format!("_mlir_ciface_{name}"));
            let bare = || declaration.uses_bare_pointers.then(|| memory::symbol(&code, &name))?;
            let (form, address) = match (c_interface, bare()) {
                (Some(address), _) => (Form::Descriptors, address),
                (None, Some(address)) => (Form::BarePointers, address),
                (None, None) => continue,
            };
            let fail = |reason: String| LibraryError::Function { name: name.clone(), reason };
            let lowered = lower(&declaration.function).map_err(|error| fail(error.to_string()))?;
            let (signature, _) = cconv_layout::lower(&declaration.function)
                .map_err(|error| fail(error.to_string()))?;
            convert::check(&declaration.function, &lowered, form).map_err(fail)?;
            functions.push(Arc::new(LibraryFunction {
                name,
                function: declaration.function,
                signature,
                lowered,
                form,
                address,
            }));
        }
        if functions.is_empty() {
            return Err(LibraryError::NoFunctions(path.to_owned()));
        }
        let name = module_name(path);
        Ok(Self { name, path: path.to_owned(), functions, code })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it exports.
    #[must_use]
    pub fn functions(&self) -> &[Arc<LibraryFunction>] {
        &self.functions
    }
}

impl NativeLibrary for Library {
    /// The file's name, without `lib` before it.
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self, host: &Host, _imports: &[(&str, &str)]) -> NativeModule {
        let mut builder = NativeModule::builder(&self.name);
        let mut seen = HashSet::new();
        for function in self.functions.iter().filter(|function| seen.insert(&function.name)) {
            let (shared, host) = (function.clone(), host.clone());
            let (code, path) = (self.code.clone(), self.path.display().to_string());
            builder =
                builder.function(&function.name, &function.signature.to_cconv(), move |call| {
                    // The code stays as long as there is somebody who could call it.
                    let _code = &code;
                    let values = call.values();
                    guarded(&path, &shared.name, values, || shared.call(&host, values))?
                });
        }
        builder.build()
    }
}

impl LibraryFunction {
    /// Calls the function.
    fn call(&self, host: &Host, values: &[Value]) -> Result<Vec<Value>, Status> {
        convert::call(host, self, values)
    }
}

/// `libfoo.so` is `foo`.
pub(crate) fn module_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix("lib").unwrap_or(&stem).to_owned()
}

/// Every function that the text beside a library declares, with its place.
fn declarations_beside(library: &Path) -> Result<Vec<(String, String)>, LibraryError> {
    let path = library.with_extension("mlir");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LibraryError::NoSignatures { library: library.to_owned(), expected: path });
        }
        Err(source) => return Err(LibraryError::Read { path, source }),
    };
    let (mut found, mut from, mut line) = (Vec::new(), 0, 1);
    while let Some(at) = text[from..].find(KEYWORD).map(|at| from + at) {
        let before = &text[from..at];
        let indent = match before.rfind('\n') {
            Some(newline) => &before[newline..],
            None if from == 0 => before,
            None => "in a line with another",
        };
        line += before.matches('\n').count();
        from = at + KEYWORD.len();
        if indent.trim().is_empty() {
            // Only the head is read, which ends before the next function; the body may be of any dialect.
            let end = text[from..].find(KEYWORD).map_or(text.len(), |next| from + next);
            found.push((format!("{}:{line}", path.display()), text[at..end].to_owned()));
        }
    }
    Ok(found)
}

/// What the functions of MLIR's own dialect begin with.
const KEYWORD: &str = "func.func";
