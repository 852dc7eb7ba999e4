//! A loaded library as a module, with every declared function that the library has.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::cconv_layout;
use abi::convention::parse_memref;
use abi::mlir::lowering::lower;
use abi::signature::Function;
use hal::{Host, NativeLibrary};
use vm::{NativeModule, Status, Value};

use super::convert;
use super::declarations::{declarations_beside, declared_name};
use super::error::{LibraryError, PassError};
use super::function::{Form, LibraryFunction};
use super::memory::{CodeAddress, symbol};
use crate::guarded::guarded;
use crate::shared_library::{load, module_name};

/// A loaded library and what it exports.
#[derive(Debug)]
pub struct Library {
    name: String,
    path: PathBuf,
    functions: Vec<Arc<LibraryFunction>>,
    /// The declared functions that cannot be called, and why. The others can.
    unusable: Vec<(String, String)>,
    /// Keeps the code mapped, which the functions point to.
    code: Arc<libloading::Library>,
}

impl Library {
    /// Loads a library. `signatures` declare its functions; without any, the text beside the
    /// library does.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub fn open(path: &Path, signatures: &[String]) -> Result<Self, LibraryError> {
        let texts = if signatures.is_empty() {
            declarations_beside(path)?
        } else {
            signatures.iter().map(|text| ("--signature".to_owned(), text.clone())).collect()
        };
        let code = load(path)?;
        let (mut functions, mut unusable) = (Vec::new(), Vec::new());
        for (place, text) in texts {
            match find(&code, &text) {
                Ok(found) => functions.extend(found.map(Arc::new)),
                // Without a name, no later call can report it.
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
                    // The closure keeps the code mapped.
                    let _code = &code;
                    let values = call.values();
                    guarded(&path, &shared.name, values, || convert::call(&host, &shared, values))?
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

    fn declared(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|it| it.name == name).map(|it| &it.function)
    }

    fn unusable(&self) -> &[(String, String)] {
        &self.unusable
    }
}

/// Why the function of a declaration cannot be called.
struct Fault {
    name: Option<String>,
    reason: String,
}

/// The function that a text declares, if the library has it.
fn find(code: &libloading::Library, text: &str) -> Result<Option<LibraryFunction>, Fault> {
    let declaration = parse_memref(text).map_err(|error| {
        let reason = error.to_string();
        Fault { name: declared_name(text), reason }
    })?;
    let Some(name) = declaration.function.name.clone() else { return Ok(None) };
    let c_interface = symbol(code, &format!("_mlir_ciface_{name}"));
    let uses_bare_pointers = declaration.uses_bare_pointers;
    let bare = || uses_bare_pointers.then(|| symbol(code, &name))?;
    let (form, address) = match (c_interface, bare()) {
        (Some(address), _) => (Form::Descriptors, address),
        (None, Some(address)) => (Form::BarePointers, address),
        (None, None) => return Ok(None),
    };
    declared(name.clone(), declaration.function, form, address)
        .map(Some)
        .map_err(|error| Fault { name: Some(name), reason: error.to_string() })
}

fn declared(
    name: String,
    function: Function,
    form: Form,
    address: CodeAddress,
) -> Result<LibraryFunction, PassError> {
    let lowered = lower(&function)?;
    let (signature, _) = cconv_layout::lower(&function)?;
    convert::check(&function, &lowered, form)?;
    Ok(LibraryFunction { name, function, signature, lowered, form, address })
}
