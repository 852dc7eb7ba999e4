//! The library that TVM FFI loads. It makes every function of a `.vmfb` a callable of Python (or of
//! any other language that TVM FFI supports), which takes and returns tensors without copying them:
//!
//! ```python
//! library = tvm_ffi.load_module("libiree_dbg_tvm_ffi.so")
//! model = library["open"]("model.vmfb")
//! result = model("main")(numpy.ones(4, dtype=numpy.float32))
//! ```
//!
//! | packed function | takes | returns |
//! | --- | --- | --- |
//! | `open` | path, imports? | a function that returns the program's functions by name; they share its globals |
//! | `load` | path, function, imports? | one function, of a separate program |
//! | `exports` | path | the names of its functions, one per line |
//! | `describe` | path, function | its signature |
//!
//! Imports are functions of the caller that the program calls: `{"module.function": function}`.
//!
//! `ffi::tvm` implements them; only the symbols are here. The runtime library of TVM FFI is not
//! linked: it is in the process already, or is found at run time.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::Arc;

use abi::tvm::layout::Any;
use ffi::tvm::{Core, FfiError, Program, packed, string_argument, string_result};

/// Declares a packed function and the two that describe it.
macro_rules! packed_functions {
    ($(
        $symbol:ident, $metadata:ident, $doc:ident = $body:path, $schema:literal, $text:literal;
    )*) => {$(
        #[doc = $text]
        ///
        /// # Safety
        /// As for packed functions: `args` are `count` values that live until it returns, and
        /// `result` may be written.
        // SAFETY: no other library has the name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(_handle: *mut c_void, args: *const Any, count: c_int, result: *mut Any) -> c_int {
            // SAFETY: this is a packed function.
            unsafe { packed(args, count, result, $body) }
        }

        #[doc = concat!("What `", stringify!($symbol), "` takes and gives.")]
        ///
        /// # Safety
        /// As above.
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $metadata(_handle: *mut c_void, args: *const Any, count: c_int, result: *mut Any) -> c_int {
            // SAFETY: this is a packed function.
            unsafe { packed(args, count, result, |core, _| string_result(core, $schema)) }
        }

        #[doc = concat!("What `", stringify!($symbol), "` does.")]
        ///
        /// # Safety
        /// As above.
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $doc(_handle: *mut c_void, args: *const Any, count: c_int, result: *mut Any) -> c_int {
            // SAFETY: this is a packed function.
            unsafe { packed(args, count, result, |core, _| string_result(core, $text)) }
        }
    )*};
}

packed_functions! {
    __tvm_ffi_open, __tvm_ffi__metadata_open, __tvm_ffi__doc_open = open,
        r#"{"type_schema":"{\"type\":\"ffi.Function\"}"}"#,
        "Loads a .vmfb; the result gives its functions by their names. A second argument maps the names of imports to functions that the program calls.";
    __tvm_ffi_load, __tvm_ffi__metadata_load, __tvm_ffi__doc_load = load,
        r#"{"type_schema":"{\"type\":\"ffi.Function\"}"}"#,
        "Loads a .vmfb, and gives one of its functions.";
    __tvm_ffi_exports, __tvm_ffi__metadata_exports, __tvm_ffi__doc_exports = exports,
        r#"{"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"ffi.String\"},{\"type\":\"ffi.String\"}]}"}"#,
        "The names of the functions of a .vmfb, a line each.";
    __tvm_ffi_describe, __tvm_ffi__metadata_describe, __tvm_ffi__doc_describe = describe,
        r#"{"type_schema":"{\"type\":\"ffi.Function\",\"args\":[{\"type\":\"ffi.String\"},{\"type\":\"ffi.String\"},{\"type\":\"ffi.String\"}]}"}"#,
        "What a function of a .vmfb takes and gives.";
}

/// The program of a call; `most` is how many arguments it may have, the last one the imports.
fn program(core: &Core, arguments: &[Any], most: usize) -> Result<Arc<Program>, FfiError> {
    if arguments.len() > most {
        let text = format!("at most {most} arguments, got {}", arguments.len());
        return Err(FfiError::new("TypeError", text));
    }
    let path = string_argument(arguments, 0, "the path of a .vmfb")?;
    Program::load(core, Path::new(&path), arguments.get(most - 1)).map(Arc::new)
}

fn load(core: &'static Core, arguments: &[Any]) -> Result<Any, FfiError> {
    let name = string_argument(arguments, 1, "the name of a function")?;
    program(core, arguments, 3)?.function(&name)?.into_any(core)
}

fn open(core: &'static Core, arguments: &[Any]) -> Result<Any, FfiError> {
    program(core, arguments, 2)?.into_any(core)
}

fn exports(core: &'static Core, arguments: &[Any]) -> Result<Any, FfiError> {
    let program = program(core, arguments, 2)?;
    let names: Vec<&str> = program.exports().collect();
    string_result(core, &names.join("\n"))
}

fn describe(core: &'static Core, arguments: &[Any]) -> Result<Any, FfiError> {
    let name = string_argument(arguments, 1, "the name of a function")?;
    string_result(core, &program(core, arguments, 3)?.function(&name)?.describe())
}
