//! Libraries that MLIR compiled: functions over memrefs, called by their C interface or with bare
//! pointers.
//!
//! A library does not say what its functions take, so their MLIR text comes with it: `lib.mlir`
//! beside `lib.so`, or given by the user. Each function that the text declares and for which the
//! library has `_mlir_ciface_<name>` becomes a function of a native module, with buffer views for
//! memrefs:
//!
//! ```text
//! buffer view ─► descriptor on our side, its memory shared ─► _mlir_ciface_f(result*, descriptor*…, scalars…)
//! descriptor written by the callee ─► its elements gathered into a dense buffer view; its memory freed
//! ```
//!
//! A callee may write into the memory of its arguments; memory that may not be written is copied
//! first. Who owns a returned memref is the caller: it is freed, unless it lies in an argument or
//! is a constant of the library.
//!
//! A declaration with the attribute `llvm.bareptr` is of a function that takes and gives plain
//! pointers to dense elements, under its own name. What such a pointer leads to is copied and never
//! freed: nothing tells constants from what was allocated.

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
use hal::{Host, NativeLibrary};
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
    /// A declaration is wrong, and does not even say of which function it is.
    #[error("{place}: {reason}")]
    Declaration {
        /// The file and the line, or the option.
        place: String,
        /// What is wrong.
        reason: String,
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
    pub(crate) name: String,
    /// What it takes and gives.
    pub(crate) function: Function,
    /// How it travels through the VM.
    pub(crate) signature: Signature,
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
    /// Those that cannot be called, and why. They do not keep anybody from calling the others.
    unusable: Vec<(String, String)>,
    /// Keeps the code in place; functions refer to it.
    code: Arc<libloading::Library>,
}

impl Library {
    /// Loads a library. Its functions are those that `signatures` declare or, without any, those of
    /// the text beside it.
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
        let (mut functions, mut unusable) = (Vec::new(), Vec::new());
        for (place, text) in texts {
            match LibraryFunction::find(&code, &text) {
                Ok(found) => functions.extend(found.map(Arc::new)),
                // Without a name there is nobody to tell later.
                Err(Fault { name: None, reason }) => {
                    return Err(LibraryError::Declaration { place, reason });
                }
                Err(Fault { name: Some(name), reason }) => {
                    unusable.push((name, format!("{place}: {reason}")));
                }
            }
        }
        match (functions.is_empty(), unusable.pop()) {
            (true, Some((name, reason))) => return Err(LibraryError::Function { name, reason }),
            (true, None) => return Err(LibraryError::NoFunctions(path.to_owned())),
            (false, last) => unusable.extend(last),
        }
        let name = module_name(path);
        Ok(Self { name, path: path.to_owned(), functions, unusable, code })
    }

    /// The file.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What it exports.
    #[must_use]
    pub(crate) fn functions(&self) -> &[Arc<LibraryFunction>] {
        &self.functions
    }
}

impl NativeLibrary for Library {
    /// The file's name, without `lib` before it.
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self, host: &Host, imports: &[(&str, &str)]) -> NativeModule {
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
        for (name, reason) in &self.unusable {
            let imported = imports.iter().find(|(import, _)| import == name);
            let Some((_, convention)) = imported.filter(|_| seen.insert(name)) else { continue };
            let message = format!("@{name}: {reason}");
            builder = builder.function(name, convention, move |_| {
                Err::<Vec<Value>, _>(Status::unimplemented(message.clone()))
            });
        }
        builder.build()
    }

    fn unusable(&self) -> &[(String, String)] {
        &self.unusable
    }
}

/// Why a declaration is of no function that can be called.
struct Fault {
    name: Option<String>,
    reason: String,
}

/// The name that a declaration gives its function, wherever the rest of it is wrong.
fn declared_name(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('@')?;
    let is_part = |character: char| character.is_alphanumeric() || "_$.-".contains(character);
    let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
    (end > 0).then(|| rest[..end].to_owned())
}

impl LibraryFunction {
    /// The function that a text declares, if the library has it.
    fn find(code: &libloading::Library, text: &str) -> Result<Option<Self>, Fault> {
        let declaration = parse_memref(text).map_err(|error| {
            let reason = error.to_string();
            Fault { name: declared_name(text), reason }
        })?;
        let Some(name) = declaration.function.name.clone() else { return Ok(None) };
        let c_interface = memory::symbol(code, &format!("_mlir_ciface_{name}"));
        let uses_bare_pointers = declaration.uses_bare_pointers;
        let bare = || uses_bare_pointers.then(|| memory::symbol(code, &name))?;
        let (form, address) = match (c_interface, bare()) {
            (Some(address), _) => (Form::Descriptors, address),
            (None, Some(address)) => (Form::BarePointers, address),
            (None, None) => return Ok(None),
        };
        Self::declared(name.clone(), declaration.function, form, address)
            .map(Some)
            .map_err(|reason| Fault { name: Some(name), reason })
    }

    fn declared(
        name: String,
        function: Function,
        form: Form,
        address: CodeAddress,
    ) -> Result<Self, String> {
        let lowered = lower(&function).map_err(|error| error.to_string())?;
        let (signature, _) = cconv_layout::lower(&function).map_err(|error| error.to_string())?;
        convert::check(&function, &lowered, form)?;
        Ok(Self { name, function, signature, lowered, form, address })
    }

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
            // Only the head is read, which ends before the next function; the body may be of any
            // dialect.
            let end = text[from..].find(KEYWORD).map_or(text.len(), |next| from + next);
            found.push((format!("{}:{line}", path.display()), text[at..end].to_owned()));
        }
    }
    Ok(found)
}

/// What the functions of MLIR's own dialect begin with.
const KEYWORD: &str = "func.func";
