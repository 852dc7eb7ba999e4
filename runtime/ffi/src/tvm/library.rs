//! A library of packed functions as a module: imports of a program are satisfied by `__tvm_ffi_<name>`.
//!
//! A library does not list types; what a program imports says how it calls. Arguments are lent (tensors as bare ones, on the
//! stack); the result must be what the import wants, several results an array of them.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::cconv::{Signature, ValueType};
use abi::tvm::index;
use abi::tvm::layout::{Any, SafeCall};
use hal::buffer_view::BufferView;
use hal::modules::{Host, NativeLibrary};
use vm::{NativeModule, Ref, Status, StatusCode, Value};

use super::FfiError;
use super::core::core;
use super::object::{Lent, items_of};
use super::value::{Boundary, raised, release};

/// What symbols of packed functions begin with.
const PREFIX: &str = "__tvm_ffi_";

/// A loaded library.
#[derive(Debug)]
pub struct Library {
    name: String,
    path: PathBuf,
    code: Arc<libloading::Library>,
}

/// Whether a file has packed functions. Files that cannot be read have none.
#[must_use]
pub fn has_packed_functions(path: &Path) -> bool {
    // The names are in the file's table of strings, each after a zero.
    let Ok(bytes) = std::fs::read(path) else { return false };
    let needle = format!("\0{PREFIX}");
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}

impl Library {
    /// Loads a library, and the runtime library before it.
    ///
    /// # Errors
    /// One of them cannot be loaded.
    pub fn open(path: &Path) -> Result<Self, FfiError> {
        core()?;
        let code = crate::memref::load(path)
            .map_err(|error| FfiError::new("RuntimeError", error.to_string()))?;
        Ok(Self { name: crate::memref::module_name(path), path: path.to_owned(), code })
    }

    fn function(&self, name: &str) -> Option<SafeCall> {
        let symbol = CString::new(format!("{PREFIX}{name}")).ok()?;
        // SAFETY: every symbol with this prefix is a packed function, by the convention.
        let found = unsafe { self.code.get::<SafeCall>(symbol.as_bytes_with_nul()) };
        found.ok().map(|symbol| *symbol)
    }
}

impl NativeLibrary for Library {
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self, host: &Host, imports: &[(&str, &str)]) -> NativeModule {
        let mut builder = NativeModule::builder(&self.name);
        let mut seen = std::collections::HashSet::new();
        for (name, convention) in imports.iter().filter(|import| seen.insert(**import)) {
            let (Some(function), Ok(signature)) =
                (self.function(name), Signature::parse(convention))
            else {
                continue;
            };
            let (host, code, what) =
                (host.clone(), self.code.clone(), format!("{}.{name}", self.name));
            builder = builder.function(name, convention, move |call_frame| {
                // The code stays as long as there is somebody who could call it.
                let _code = &code;
                call(&host, function, &signature, call_frame.values())
                    .map_err(|error| Status::new(code_of(&error.kind), format!("{what}: {error}")))
            });
        }
        builder.build()
    }
}

impl Library {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The status code for a kind of error.
fn code_of(kind: &str) -> StatusCode {
    match kind {
        "ValueError" | "TypeError" | "OverflowError" | "AssertionError" => {
            StatusCode::InvalidArgument
        }
        "IndexError" => StatusCode::OutOfRange,
        "KeyError" | "AttributeError" => StatusCode::NotFound,
        "MemoryError" => StatusCode::ResourceExhausted,
        "NotImplementedError" => StatusCode::Unimplemented,
        "KeyboardInterrupt" => StatusCode::Cancelled,
        _ => StatusCode::Unknown,
    }
}

fn call(
    host: &Host,
    function: SafeCall,
    signature: &Signature,
    values: &[Value],
) -> Result<Vec<Value>, FfiError> {
    let boundary = Boundary { core: core()?, host, alignment: 64 };
    if signature.is_variadic() {
        return Err(FfiError::new("TypeError", "packed functions take no counted spans"));
    }
    let mut lent = Vec::new();
    let mut owned = Vec::new();
    let mut arguments = Vec::new();
    let mut failure = None;
    for value in values {
        let any = match value {
            Value::Ref(reference @ Ref::Object(_))
                if reference.downcast::<BufferView>().is_some() =>
            {
                let view = reference.downcast::<BufferView>().map(Lent::new).transpose();
                match view {
                    Ok(Some(tensor)) => {
                        let any = tensor.any();
                        lent.push(tensor);
                        Ok(any)
                    }
                    Ok(None) => Ok(Any::default()),
                    Err(error) => Err(error),
                }
            }
            value => boundary.to_any(value, None).inspect(|any| owned.push(*any)),
        };
        match any {
            Ok(any) => arguments.push(any),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let results = match failure {
        Some(error) => Err(error),
        None => invoke(boundary, function, signature, &arguments),
    };
    owned.into_iter().for_each(|any| release(boundary.core, any));
    drop(lent);
    results
}

fn invoke(
    boundary: Boundary<'_>,
    function: SafeCall,
    signature: &Signature,
    arguments: &[Any],
) -> Result<Vec<Value>, FfiError> {
    let mut result = Any::default();
    let count = i32::try_from(arguments.len())
        .map_err(|_| FfiError::new("ValueError", "too many arguments"))?;
    // SAFETY: a packed function; the arguments are lent until it returns, and the result holds no object.
    let code = unsafe { function(std::ptr::null_mut(), arguments.as_ptr(), count, &mut result) };
    if code != 0 {
        return Err(raised(boundary.core));
    }
    let values = convert(boundary, signature, &result);
    release(boundary.core, result);
    values
}

fn convert(
    boundary: Boundary<'_>,
    signature: &Signature,
    result: &Any,
) -> Result<Vec<Value>, FfiError> {
    let place = |index: usize, error: FfiError| FfiError {
        message: format!("results[{index}]: {}", error.message),
        ..error
    };
    match signature.results.as_slice() {
        [] => Ok(Vec::new()),
        [one] => Ok(vec![boundary.to_vm(result, one, None).map_err(|error| place(0, error))?]),
        many => {
            // SAFETY: the result is alive.
            let items = unsafe { items_of(result) }.ok_or_else(|| {
                let found = index::describe(result.type_index);
                FfiError::new(
                    "TypeError",
                    format!("expected an array of {} results, got {found}", many.len()),
                )
            })?;
            if items.len() != many.len() {
                return Err(FfiError::new(
                    "ValueError",
                    format!("expected {} results, got {}", many.len(), items.len()),
                ));
            }
            let pairs = items.iter().zip(many).enumerate();
            pairs
                .map(|(index, (any, wanted)): (usize, (&Any, &ValueType))| {
                    boundary.to_vm(any, wanted, None).map_err(|error| place(index, error))
                })
                .collect()
        }
    }
}
