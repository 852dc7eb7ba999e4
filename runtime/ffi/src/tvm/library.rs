//! A library of packed functions as a module: the function `__tvm_ffi_<name>` satisfies the import
//! `<name>`.
//!
//! The types of a function are those of the program's import. For a call without a program they are
//! declared, or the library has them in its metadata. Arguments are lent; the
//! result must have the type that the import expects, several results are an array. Tensors are
//! objects, which functions may keep longer than the call. An error's backtrace begins with the
//! library's own frames; the frames after them belong to this program and are cut off.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::SyntaxError;
use abi::cconv::{Signature, ValueType};
use abi::signature::{Function, Unrepresentable};
use abi::tvm::index;
use abi::tvm::layout::{Any, SafeCall};
use abi::tvm::schema::Schema;
use hal::{Host, NativeLibrary};
use vm::{NativeModule, Status, StatusCode, Value};

use super::core::{Core, core};
use super::error::FfiError;
use super::object::{bytes_of, items_of, raised};
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
    /// The functions whose types are known.
    known: Vec<TypedFunction>,
    /// The others, and why.
    unusable: Vec<(String, String)>,
    code: Arc<libloading::Library>,
}

/// A function with its types.
#[derive(Debug)]
struct TypedFunction {
    name: String,
    function: Function,
    convention: String,
}

/// Why nothing calls a function of a library.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("nothing says what it takes; declare it: --signature='func.func @{0}(…) -> …'")]
    Undeclared(String),
    #[error("its metadata cannot be read: {0}")]
    Metadata(FfiError),
    #[error("its metadata is no text")]
    NoText,
    #[error("its metadata: {0}")]
    Schema(#[from] SyntaxError),
    /// The VM does not pass one of its types.
    #[error(transparent)]
    NoForm(#[from] Unrepresentable),
}

/// Whether a file has packed functions. Files that cannot be read have none.
#[must_use]
pub(crate) fn has_packed_functions(path: &Path) -> bool {
    // The names are in the file's table of strings, each after a zero.
    let Ok(bytes) = std::fs::read(path) else { return false };
    memchr::memmem::find(&bytes, format!("\0{PREFIX}").as_bytes()).is_some()
}

impl Library {
    /// Loads the runtime library, then this library. `signatures` declare functions of it.
    ///
    /// # Errors
    /// One of them cannot be loaded, or a signature is malformed.
    pub(crate) fn open(path: &Path, signatures: &[String]) -> Result<Self, FfiError> {
        let core = core()?;
        let code = load(path).map_err(|error| FfiError::new("RuntimeError", error))?;
        let mut stated = Vec::new();
        for text in signatures {
            let declaration = abi::mlir::function::parse(text);
            let declaration = declaration.map_err(|error| {
                FfiError::new("ValueError", format!("--signature {text}: {error}"))
            })?;
            stated.push(declaration.function);
        }
        let (mut known, mut unusable) = (Vec::new(), Vec::new());
        for name in functions_of(path) {
            let is_it = |function: &&Function| function.name.as_deref() == Some(&*name);
            let function = match stated.iter().find(is_it) {
                Some(function) => Ok(function.clone()),
                None => described(core, &code, &name),
            };
            let lowered = function.and_then(|function| {
                let (signature, _) = abi::cconv_layout::lower(&function)?;
                Ok((function, signature.to_cconv()))
            });
            match lowered {
                Ok((function, convention)) => {
                    known.push(TypedFunction { name, function, convention });
                }
                Err(reason) => unusable.push((name, reason.to_string())),
            }
        }
        Ok(Self { name: module_name(path), path: path.to_owned(), known, unusable, code })
    }

    fn function(&self, name: &str) -> Option<SafeCall> {
        packed_function(&self.code, &format!("{PREFIX}{name}"))
    }
}

fn packed_function(code: &libloading::Library, symbol: &str) -> Option<SafeCall> {
    let symbol = CString::new(symbol).ok()?;
    // SAFETY: every symbol with the prefix is a packed function, by the convention.
    let found = unsafe { code.get::<SafeCall>(symbol.as_bytes_with_nul()) };
    found.ok().map(|symbol| *symbol)
}

/// The names of the packed functions of a file, without those that describe others.
fn functions_of(path: &Path) -> BTreeSet<String> {
    let Ok(bytes) = std::fs::read(path) else { return BTreeSet::new() };
    let needle = format!("\0{PREFIX}");
    let found = memchr::memmem::find_iter(&bytes, needle.as_bytes()).filter_map(|at| {
        let name = &bytes[at + needle.len()..];
        let name = &name[..memchr::memchr(0, name)?];
        (!name.is_empty() && name[0] != b'_').then(|| String::from_utf8(name.to_vec()).ok())?
    });
    found.collect()
}

/// Arguments and results of a function, as the library's metadata says.
fn described(core: &Core, code: &libloading::Library, name: &str) -> Result<Function, Unusable> {
    let undeclared = || Unusable::Undeclared(name.to_owned());
    let metadata = packed_function(code, &format!("{PREFIX}_metadata_{name}"));
    let metadata = metadata.ok_or_else(undeclared)?;
    let mut result = Any::default();
    // SAFETY: a packed function without arguments; the result holds no object.
    let status = unsafe { metadata(std::ptr::null_mut(), std::ptr::null(), 0, &mut result) };
    if status != 0 {
        return Err(Unusable::Metadata(raised(core)));
    }
    // SAFETY: the result is alive.
    let text = unsafe { bytes_of(&result) }.and_then(|bytes| String::from_utf8(bytes).ok());
    release(core, result);
    let text = text.ok_or(Unusable::NoText)?;
    let schema = Schema::parse(&text)?;
    if schema.result.is_none() || schema.takes_any {
        return Err(undeclared());
    }
    Ok(schema.to_function())
}

impl NativeLibrary for Library {
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self, host: &Host, imports: &[(&str, &str)]) -> NativeModule {
        let mut builder = NativeModule::builder(&self.name);
        let mut seen = std::collections::HashSet::new();
        let known = self.known.iter().map(|it| (&*it.name, &*it.convention));
        let all: Vec<(&str, &str)> = imports.iter().copied().chain(known).collect();
        for (name, convention) in all.iter().filter(|(name, _)| seen.insert(*name)) {
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
                    let invoke = |boundary: Boundary<'_>, arguments: &mut [Any]| {
                        invoke(boundary, function, arguments)
                    };
                    call(&host, invoke, &signature, values)
                })?
                .map_err(|error| Status::new(code_of(&error.kind), format!("{what}: {error}")))
            });
        }
        builder.build()
    }

    fn declared(&self, name: &str) -> Option<&Function> {
        self.known.iter().find(|it| it.name == name).map(|it| &it.function)
    }

    fn unusable(&self) -> &[(String, String)] {
        &self.unusable
    }
}

/// The status code for a kind of error.
pub(super) fn code_of(kind: &str) -> StatusCode {
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

/// Calls a packed function: `invoke` with its arguments, which gives an owned result.
///
/// # Errors
/// The values have no form in TVM FFI, the function fails, or its result does not fit.
pub(super) fn call(
    host: &Host,
    invoke: impl FnOnce(Boundary<'_>, &mut [Any]) -> Result<Any, FfiError>,
    signature: &Signature,
    values: &[Value],
) -> Result<Vec<Value>, FfiError> {
    let boundary = Boundary { core: core()?, host, alignment: 64, lenders: None };
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
    let result = made.and_then(|()| invoke(boundary, &mut arguments));
    arguments.into_iter().for_each(|any| release(boundary.core, any));
    let result = result?;
    let values = convert(boundary, signature, &result);
    release(boundary.core, result);
    values
}

/// Calls a function of a library.
fn invoke(boundary: Boundary<'_>, function: SafeCall, arguments: &[Any]) -> Result<Any, FfiError> {
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
    Ok(result)
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
