//! A program from the command line: modules, a function, its inputs. Shared by the commands that run one.

use std::path::PathBuf;
use std::sync::Arc;

use abi::cconv::Signature;
use vm::{
    Context, Failure, FunctionId, Invocation, ModuleIndex, Observer, Outcome, Status, StatusCode,
    Stop, Value,
};
use vmfb::{LoadError, Module};

use crate::backtrace::backtrace;

/// The flags that say what to run.
#[derive(clap::Args)]
pub(crate) struct ProgramArguments {
    /// A module; those named later may import from those named before, the last one has the function
    #[arg(long = "module", value_name = "MODULE.vmfb", required = true)]
    modules: Vec<PathBuf>,

    /// The exported function to call; may be left out if there is only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// An argument, in order: 5, 0x10, 2.5, (null)
    #[arg(long = "input", value_name = "VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,
}

/// A linked program that has not run yet.
pub(crate) struct Program {
    pub(crate) context: Context,
    pub(crate) function: FunctionId,
    pub(crate) function_name: String,
    pub(crate) signature: Signature,
    pub(crate) inputs: Vec<Value>,
    declaration: Option<String>,
    modules: Vec<(PathBuf, Arc<Module>)>,
}

impl ProgramArguments {
    /// Loads and links the modules, finds the function and reads its inputs.
    pub(crate) fn load(&self) -> Result<Program, String> {
        let mut builder = Context::builder();
        let mut providers: Vec<(PathBuf, Arc<Module>)> = Vec::new();
        for path in &self.modules {
            let verified = vmfb::verify::verify(open(path)?).map_err(|defects| {
                let lines: Vec<String> = defects.iter().map(ToString::to_string).collect();
                format!("{}: {}", path.display(), lines.join("\n  "))
            })?;
            require_providers(verified.module(), &providers)?;
            providers.push((path.clone(), Arc::clone(verified.module())));
            builder = builder.add_bytecode(verified);
        }
        let (_, main) = providers.last().ok_or("no module specified; use --module=file.vmfb")?;
        let main = choose_function(main, self.function.as_deref())?;
        let context = builder.link().map_err(|error| format!("NOT_FOUND; {error}"))?;
        let last = u32::try_from(self.modules.len() - 1).map_err(|error| error.to_string())?;
        let function = FunctionId { module: ModuleIndex(last), function: main.ordinal };
        let signature = context
            .signature(function)
            .ok_or_else(|| format!("NOT_FOUND; function '{}' cannot be called", main.name))?;
        let inputs = vm::text::parse_inputs(&signature, &self.inputs)
            .map_err(|error| format!("{error}; parsing function inputs"))?;
        Ok(Program {
            context,
            function,
            function_name: main.name,
            signature,
            inputs,
            declaration: main.declaration,
            modules: providers,
        })
    }
}

/// Loads a module, with its path in the error.
pub(crate) fn open(path: &std::path::Path) -> Result<Module, String> {
    Module::open(path).map_err(|error| match error {
        LoadError::Io { .. } => error.to_string(),
        other => format!("{}: {other}", path.display()),
    })
}

/// Refuses a module that imports from modules which nobody loaded, and names what it misses: such
/// modules are IREE's own (`hal` and its kin) or want another `--module=` before them.
fn require_providers(module: &Module, providers: &[(PathBuf, Arc<Module>)]) -> Result<(), String> {
    let mut missing: Vec<&str> = Vec::new();
    for import in module.imports().iter().filter(|import| !import.is_optional) {
        let (provider, _) = import.split_name();
        if !providers.iter().any(|(_, module)| module.name() == provider) {
            missing.push(&import.full_name);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let advice = if vm::needs_device(module) {
        "devices are not supported by this build yet: it runs modules that compute with scalars, \
         buffers and lists only"
    } else {
        "load the modules that provide them with --module= before this one"
    };
    Err(format!(
        "NOT_FOUND; module `{}` needs {} imported functions that no loaded module provides; \
         {advice}\n  missing: {}",
        module.name(),
        missing.len(),
        missing.join(", ")
    ))
}

struct Choice {
    ordinal: vmfb::FunctionOrdinal,
    name: String,
    declaration: Option<String>,
}

/// The export with the given name; without one, the only export that is meant for users: those
/// with `__` before the name or `$` in it are the compiler's.
fn choose_function(module: &Module, name: Option<&str>) -> Result<Choice, String> {
    let export = match name.filter(|name| !name.is_empty()) {
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
    };
    let attributes = module
        .function(export.function)
        .map_or(&[][..], |function| function.signature.attributes.as_slice());
    let declaration = attributes
        .iter()
        .find(|attribute| attribute.key == "iree.abi.declaration")
        .map(|attribute| attribute.value.clone());
    Ok(Choice { ordinal: export.function, name: export.name.clone(), declaration })
}

fn is_for_users(name: &str) -> bool {
    !name.starts_with("__") && !name.contains('$')
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
    /// Runs the initialisers of all modules to their end.
    pub(crate) fn initialize(&mut self, observer: Option<&mut dyn Observer>) -> Result<(), String> {
        let mut invocation = Invocation::initialize(&self.context);
        finish(&mut self.context, &mut invocation, observer)
            .map(drop)
            .map_err(|failure| self.describe(&failure, "calling module initializers", None))
    }

    /// Calls the function with the inputs and runs it to its end. May be done again.
    pub(crate) fn call(
        &mut self,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Value>, String> {
        // The texts of errors are made when there is one: `bench` measures this.
        let mut invocation = Invocation::new(&self.context, self.function, self.inputs.clone())
            .map_err(|status| {
                annotate(&status.to_string(), &self.what(), self.declaration.as_deref())
            })?;
        finish(&mut self.context, &mut invocation, observer)
            .map_err(|failure| self.describe(&failure, &self.what(), self.declaration.as_deref()))
    }

    fn what(&self) -> String {
        format!("invoking function '{}'", self.function_name)
    }

    /// The failure as one text: status, what was done, where.
    fn describe(&self, failure: &Failure, what: &str, declaration: Option<&str>) -> String {
        let mut text = annotate(&failure.status.to_string(), what, declaration);
        text.push_str(&backtrace(failure, &self.modules));
        text
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

fn annotate(status: &str, what: &str, declaration: Option<&str>) -> String {
    match declaration {
        Some(declaration) => format!("{status}; {what}; `{declaration}`"),
        None => format!("{status}; {what}"),
    }
}
