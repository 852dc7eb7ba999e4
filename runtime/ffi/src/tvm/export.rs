//! A function of a program as a packed function, for the library that Python loads.
//!
//! A program is loaded, verified, linked and initialised once; each of its functions becomes a
//! function object that calls it. Calls of one program run one at a time. Errors of the VM carry
//! its frames as their backtrace.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use abi::cconv::Signature;
use abi::explain::{CallForm, explain, outputs};
use abi::iree_abi::wire_results;
use abi::signature::{SequenceForm, Slot, Type};
use abi::tvm::layout::Any;
use hal::{Config, Host};
use vm::{Context, Failure, FunctionId, Invocation, ModuleIndex, Status, StatusCode, Value};
use vmfb::verify::verify;
use vmfb::{FunctionSignature, Module};

use super::callables::{self, take_last_error};
use super::core::{Core, Handle, core};
use super::error::FfiError;
use super::lenders::Role;
use super::object::{bytes_of, raised};
use super::signals::{Unfinished, acquired, finish};
use super::spread::RawArguments;
use super::value::Boundary;

/// The alignment of memory that a program's machine code accesses, in bytes.
const MACHINE_CODE_ALIGNMENT: usize = 64;

/// A loaded and initialised program.
pub struct Program {
    context: Mutex<Context>,
    host: Host,
    module: Arc<Module>,
    index: ModuleIndex,
    alignment: usize,
}

impl Program {
    /// Loads the module of a file and runs its initialisers. `imports` are the functions of the
    /// caller that the program calls, by `module.function`.
    ///
    /// # Errors
    /// It cannot be read, verified or linked, or an initialiser fails.
    pub fn load(core: &Core, path: &Path, imports: Option<&Any>) -> Result<Self, FfiError> {
        let fail = |message: String| {
            FfiError::new("RuntimeError", format!("{}: {message}", path.display()))
        };
        let module = Module::open(path).map_err(|error| match error {
            vmfb::LoadError::Io { .. } => FfiError::new("RuntimeError", error.to_string()),
            other => fail(other.to_string()),
        })?;
        let verified = verify(module).map_err(|defects| {
            let lines: Vec<String> = defects.iter().map(ToString::to_string).collect();
            fail(lines.join("\n  "))
        })?;
        let module = verified.module().clone();
        let libraries = callables::imports(core, imports)?;
        let host = Host::new(&Config { libraries, ..Config::default() });
        let mut builder = Context::builder();
        for native in hal::modules_for(&host, [&*module]) {
            builder = builder.add_native(native);
        }
        let mut context =
            builder.add_bytecode(verified).link().map_err(|error| fail(error.to_string()))?;
        let last = context.modules().count() - 1;
        let index = ModuleIndex(u32::try_from(last).map_err(|error| fail(error.to_string()))?);
        let mut invocation = Invocation::initialize(&context);
        finish(core, &mut context, &mut invocation).map_err(|why| why.into_error(None))?;
        // Bytecode accesses memory at any alignment; machine code may load whole vectors.
        let has_machine_code = module.rodata().iter().any(|segment| {
            let start = segment.range.start..segment.range.end.min(segment.range.start + 4);
            module.file_bytes().get(start).is_some_and(|bytes| *bytes == *b"\x7fELF")
        });
        let alignment = if has_machine_code { MACHINE_CODE_ALIGNMENT } else { 1 };
        Ok(Self { context: Mutex::new(context), host, module, index, alignment })
    }

    /// The names of the functions that can be called.
    pub fn exports(&self) -> impl Iterator<Item = &str> {
        self.module
            .exports()
            .iter()
            .map(|export| export.name.as_str())
            .filter(|name| !name.starts_with("__"))
    }

    /// One of its functions.
    ///
    /// # Errors
    /// It has no function of this name.
    pub fn function(self: &Arc<Self>, name: &str) -> Result<ProgramFunction, FfiError> {
        let Some((_, export)) = self.module.export_named(name) else {
            let names: Vec<&str> = self.exports().collect();
            return Err(FfiError::new(
                "AttributeError",
                format!(
                    "module `{}` exports no `{name}`; it exports {}",
                    self.module.name(),
                    names.join(", ")
                ),
            ));
        };
        let signature = self.module.function(export.function).map(|function| &function.signature);
        let attributes = signature.map(FunctionSignature::pairs).unwrap_or_default();
        let cconv = signature.and_then(|signature| signature.calling_convention.as_deref());
        if explain(cconv, &attributes).has_fences {
            return Err(FfiError::new(
                "NotImplementedError",
                format!(
                    "`{name}` wants fences; compile it without --iree-execution-model=async-external"
                ),
            ));
        }
        Ok(ProgramFunction {
            program: self.clone(),
            id: FunctionId { module: self.index, function: export.function },
            name: name.to_owned(),
            outputs: outputs(&attributes),
            form: CallForm::of(cconv, &attributes)
                .map_err(|error| FfiError::new("ValueError", format!("`{name}`: {error}")))?,
        })
    }
}

/// A function of a program.
pub struct ProgramFunction {
    program: Arc<Program>,
    id: FunctionId,
    name: String,
    form: CallForm,
    /// For each argument, the result that is left in its memory; none if the module does not say.
    outputs: Option<Vec<Option<usize>>>,
}

impl ProgramFunction {
    /// A readable text of its signature.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("{}{}", self.name, self.form.function)
    }

    fn call(&self, core: &Core, arguments: &[Any]) -> Result<Any, FfiError> {
        let program = &*self.program;
        let lenders = RefCell::default();
        let boundary = Boundary {
            core,
            host: &program.host,
            alignment: program.alignment,
            lenders: Some(&lenders),
        };
        let _running = Running::begin(program)?;
        let mut context = acquired(core, &program.context)?;
        let signature = context.signature(self.id).unwrap_or_default();
        let wanted = match &self.form.spread {
            Some(spread) => spread.structure.arguments.len(),
            None => signature.arguments.len(),
        };
        if wanted != arguments.len() {
            return Err(FfiError::new(
                "TypeError",
                format!("{} takes {wanted} arguments, got {}", self.describe(), arguments.len()),
            ));
        }
        let values = self.values(boundary, &signature, arguments)?;
        let mut invocation = Invocation::new(&context, self.id, values)
            .map_err(|status| FfiError::new(kind_of(status.code), status.message))?;
        // Errors of functions that others have called are not this call's.
        let _ = take_last_error();
        let results = finish(core, &mut context, &mut invocation)
            .map_err(|why| why.into_error(take_last_error()))?;
        drop(context);
        // SAFETY: the arguments are alive until this function returns; the caller passes as outputs
        // what may be written, as read-only memory has no tensor of TVM FFI.
        unsafe { lenders.take().write_back() };
        self.results(boundary, &results)
    }

    /// What the function does with an argument.
    fn role(&self, index: usize) -> Role {
        let is_tensor = |slot: &Slot| match &slot.ty {
            Type::Array(array) => matches!(*array.element, Type::Scalar(_)),
            _ => false,
        };
        match &self.outputs {
            Some(outputs) if outputs.get(index).copied().flatten().is_some() => Role::Output,
            // Tensors of the source are values: nothing is written into them.
            Some(_) if self.form.function.arguments.get(index).is_some_and(is_tensor) => {
                Role::Input
            }
            _ => Role::Unknown,
        }
    }

    /// The VM's arguments.
    fn values(
        &self,
        boundary: Boundary<'_>,
        signature: &Signature,
        arguments: &[Any],
    ) -> Result<Vec<Value>, FfiError> {
        let Some(spread) = &self.form.spread else {
            let values = arguments.iter().zip(&signature.arguments).enumerate();
            let values = values.map(|(index, (any, wanted))| {
                let declared = self.form.function.arguments.get(index).map(|slot| &slot.ty);
                if let Some(lenders) = boundary.lenders {
                    lenders.borrow_mut().role = self.role(index);
                }
                let value = boundary.to_vm(any, wanted, declared);
                value.map_err(|error| error.within(&format!("{} args[{index}]", self.name)))
            });
            return values.collect();
        };
        let raw = RawArguments::of(boundary, &self.name, spread, arguments)?;
        if raw.values.len() != signature.arguments.len() {
            return Err(FfiError::new(
                "TypeError",
                format!(
                    "{}: the signature has {} raw arguments, the calling convention {}",
                    self.name,
                    raw.values.len(),
                    signature.arguments.len()
                ),
            ));
        }
        let typed = raw.values.iter().zip(&spread.raw.arguments).zip(&signature.arguments);
        let values = typed.map(|(((path, any), slot), wanted)| {
            let any = any.as_ref().ok_or_else(|| {
                FfiError::new("TypeError", format!("expected {}, got nothing", slot.ty))
            });
            let value = any.and_then(|any| boundary.to_vm(any, wanted, Some(&slot.ty)));
            value.map_err(|error| error.within(path))
        });
        values.collect()
    }

    /// The result for the caller.
    fn results(&self, boundary: Boundary<'_>, results: &[Value]) -> Result<Any, FfiError> {
        if let Some(spread) = &self.form.spread {
            let raw = spread.raw.results.iter().map(|slot| slot.ty.clone()).collect::<Vec<_>>();
            let Some(slot) = spread.structure.results.first() else { return Ok(Any::default()) };
            return boundary.collected(&slot.ty, results, &raw);
        }
        let declared = &self.form.function;
        // A structure that is the only result is passed as its separate values.
        if let [slot] = declared.results.as_slice()
            && matches!(slot.ty, Type::Sequence(..) | Type::Dictionary(_))
            && wire_results(declared).len() == results.len()
        {
            return boundary.structure(results, Some(&slot.ty), 0);
        }
        let types = declared.results.iter().map(|slot| slot.ty.clone()).collect();
        match results {
            [] => Ok(Any::default()),
            [one] => boundary.to_any(one, declared.results.first().map(|slot| &slot.ty)),
            many => boundary.structure(many, Some(&Type::Sequence(SequenceForm::Tuple, types)), 0),
        }
    }
}

thread_local! {
    /// The programs that run on this thread, by address.
    static RUNNING: RefCell<Vec<*const Program>> = const { RefCell::new(Vec::new()) };
}

/// A call of a program on this thread.
struct Running;

impl Running {
    /// # Errors
    /// The program runs on this thread already: a function that it has called calls it again.
    fn begin(program: &Program) -> Result<Self, FfiError> {
        RUNNING.with_borrow_mut(|running| {
            if running.contains(&std::ptr::from_ref(program)) {
                return Err(FfiError::new(
                    "RuntimeError",
                    "a function that the program calls cannot call the program again here; \
                     programs of the Python package iree_dbg can",
                ));
            }
            running.push(program);
            Ok(Self)
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with_borrow_mut(Vec::pop);
    }
}

impl Unfinished {
    /// The error of the call; `raised` is that of a function which the program has called.
    fn into_error(self, raised: Option<FfiError>) -> FfiError {
        match self {
            Self::Signalled(error) => error,
            Self::Failed(failure) => raised.unwrap_or_else(|| error(&failure)),
        }
    }
}

fn error(failure: &Failure) -> FfiError {
    let Status { code, message } = &failure.status;
    // In the order of the library: most recent call first.
    let frames = failure.backtrace.iter();
    let backtrace = frames
        .map(|frame| format!("  File \"{}.vmfb\", line 0, in {frame}\n", frame.module_name))
        .collect();
    FfiError { kind: kind_of(*code).to_owned(), message: format!("{code}; {message}"), backtrace }
}

fn kind_of(code: StatusCode) -> &'static str {
    match code {
        StatusCode::InvalidArgument => "ValueError",
        StatusCode::OutOfRange => "IndexError",
        StatusCode::NotFound => "KeyError",
        StatusCode::Unimplemented => "NotImplementedError",
        StatusCode::ResourceExhausted => "MemoryError",
        _ => "RuntimeError",
    }
}

/// The body of a function object of this program.
type Body = Box<dyn Fn(&'static Core, &[Any]) -> Result<Any, FfiError> + Send + Sync>;

/// The C function of all function objects.
unsafe extern "C" fn call_body(
    this: *mut c_void,
    args: *const Any,
    count: c_int,
    result: *mut Any,
) -> c_int {
    let body = |core: &'static Core, arguments: &[Any]| {
        // SAFETY: `this` is the body that `function_object` gave the object, which keeps it alive.
        let body = unsafe { &*this.cast::<Body>() };
        body(core, arguments)
    };
    // SAFETY: this is a packed function.
    unsafe { packed(args, count, result, body) }
}

unsafe extern "C" fn delete_body(this: *mut c_void) {
    // SAFETY: called once, with the body that `function_object` gave the object.
    drop(unsafe { Box::from_raw(this.cast::<Body>()) });
}

/// A function object as an owned value.
fn function_object(core: &Core, body: Body) -> Result<Any, FfiError> {
    let this = Box::into_raw(Box::new(body)).cast();
    let mut handle: Handle = std::ptr::null_mut();
    // SAFETY: both functions take `this` as a body.
    let code = unsafe { (core.function_create)(this, call_body, Some(delete_body), &mut handle) };
    if code != 0 || handle.is_null() {
        // SAFETY: the library has not taken it over.
        unsafe { delete_body(this) };
        return Err(raised(core));
    }
    Ok(Any { type_index: abi::tvm::index::FUNCTION, small_len: 0, payload: handle as u64 })
}

impl ProgramFunction {
    /// A function object that calls it, as an owned value.
    ///
    /// # Errors
    /// The library cannot make one.
    pub fn into_any(self, core: &Core) -> Result<Any, FfiError> {
        function_object(core, Box::new(move |core, arguments| self.call(core, arguments)))
    }
}

impl Program {
    /// A function object that returns the program's functions by name, as an owned value. They
    /// share the program's state.
    ///
    /// # Errors
    /// The library cannot make one.
    pub fn into_any(self: Arc<Self>, core: &Core) -> Result<Any, FfiError> {
        let body = move |core: &'static Core, arguments: &[Any]| {
            let name = string_argument(arguments, 0, "the name of a function")?;
            self.function(&name)?.into_any(core)
        };
        function_object(core, Box::new(body))
    }
}

/// Runs the body of a packed function: it takes arguments and returns an owned value or an error. A
/// panic becomes an error, too.
///
/// # Safety
/// As for a packed function: `args` are `count` values that live until it returns, and `result` may
/// be written.
pub unsafe fn packed(
    args: *const Any,
    count: c_int,
    result: *mut Any,
    body: impl FnOnce(&'static Core, &[Any]) -> Result<Any, FfiError>,
) -> c_int {
    let Ok(core) = core() else { return -1 };
    let arguments = match usize::try_from(count) {
        // SAFETY: as the caller promises.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(args, count) },
        _ => &[],
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(core, arguments)));
    let outcome =
        outcome.unwrap_or_else(|_| Err(FfiError::new("InternalError", "the function panicked")));
    match outcome {
        Ok(any) => {
            // SAFETY: as the caller promises.
            unsafe { result.write(any) };
            0
        }
        Err(error) => {
            core.raise(&error);
            -1
        }
    }
}

/// An argument that is a string.
///
/// # Errors
/// There is no such argument, or it is not a string.
pub fn string_argument(arguments: &[Any], index: usize, what: &str) -> Result<String, FfiError> {
    let Some(any) = arguments.get(index) else {
        return Err(FfiError::new("TypeError", format!("argument {index} is missing: {what}")));
    };
    // SAFETY: arguments are alive during the call.
    let bytes = unsafe { bytes_of(any) };
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| FfiError::new("TypeError", format!("argument {index} is no string: {what}")))
}

/// A string as an owned value.
///
/// # Errors
/// The library cannot make one.
pub fn string_result(core: &Core, text: &str) -> Result<Any, FfiError> {
    let host = Host::new(&Config::default());
    Boundary { core, host: &host, alignment: 1, lenders: None }.string(text)
}
