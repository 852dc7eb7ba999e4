//! VMVX executables: nested VM modules whose exports are dispatches.
//!
//! The nested module sees nothing of the program around it: it is linked with the `vmvx` module
//! alone and gets memory through the list of bindings. Running changes a context, which has the
//! globals, so every thread that runs workgroups takes a context of its own; idle contexts wait in
//! a list. A debugger does not use these contexts: it runs [`Executable::bytecode`] in the
//! program's own context, with the arguments that [`arguments`] makes. A workgroup that is
//! interrupted or fails is kept as it stands ([`Paused`]), so that it can move there.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Context, ExecutionLimits, FunctionId, Invocation, Meter, ModuleIndex, MovedFrames};
use vm::{Outcome, Ref, RefType, RunControl, Status, Stop, Type, Value};
use vmfb::verify::{VerifiedModule, verify};
use vmfb::{FileBytes, Module};

use super::dispatch::Dispatch;
use super::halt::{Halt, Interrupted, PausedWorkgroup};
use super::interface::{Bytecode, Executable, Export};
use crate::microkernels;

/// The name of the format.
pub(crate) const FORMAT: &str = "vmvx-bytecode-fb";

/// The calling convention of a dispatch function: scratch memory, constants, bindings; id, size and
/// count of workgroups.
const CALLING_CONVENTION: &str = "0rrriiiiiiiii_v";

/// The compiler's function that takes the specialisation constants of an executable.
pub(crate) const SET_CONSTANTS: &str = "__set_constants";

/// Exports that the VM or the loader calls. Other names with underscores are dispatches: the
/// compiler's own, such as `__builtin_splat_i64`.
const NO_DISPATCHES: [&str; 4] = ["__init", "__deinit", "__notify", SET_CONSTANTS];

/// Steps that the module may take before its first dispatch, where nothing can interrupt it. It
/// only stores constants there; this many steps take less than a second.
const MOST_INITIAL_STEPS: u64 = 1 << 22;

/// The bytecode module's index in the contexts made here: after `vmvx`.
const NESTED: ModuleIndex = ModuleIndex(1);

/// A loaded VMVX executable.
#[derive(Debug)]
pub(super) struct VmvxExecutable {
    module: VerifiedModule,
    bytecode: Bytecode,
    exports: Vec<Export>,
    constants: Vec<u32>,
    limits: ExecutionLimits,
    idle: IdleContexts,
}

/// Contexts that no thread uses.
#[derive(Clone, Default, Debug)]
struct IdleContexts(Arc<Mutex<Vec<Context>>>);

impl IdleContexts {
    fn lock(&self) -> MutexGuard<'_, Vec<Context>> {
        // The list is consistent at any time, so a panic in another thread does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A workgroup that was interrupted or has failed, in its context.
struct Paused {
    workgroup: u64,
    invocation: Invocation,
    /// `None` after the frames have moved.
    context: Option<Context>,
    idle: IdleContexts,
    dispatch: Dispatch,
    name: String,
}

/// How a run of workgroups ended.
enum Went {
    Through,
    Halted(Halt),
    /// This workgroup was interrupted, or has failed with the status.
    Inside(u64, Box<Invocation>, Option<Status>),
}

impl VmvxExecutable {
    /// Loads and verifies a nested module. The bytes are copied: the program may change its own
    /// later, but verified bytecode must not change.
    ///
    /// # Errors
    /// The data is not a module, its bytecode is invalid, it imports modules other than `vmvx`, or
    /// its exports are not dispatch functions.
    pub(super) fn load(
        data: &vm::Buffer,
        constants: &[u32],
        limits: &ExecutionLimits,
    ) -> Result<Self, Status> {
        let bytes = FileBytes::from(data.read(0, data.len()));
        let module = Module::from_bytes(bytes).map_err(|error| {
            Status::invalid_argument(format!("the {FORMAT} executable is not a module: {error}"))
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
        // The steps of workgroups come from the budget of the call that dispatches them; this limit
        // is for the initialiser.
        let fuel = limits.fuel.unwrap_or(u64::MAX).min(MOST_INITIAL_STEPS);
        let limits = ExecutionLimits { fuel: Some(fuel), ..limits.clone() };
        let idle = IdleContexts::default();
        let executable = Self { module, bytecode, exports, constants, limits, idle };
        // The first context is made now, so that a module that cannot be linked fails at loading.
        let context = executable.new_context()?;
        executable.idle.lock().push(context);
        Ok(executable)
    }

    fn new_context(&self) -> Result<Context, Status> {
        let mut context = Context::builder()
            .limits(self.limits.clone())
            .add_native(microkernels::module())
            .add_bytecode(self.module.clone())
            .link()
            .map_err(|error| Status::not_found(format!("{FORMAT} executable: {error}")))?;
        context.initialize().map_err(|failure| failure.status)?;
        self.set_constants(&mut context)?;
        Ok(context)
    }

    /// Passes the specialisation constants to the module, which keeps them in globals.
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
        call(context, function, arguments).map_err(|failure| failure.status)
    }

    fn take_context(&self) -> Result<Context, Status> {
        let idle = self.idle.lock().pop();
        idle.map_or_else(|| self.new_context(), Ok)
    }

    fn run_in(
        &self,
        context: &mut Context,
        dispatch: &Dispatch,
        workgroups: &Range<u64>,
        control: &RunControl,
    ) -> Result<Went, Status> {
        let (Some(export), Some(function)) =
            (self.exports.get(dispatch.export), self.bytecode.functions.get(dispatch.export))
        else {
            return Err(Status::invalid_argument("entry point ordinal out of bounds"));
        };
        let function = FunctionId { module: NESTED, function: *function };
        let shared = SharedArguments::new(export, dispatch, context.limits())?;
        let mut meter = Meter::of_worker(control);
        for index in workgroups.clone() {
            if control.is_interrupted() {
                return Ok(Went::Halted(Halt::before(index..workgroups.end)));
            }
            control.interrupt.at_workgroup(index);
            meter
                .spend_on_work()
                .map_err(|status| dispatch.explain(&export.name, index, status))?;
            let arguments = shared.of_workgroup(dispatch, dispatch.workgroup(index));
            let mut invocation = Invocation::metered(context, function, arguments, meter)?;
            match run(context, &mut invocation) {
                Ran::Through => meter = invocation.into_meter(),
                Ran::Interrupted => return Ok(Went::Inside(index, Box::new(invocation), None)),
                Ran::Failed(failure) => {
                    let status = explain(&export.name, dispatch, index, failure);
                    return Ok(Went::Inside(index, Box::new(invocation), Some(status)));
                }
            }
        }
        Ok(Went::Through)
    }
}

/// Adds the workgroup, the dispatch and the frames of a failure to its status.
fn explain(name: &str, dispatch: &Dispatch, workgroup: u64, failure: vm::Failure) -> Status {
    let place = failure.backtrace.iter().map(|frame| format!("\n  at {frame}"));
    let mut status = dispatch.explain(name, workgroup, failure.status);
    status.message.extend(place);
    status
}

impl PausedWorkgroup for Paused {
    fn workgroup(&self) -> u64 {
        self.workgroup
    }

    fn take_frames(&mut self) -> Option<MovedFrames> {
        let frames = self.invocation.take_frames(self.context.as_ref()?)?;
        self.idle.lock().extend(self.context.take());
        Some(frames)
    }

    fn resume(mut self: Box<Self>, control: &RunControl) -> Result<(), Halt> {
        let Some(context) = &mut self.context else { return Ok(()) };
        self.invocation.set_meter(Meter::of_worker(control));
        match run(context, &mut self.invocation) {
            Ran::Through => Ok(()),
            Ran::Interrupted => {
                let inside: Vec<Box<dyn PausedWorkgroup>> = vec![self];
                Err(Halt::Interrupted(Interrupted { inside, rest: Vec::new() }))
            }
            Ran::Failed(failure) => {
                let status = explain(&self.name, &self.dispatch, self.workgroup, failure);
                Err(Halt::FailedInside(status, self))
            }
        }
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        self.idle.lock().extend(self.context.take());
    }
}

impl fmt::Debug for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Paused(workgroup {} of @{})", self.workgroup, self.name)
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
        let went = self.run_in(&mut context, dispatch, &range, control);
        let (workgroup, invocation, failure) = match went {
            Ok(Went::Inside(workgroup, invocation, failure)) => (workgroup, *invocation, failure),
            ended => {
                self.idle.lock().push(context);
                return match ended? {
                    Went::Halted(halt) => Err(halt),
                    Went::Through | Went::Inside(..) => Ok(()),
                };
            }
        };
        let paused = Box::new(Paused {
            workgroup,
            invocation,
            context: Some(context),
            idle: self.idle.clone(),
            dispatch: dispatch.clone(),
            name: self.exports.get(dispatch.export).map_or_else(String::new, |it| it.name.clone()),
        });
        Err(match failure {
            Some(status) => Halt::FailedInside(status, paused),
            None => {
                let inside: Vec<Box<dyn PausedWorkgroup>> = vec![paused];
                let halt = Halt::Interrupted(Interrupted { inside, rest: Vec::new() });
                halt.and_not_begun(workgroup + 1..range.end)
            }
        })
    }

    fn bytecode(&self) -> Option<&Bytecode> {
        Some(&self.bytecode)
    }
}

/// The arguments of an export's dispatch function for one workgroup.
///
/// # Errors
/// There is no memory for what they refer to.
pub(crate) fn arguments(
    export: &Export,
    dispatch: &Dispatch,
    workgroup: [u32; 3],
    limits: &ExecutionLimits,
) -> Result<Vec<Value>, Status> {
    Ok(SharedArguments::new(export, dispatch, limits)?.of_workgroup(dispatch, workgroup))
}

/// The arguments that consecutive workgroups on a thread share.
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
) -> Result<(), vm::Failure> {
    let mut invocation = Invocation::new(context, function, arguments)
        .map_err(|status| vm::Failure { status, backtrace: Vec::new() })?;
    match run(context, &mut invocation) {
        Ran::Failed(failure) => Err(failure),
        // It cannot be interrupted: nothing else has its handle.
        Ran::Through | Ran::Interrupted => Ok(()),
    }
}

/// How a run of an invocation ended.
enum Ran {
    Through,
    Interrupted,
    Failed(vm::Failure),
}

/// Runs an invocation to its end or to an interrupt.
fn run(context: &mut Context, invocation: &mut Invocation) -> Ran {
    loop {
        match invocation.run(context) {
            Outcome::Completed(_) => return Ran::Through,
            Outcome::Failed(failure) => return Ran::Failed(failure),
            Outcome::Stopped(Stop::Interrupted(_)) => return Ran::Interrupted,
            // No other work waits for a turn, and no debugger watches for `vm.break`.
            Outcome::Yielded | Outcome::Stopped(_) => {}
        }
    }
}

/// The dispatch functions of a module, in order, and their exports.
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
        // Compilers of 2023 give neither count; later ones leave out counts of 0.
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

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str = "
vm.module @module version 0
vm.export @__init
vm.func @__init() -> () {
^bb0:
  vm.br ^bb1()
^bb1:
  vm.br ^bb1()
}
";

    #[test]
    fn an_initialiser_that_never_ends_is_ended() {
        let assembly = vmfb::assemble::assemble(ENDLESS.as_bytes()).unwrap();
        let bytes = FileBytes::from(assembly.image.to_bytes().unwrap());
        let range = 0..bytes.len();
        let data = vm::Buffer::of_file(bytes, range).unwrap();
        let loaded = VmvxExecutable::load(&data, &[], &ExecutionLimits::default());
        let status = loaded.map(drop).unwrap_err();
        assert_eq!(status.code, vm::StatusCode::ResourceExhausted, "{status}");
    }
}
