//! A program from the command line: modules, a function, its inputs. Shared by the commands that
//! run one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::cconv::Signature;
use debug::{LaunchOptions, ModuleSource};
use hal::{Config, DeviceKind, Host, NativeCode, NativeLibrary, Parameters, Source, append_fences};
use values::parse_inputs;
use vm::{
    Context, Failure, FunctionId, Invocation, ModuleIndex, Observer, Outcome, Status, StatusCode,
    Stop, Value,
};
use vmfb::Export;
use vmfb::{FileBytes, Module};

use crate::failure::RunFailure;
use crate::libraries::{self, Lent};
use crate::limits::LimitArguments;
use crate::modules::{LoadedModules, is_for_users};
use crate::structured::{Structure, StructuredArguments};

/// The flags that say what to run.
#[derive(clap::Args)]
pub(crate) struct ProgramArguments {
    /// A module, `-` for standard input; those named later may import from those named before, the
    /// last one has the function
    #[arg(long = "module", value_name = "MODULE.vmfb", required = true)]
    modules: Vec<PathBuf>,

    /// The exported function to call; may be left out if there is only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    #[command(flatten)]
    device: DeviceArguments,

    /// An argument, in order: 5, 0x10, 2.5, 2x2xf32=1,2,3,4, (null)
    #[arg(long = "input", value_name = "VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,

    #[command(flatten)]
    structured: StructuredArguments,
}

/// The flags that say what a program runs on.
#[derive(clap::Args)]
pub(crate) struct DeviceArguments {
    /// The device that programs see: local-sync (one thread) or local-task (all cores); given
    /// several times, they see as many
    #[arg(long = "device", value_name = "NAME", default_values_t = [DeviceKind::default()])]
    devices: Vec<DeviceKind>,

    /// Refuse to run machine code in modules: only bytecode runs
    #[arg(long = "no-native")]
    no_native: bool,

    /// An archive of parameters (.irpa, .gguf, .safetensors; .npy, .bin and .raw are one parameter
    /// each), for the scope that the program knows it by
    #[arg(long = "parameters", value_name = "[SCOPE=]FILE")]
    parameters: Vec<String>,

    /// How many threads local-task runs on; 0 is one for each core
    #[arg(long = "task_topology_group_count", alias = "task_topology_max_group_count")]
    #[arg(value_name = "COUNT", default_value_t = 0)]
    threads: usize,

    /// How IREE's tools read modules: accepted for their sake. Modules are read, the constants of
    /// large ones mapped
    #[arg(long = "module_mode", value_name = "MODE", hide = true)]
    #[arg(value_parser = ["preload", "mmap"])]
    module_mode: Option<String>,

    /// How IREE's tools read parameters: accepted for their sake. Small archives are read, large
    /// ones mapped
    #[arg(long = "parameter_mode", value_name = "MODE", hide = true)]
    #[arg(value_parser = ["preload", "file"])]
    parameter_mode: Option<String>,

    /// What a function of a native library (--module=lib.so) takes and gives, in MLIR; by default
    /// the text beside the library says it (lib.mlir)
    #[arg(long = "signature", value_name = "FUNC.FUNC", allow_hyphen_values = true)]
    signatures: Vec<String>,

    /// Pass in calls within a module what IREE's runtimes up to 3.12 pass: the lower 32 bits of
    /// each number
    #[arg(long = "imitate-narrow-calls", alias = "imitate_narrow_calls")]
    imitate_narrow_calls: bool,

    /// Give the program guarded memory: an access after the end of a buffer fails where it happens,
    /// and memory that nothing has written is told apart
    #[arg(long = "guard")]
    guard: bool,

    #[command(flatten)]
    limits: LimitArguments,
}

impl DeviceArguments {
    /// What a program finds around it, to be made, with native libraries that it can import from.
    pub(crate) fn config_with(&self, libraries: &[PathBuf]) -> Result<Config, String> {
        let mut config = self.config()?;
        if self.no_native && !libraries.is_empty() {
            return Err("PERMISSION_DENIED; --no-native refuses native libraries".to_owned());
        }
        let opened = libraries.iter().map(|path| ffi::open(path, &self.signatures));
        config.libraries = opened.collect::<Result<_, _>>()?;
        Ok(config)
    }

    /// What a program finds around it, to be made.
    pub(crate) fn config(&self) -> Result<Config, String> {
        let native_code = if self.no_native { NativeCode::Refused } else { NativeCode::Allowed };
        let parameters = Parameters::open(&self.parameters).map_err(|status| status.to_string())?;
        let parameters = Arc::new(parameters);
        Ok(Config {
            device: self.devices.first().copied().unwrap_or_default(),
            more_devices: self.devices.iter().skip(1).copied().collect(),
            threads: self.threads,
            native_code,
            parameters,
            libraries: Vec::new(),
            limits: self.limits.limits(),
            imitates_narrow_calls: self.imitate_narrow_calls,
            is_guarded: self.guard,
        })
    }
}

/// A linked program that has not run yet.
pub(crate) struct Program {
    pub(crate) context: Context,
    pub(crate) function: FunctionId,
    pub(crate) function_name: String,
    pub(crate) signature: Signature,
    pub(crate) inputs: Vec<Value>,
    /// The signature by which nested values go in and out, where the flags ask for it.
    pub(crate) structure: Option<Structure>,
    /// What a native function may change.
    pub(crate) lent: Option<Lent>,
    pub(crate) host: Host,
    declaration: Option<String>,
    modules: LoadedModules,
}

impl ProgramArguments {
    /// Loads and links the modules, finds the function and reads its inputs.
    pub(crate) fn load(&self) -> Result<Program, String> {
        let (modules, libraries) = libraries::split(&self.modules);
        let host = Host::new(&self.device.config_with(&libraries)?);
        if let ([], [.., library]) = (modules.as_slice(), host.libraries()) {
            return self.load_native(&host, &**library);
        }
        let modules = LoadedModules::open(&modules)?;
        let export = choose_export(modules.main()?, self.function.as_deref())?.clone();
        let mut program = Program::new(&modules, &export, &host)?;
        if let Some(structure) = self.structured.structure(modules.main()?, &export) {
            program.inputs = self.structured.pack(
                &host,
                &structure,
                &program.signature.arguments,
                &self.inputs,
            )?;
            program.structure = Some(structure);
            return Ok(program);
        }
        program.inputs = parse_inputs(&host, &program.signature, &self.inputs)
            .map_err(|error| format!("{error}; parsing function inputs"))?;
        Ok(program)
    }

    /// The same program for the debugger to load.
    pub(crate) fn launch_options(&self) -> Result<LaunchOptions, String> {
        let (modules, libraries) = libraries::split(&self.modules);
        let beside = modules.iter().filter_map(|path| path.parent()).map(PathBuf::from);
        let source_directories = std::env::current_dir().into_iter().chain(beside).collect();
        Ok(LaunchOptions {
            function: self.function.clone().filter(|name| !name.is_empty()),
            inputs: self.inputs.clone(),
            source_directories,
            host: self.device.config_with(&libraries)?,
            modules: modules.into_iter().map(ModuleSource::Path).collect(),
            ..LaunchOptions::default()
        })
    }

    /// A call of a function of a native library, without any bytecode.
    fn load_native(&self, host: &Host, library: &dyn NativeLibrary) -> Result<Program, String> {
        let (context, function, function_name) =
            libraries::link(host, library, self.function.as_deref())?;
        let signature = context
            .signature(function)
            .ok_or_else(|| format!("NOT_FOUND; function '{function_name}' cannot be called"))?;
        let inputs = parse_inputs(host, &signature, &self.inputs)
            .map_err(|error| format!("{error}; parsing function inputs"))?;
        let lent = Some(Lent::new(&inputs));
        Ok(Program {
            context,
            function,
            function_name,
            signature,
            inputs,
            lent,
            structure: None,
            host: host.clone(),
            declaration: None,
            modules: LoadedModules::default(),
        })
    }
}

/// The export with the given name; without one, the only export that is meant for users: those
/// with `__` before the name or `$` in it are the compiler's.
fn choose_export<'a>(module: &'a Module, name: Option<&str>) -> Result<&'a Export, String> {
    Ok(match name.filter(|name| !name.is_empty()) {
        Some(name) => module.export_named(name).map(|(_, export)| export).ok_or_else(|| {
            format!(
                "NOT_FOUND; no function `{name}` exported by module `{}`; it exports {}; looking up \
                 function '{name}'",
                module.name(),
                list_exports(module)
            )
        })?,
        None => {
            let mut candidates =
                module.exports().iter().filter(|export| is_for_users(&export.name));
            match (candidates.next(), candidates.next()) {
                (Some(only), None) => only,
                (None, _) => {
                    return Err("INVALID_ARGUMENT; no exported functions found in module; at \
                                least one must be present"
                        .to_owned());
                }
                (Some(_), Some(_)) => {
                    return Err(format!(
                        "INVALID_ARGUMENT; more than one exported function present; --function= \
                         must be specified explicitly; the module exports {}",
                        list_exports(module)
                    ));
                }
            }
        }
    })
}

/// What the compiler says of a function that it has wrapped.
fn declaration(module: &Module, export: &Export) -> Option<String> {
    let attributes = &module.function(export.function)?.signature.attributes;
    let found = attributes.iter().find(|attribute| attribute.key == "iree.abi.declaration");
    found.map(|attribute| attribute.value.clone())
}

fn list_exports(module: &Module) -> String {
    let names: Vec<String> = module
        .exports()
        .iter()
        .filter(|export| is_for_users(&export.name))
        .map(|export| format!("`{}`", export.name))
        .collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

impl Program {
    /// A call without arguments of an export of the last module, in a context of its own.
    pub(crate) fn new(
        modules: &LoadedModules,
        export: &Export,
        host: &Host,
    ) -> Result<Self, String> {
        let context = modules.link(host)?;
        let last = u32::try_from(context.modules().count() - 1).map_err(|e| e.to_string())?;
        let function = FunctionId { module: ModuleIndex(last), function: export.function };
        let signature = context
            .signature(function)
            .ok_or_else(|| format!("NOT_FOUND; function '{}' cannot be called", export.name))?;
        Ok(Self {
            function,
            function_name: export.name.clone(),
            signature,
            inputs: Vec::new(),
            structure: None,
            lent: None,
            host: host.clone(),
            declaration: declaration(modules.main()?, export),
            modules: modules.clone(),
            context,
        })
    }

    /// What there is to know of its modules before they run.
    pub(crate) fn remarks(&self) -> Vec<String> {
        if self.host.imitates_narrow_calls() {
            return Vec::new();
        }
        self.modules.iter().filter_map(|module| vm::narrow_calls_note(module)).collect()
    }

    /// The files that were written while the program read its constants from them.
    pub(crate) fn spoiled_files(&self) -> impl Iterator<Item = &Path> {
        let modules = self.modules.iter().map(|module| module.file_bytes());
        let archives = self.host.parameters().sources().map(Source::bytes);
        modules.chain(archives).filter(|bytes| !bytes.is_intact()).filter_map(FileBytes::path)
    }

    /// Runs the initialisers of all modules to their end.
    pub(crate) fn initialize(
        &mut self,
        observer: Option<&mut dyn Observer>,
    ) -> Result<(), RunFailure> {
        let mut invocation = Invocation::initialize(&self.context);
        finish(&mut self.context, &mut invocation, observer).map(drop).map_err(|mut failure| {
            failure.status = self.host.device().explain(failure.status);
            let notes = vec!["calling module initializers".to_owned()];
            RunFailure::new(failure, notes, &self.context, &self.modules)
        })
    }

    /// Calls the function with the inputs and runs it to its end. May be done again.
    pub(crate) fn call(
        &mut self,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Value>, RunFailure> {
        let mut inputs = self.inputs.clone();
        let module = self.context.bytecode_module(self.function.module);
        let function = module.and_then(|module| module.function(self.function.function));
        let done = function.and_then(|function| append_fences(function, &mut inputs));
        // The texts of errors are made when there is one: `bench` measures this.
        let mut invocation = Invocation::new(&self.context, self.function, inputs)
            .map_err(|status| RunFailure::outside(status, self.notes()))?;
        let results = finish(&mut self.context, &mut invocation, observer).map_err(|failure| {
            RunFailure::new(failure, self.notes(), &self.context, &self.modules)
        })?;
        match done.map_or(Ok(true), |fence| fence.is_reached()) {
            Ok(true) => Ok(results),
            Ok(false) => Err(RunFailure::outside(
                Status::failed_precondition(
                    "the function returned, but nothing that it has submitted will signal its fence",
                ),
                self.notes(),
            )),
            Err(status) => {
                let mut notes = self.notes();
                notes.push("waiting on finish fence".to_owned());
                Err(RunFailure::outside(status, notes))
            }
        }
    }

    /// What is being done, as IREE's tools say it.
    fn notes(&self) -> Vec<String> {
        let invoking = format!("invoking function '{}'", self.function_name);
        let declaration = self.declaration.as_ref().map(|it| format!("`{it}`"));
        [invoking].into_iter().chain(declaration).collect()
    }
}

/// Runs an invocation to its end: one that yields goes on at once, `vm.break` is passed over. A
/// breakpoint is an error: the commands that use this have nobody who would go on from it.
fn finish(
    context: &mut Context,
    invocation: &mut Invocation,
    mut observer: Option<&mut dyn Observer>,
) -> Result<Vec<Value>, Failure> {
    loop {
        let outcome = match &mut observer {
            Some(observer) => invocation.observe(context, *observer),
            None => invocation.run(context),
        };
        match outcome {
            Outcome::Completed(results) => return Ok(results),
            Outcome::Failed(failure) => return Err(failure),
            Outcome::Stopped(Stop::Breakpoint(position)) => {
                let function = context.function_name(position.function);
                let message =
                    format!("the breakpoint in {function} at {} was hit", position.offset);
                let status = Status::new(StatusCode::Aborted, message);
                return Err(Failure { status, backtrace: Vec::new() });
            }
            Outcome::Yielded | Outcome::Stopped(_) => {}
        }
    }
}
