//! A library of packed functions as a module: the function `__tvm_ffi_<name>` satisfies the import
//! `<name>`.
//!
//! A library does not list types, so the program's imports determine them. Arguments are lent; the
//! result must have the type that the import expects, several results are an array. Tensors are
//! objects, which functions may keep longer than the call. An error's backtrace begins with the
//! library's own frames; the frames after them belong to this program and are cut off.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::cconv::{Signature, ValueType};
use abi::tvm::index;
use abi::tvm::layout::{Any, SafeCall};
use hal::{Host, NativeLibrary};
use vm::{NativeModule, Status, StatusCode, Value};

use super::core::core;
use super::error::FfiError;
use super::object::{items_of, raised};
use super::value::{Boundary, release};
use crate::guarded::guarded;
use crate::shared_library::{load, module_name};

/// The prefix of the symbols of packed functions.
const PREFIX: &str = "__tvm_ffi_";

/// A loaded library.
#[derive(Debug)]
pub(crate) struct Library {
    name: String,
    path: PathBuf,
    code: Arc<libloading::Library>,
}

/// Whether a file has packed functions. Files that cannot be read have none.
#[must_use]
pub(crate) fn has_packed_functions(path: &Path) -> bool {
    // The names are in the file's table of strings, each after a zero.
    let Ok(bytes) = std::fs::read(path) else { return false };
    let needle = format!("\0{PREFIX}");
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}

impl Library {
    /// Loads the runtime library, then this library.
    ///
    /// # Errors
    /// One of them cannot be loaded.
    pub(crate) fn open(path: &Path) -> Result<Self, FfiError> {
        core()?;
        let code = load(path).map_err(|error| FfiError::new("RuntimeError", error.to_string()))?;
        Ok(Self { name: module_name(path), path: path.to_owned(), code })
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
            let (path, function_name) = (self.path.display().to_string(), (*name).to_owned());
            builder = builder.function(name, convention, move |call_frame| {
                // The closure keeps the code mapped.
                let _code = &code;
                let values = call_frame.values();
                guarded(&path, &function_name, values, || {
                    call(&host, function, &signature, values)
                })?
                .map_err(|error| Status::new(code_of(&error.kind), format!("{what}: {error}")))
            });
        }
        builder.build()
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
    let mut arguments = Vec::new();
    let mut made = Ok(());
    for (index, value) in values.iter().enumerate() {
        match boundary.to_any(value, None) {
            Ok(any) => arguments.push(any),
            Err(error) => {
                made = Err(error.within(&format!("args[{index}]")));
                break;
            }
        }
    }
    let results = made.and_then(|()| invoke(boundary, function, signature, &arguments));
    arguments.into_iter().for_each(|any| release(boundary.core, any));
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
    // SAFETY: a packed function; the arguments live until it returns, and the result holds no
    // object.
    let code = unsafe { function(std::ptr::null_mut(), arguments.as_ptr(), count, &mut result) };
    if code != 0 {
        let mut error = raised(boundary.core);
        error.backtrace = without_frames_of(&error.backtrace, &boundary.core.backtrace());
        return Err(error);
    }
    let values = convert(boundary, signature, &result);
    release(boundary.core, result);
    values
}

/// A backtrace without the last frames that it shares with `ours`, the backtrace at the call.
fn without_frames_of(backtrace: &str, ours: &str) -> String {
    // Lines are ignored, as the innermost common frame has a different line in each.
    let name = |frame: &&str| frame.rsplit(", in ").next().map(str::to_owned);
    let frames: Vec<&str> = backtrace.lines().collect();
    let common = frames
        .iter()
        .rev()
        .zip(ours.lines().rev())
        .take_while(|(theirs, ours)| name(theirs) == name(ours))
        .count();
    frames[..frames.len() - common].iter().map(|frame| format!("{frame}\n")).collect()
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

#[cfg(test)]
mod tests {
    use super::without_frames_of;

    #[test]
    fn backtraces_end_where_the_program_begins() {
        let theirs = "  File \"a.cc\", line 3, in f\n  File \"b.rs\", line 9, in invoke\n  File \"c.rs\", line 1, in main\n";
        let ours = "  File \"b.rs\", line 12, in invoke\n  File \"c.rs\", line 1, in main\n";
        assert_eq!(without_frames_of(theirs, ours), "  File \"a.cc\", line 3, in f\n");
        assert_eq!(without_frames_of(theirs, ""), theirs);
        assert_eq!(without_frames_of("", ours), "");
    }
}
