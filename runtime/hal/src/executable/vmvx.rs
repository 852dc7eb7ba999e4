//! VMVX executables: nested VM modules whose exports are dispatches.
//!
//! The nested module sees nothing of the program around it: it is linked with the `vmvx` module alone
//! and gets memory through the list of bindings. Running changes a context (it is one activity with
//! its globals), so every thread that runs workgroups takes a context of its own; contexts that are
//! not in use wait in a list. A debugger does not come here: it runs [`Executable::bytecode`] in the
//! program's own context, with the arguments that [`arguments`] makes.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use vm::{Context, ExecutionLimits, FunctionId, Invocation, ModuleIndex, Outcome, Ref};
use vm::{RefType, RunControl, Status, Type, Value};
use vmfb::verify::{VerifiedModule, verify};
use vmfb::{FileBytes, Module};

use super::{Bytecode, Dispatch, Executable, Export, Halt};
use crate::modules;

/// The name of the format.
pub const FORMAT: &str = "vmvx-bytecode-fb";

/// What a dispatch function takes: scratch memory, constants, bindings; id, size and count of
/// workgroups.
const CALLING_CONVENTION: &str = "0rrriiiiiiiii_v";

/// The compiler's function that takes the constants which specialise an executable.
pub(crate) const SET_CONSTANTS: &str = "__set_constants";

/// Exports that the VM or the loader calls. Others may begin with underscores too and are dispatches: the
/// compiler's own, such as `__builtin_splat_i64`.
const NO_DISPATCHES: [&str; 4] = ["__init", "__deinit", "__notify", SET_CONSTANTS];

/// The bytecode module's place in the contexts made here: behind `vmvx`.
const NESTED: ModuleIndex = ModuleIndex(1);

/// A loaded VMVX executable.
#[derive(Debug)]
pub struct VmvxExecutable {
    module: VerifiedModule,
    bytecode: Bytecode,
    exports: Vec<Export>,
    constants: Vec<u32>,
    limits: ExecutionLimits,
    idle: Mutex<Vec<Context>>,
}

impl VmvxExecutable {
    /// Loads and verifies a nested module. The bytes are copied: the program may go on changing its
    /// own, and what was verified must stay as it was.
    ///
    /// # Errors
    /// The data is no module, its bytecode is wrong, it needs modules other than `vmvx`, or its
    /// exports are no dispatch functions.
    pub fn load(
        data: &vm::Buffer,
        constants: &[u32],
        limits: &ExecutionLimits,
    ) -> Result<Self, Status> {
        let bytes = FileBytes::from(data.read(0, data.len()));
        let module = Module::from_bytes(bytes).map_err(|error| {
            Status::invalid_argument(format!("the {FORMAT} executable is no module: {error}"))
        })?;
        let module = verify(module).map_err(|defects| {
            let lines: Vec<String> = defects.iter().map(ToString::to_string).collect();
            Status::invalid_argument(format!(
                "the bytecode of the {FORMAT} executable is wrong: {}",
                lines.join("; ")
            ))
        })?;
        let (functions, exports) = dispatch_functions(module.module())?;
        let bytecode = Bytecode { module: module.clone(), functions };
        let constants = constants.to_vec();
        let limits = limits.clone();
        let idle = Mutex::default();
        let executable = Self { module, bytecode, exports, constants, limits, idle };
        // The first context is made now, so that what cannot be linked fails where it is loaded.
        let context = executable.new_context()?;
        executable.give_back(context);
        Ok(executable)
    }

    fn new_context(&self) -> Result<Context, Status> {
        let mut context = Context::builder()
            .limits(self.limits.clone())
            .add_native(modules::vmvx::module())
            .add_bytecode(self.module.clone())
            .link()
            .map_err(|error| Status::not_found(format!("{FORMAT} executable: {error}")))?;
        context.initialize().map_err(|failure| failure.status)?;
        self.set_constants(&mut context)?;
        Ok(context)
    }

    /// Gives the constants of the executable to the module, which keeps them in globals.
    fn set_constants(&self, context: &mut Context) -> Result<(), Status> {
        let Some((_, export)) = self.module.module().export_named(SET_CONSTANTS) else {
            if self.constants.is_empty() {
                return Ok(());
            }
            return Err(Status::invalid_argument(format!(
                "executable has no executable-level constants but {} constants were provided",
                self.constants.len()
            )));
        };
        if self.constants.is_empty() {
            return Err(Status::invalid_argument(
                "executable requires executable-level constants but none were provided",
            ));
        }
        let function = FunctionId { module: NESTED, function: export.function };
        let arguments = vec![Value::Ref(words(&self.constants))];
        call(context, function, arguments).map(drop).map_err(|failure| failure.status)
    }

    fn take_context(&self) -> Result<Context, Status> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.new_context(), Ok)
    }

    fn give_back(&self, context: Context) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(context);
    }

    fn run_in(
        &self,
        context: &mut Context,
        dispatch: &Dispatch,
        workgroups: Range<u64>,
        control: &RunControl,
    ) -> Result<(), Halt> {
        let (Some(export), Some(function)) =
            (self.exports.get(dispatch.export), self.bytecode.functions.get(dispatch.export))
        else {
            return Err(Status::invalid_argument("entry point ordinal out of bounds").into());
        };
        let function = FunctionId { module: NESTED, function: *function };
        let shared = SharedArguments::new(export, dispatch, context.limits())?;
        for index in workgroups.clone() {
            if control.is_interrupted() {
                return Err(Halt::before(index..workgroups.end));
            }
            let id = dispatch.workgroup(index);
            call(context, function, shared.of_workgroup(dispatch, id)).map_err(|failure| {
                let place = failure.backtrace.iter().map(|frame| format!("\n  at {frame}"));
                let mut status = dispatch.explain(export, index, failure.status);
                status.message.extend(place);
                status
            })?;
        }
        Ok(())
    }
}

impl Executable for VmvxExecutable {
    fn format(&self) -> &str {
        FORMAT
    }

    fn exports(&self) -> &[Export] {
        &self.exports
    }

    fn run(
        &self,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
    ) -> Result<(), Halt> {
        let mut context = self.take_context()?;
        let result = self.run_in(&mut context, dispatch, range, control);
        self.give_back(context);
        result
    }

    fn bytecode(&self) -> Option<&Bytecode> {
        Some(&self.bytecode)
    }
}

/// The arguments that the dispatch function of an export takes for one workgroup.
///
/// # Errors
/// There is no memory for what they refer to.
pub fn arguments(
    export: &Export,
    dispatch: &Dispatch,
    workgroup: [u32; 3],
    limits: &ExecutionLimits,
) -> Result<Vec<Value>, Status> {
    Ok(SharedArguments::new(export, dispatch, limits)?.of_workgroup(dispatch, workgroup))
}

/// What all workgroups that run one after the other have in common.
struct SharedArguments {
    local_memory: Ref,
    constants: Ref,
    bindings: Ref,
}

impl SharedArguments {
    fn new(export: &Export, dispatch: &Dispatch, limits: &ExecutionLimits) -> Result<Self, Status> {
        let local_memory_bytes =
            export.local_memory_bytes.saturating_add(dispatch.local_memory_bytes);
        let local_memory = vm::Buffer::alloc(local_memory_bytes, 0, limits)?;
        let bindings = vm::List::new(Type::Ref(RefType::Buffer), limits);
        bindings.reserve(dispatch.bindings.len())?;
        for binding in &dispatch.bindings {
            bindings.push(Value::Ref(Ref::Buffer(binding.view()?)))?;
        }
        Ok(Self {
            local_memory: Ref::Buffer(Arc::new(local_memory)),
            constants: words(&dispatch.constants),
            bindings: Ref::List(Arc::new(bindings)),
        })
    }

    fn of_workgroup(&self, dispatch: &Dispatch, id: [u32; 3]) -> Vec<Value> {
        let refs = [&self.local_memory, &self.constants, &self.bindings];
        let sizes = [id, dispatch.workgroup_size, dispatch.workgroup_count];
        refs.into_iter()
            .map(|value| Value::Ref(value.clone()))
            .chain(sizes.into_iter().flatten().map(|word| Value::I32(word as i32)))
            .collect()
    }
}

/// A read-only buffer of 32-bit words.
pub(crate) fn words(words: &[u32]) -> Ref {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let range = 0..bytes.len();
    vm::Buffer::of_file(FileBytes::from(bytes), range)
        .map_or(Ref::Null, |buffer| Ref::Buffer(Arc::new(buffer)))
}

/// Runs a function to its end.
fn call(
    context: &mut Context,
    function: FunctionId,
    arguments: Vec<Value>,
) -> Result<Vec<Value>, vm::Failure> {
    let mut invocation = Invocation::new(context, function, arguments)
        .map_err(|status| vm::Failure { status, backtrace: Vec::new() })?;
    loop {
        match invocation.run(context) {
            Outcome::Completed(results) => return Ok(results),
            Outcome::Failed(failure) => return Err(failure),
            // Nobody waits for a turn, and nobody is here to look at `vm.break`.
            Outcome::Yielded | Outcome::Stopped(_) => {}
        }
    }
}

/// The exports that are dispatch functions, in order: which functions they are, and what they want.
fn dispatch_functions(
    module: &Module,
) -> Result<(Vec<vmfb::FunctionOrdinal>, Vec<Export>), Status> {
    let dispatches =
        module.exports().iter().filter(|export| !NO_DISPATCHES.contains(&export.name.as_str()));
    let described = dispatches.map(|export| {
        let Some(function) = module.function(export.function) else {
            return Err(Status::invalid_argument(format!(
                "export {} of the executable names no function",
                export.name
            )));
        };
        let found = function.signature.calling_convention.as_deref().unwrap_or_default();
        if found != CALLING_CONVENTION {
            return Err(Status::invalid_argument(format!(
                "executable entry point {} does not match the expected calling convention; \
                 expected '{CALLING_CONVENTION}' but got '{found}', possible ABI version mismatch",
                export.name
            )));
        }
        let attribute = |key: &str| {
            let mut attributes = function.signature.attributes.iter();
            attributes.find(|attribute| attribute.key == key)?.value.parse::<usize>().ok()
        };
        let (constants, bindings) = (attribute("constant_count"), attribute("binding_count"));
        // Compilers of 2023 say neither; later ones leave out what is 0.
        let count = |found: Option<usize>| constants.or(bindings).and(Some(found.unwrap_or(0)));
        let described = Export {
            name: export.name.clone(),
            constant_count: count(constants),
            binding_count: count(bindings),
            local_memory_bytes: attribute("local_memory").unwrap_or(0),
            ..Export::default()
        };
        Ok((export.function, described))
    });
    described.collect::<Result<Vec<_>, _>>().map(|pairs| pairs.into_iter().unzip())
}
