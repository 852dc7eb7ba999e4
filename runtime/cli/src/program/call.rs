//! A linked program and its calls.

use std::path::Path;

use abi::cconv::Signature;
use hal::{Host, Source, append_fences};
use vm::{
    Context, Failure, FunctionId, Invocation, ModuleIndex, Observer, Outcome, Status, StatusCode,
    Stop, Value,
};
use vmfb::Export;
use vmfb::FileBytes;

use super::callee::{Callee, CalleeKind};
use super::exports::declaration;
use super::structured::Structure;
use crate::failure::RunFailure;
use crate::modules::{ArgumentSnapshot, LoadedModules};

/// A linked program that has not run yet.
pub(crate) struct Program {
    pub(crate) context: Context,
    pub(crate) function: FunctionId,
    pub(crate) function_name: String,
    pub(crate) signature: Signature,
    pub(crate) inputs: Vec<Value>,
    /// The signature for nested arguments and results, if the flags ask for it.
    pub(crate) structure: Option<Structure>,
    /// The tensors that a native function may write into.
    pub(crate) snapshot: Option<ArgumentSnapshot>,
    /// What the user should know before it runs.
    pub(super) notes: Vec<String>,
    pub(crate) host: Host,
    pub(super) declaration: Option<String>,
    pub(super) modules: LoadedModules,
}

impl Program {
    /// A call without arguments of an export of the last module, in a context of its own.
    ///
    /// # Errors
    /// The modules cannot be linked, or the export cannot be called.
    pub(crate) fn new(
        modules: &LoadedModules,
        export: &Export,
        host: &Host,
        is_inspected: bool,
    ) -> Result<Self, crate::failure::Failure> {
        let context = modules.link(host, is_inspected)?;
        let last = u32::try_from(context.modules().count() - 1)?;
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
            snapshot: None,
            notes: Vec::new(),
            host: host.clone(),
            declaration: declaration(modules.main()?, export),
            modules: modules.clone(),
            context,
        })
    }

    /// The function that it calls.
    pub(crate) fn callee(&self) -> Callee {
        let export = self.modules.main().ok().and_then(|module| {
            let export = module.export_named(&self.function_name)?.1;
            Some(super::callee::kind(module, export))
        });
        let kind = export.unwrap_or(CalleeKind::Call);
        Callee { name: self.function_name.clone(), kind, export: None }
    }

    /// Makes calls go to another export of the last module from now on. Dispatch benchmarks get
    /// `batch`, others nothing.
    ///
    /// # Errors
    /// The export cannot be called.
    pub(crate) fn aim(
        &mut self,
        callee: &Callee,
        batch: u32,
    ) -> Result<(), crate::failure::Failure> {
        let Some(export) = &callee.export else { return Ok(()) };
        self.function = FunctionId { module: self.function.module, function: export.function };
        self.signature = self
            .context
            .signature(self.function)
            .ok_or_else(|| format!("NOT_FOUND; function '{}' cannot be called", export.name))?;
        self.function_name.clone_from(&export.name);
        self.declaration = declaration(self.modules.main()?, export);
        self.structure = None;
        self.inputs = match callee.kind {
            CalleeKind::Dispatch => vec![Value::I32(batch.cast_signed())],
            CalleeKind::Call | CalleeKind::Fenced => Vec::new(),
        };
        Ok(())
    }

    /// Whether its results are printed as JSON, so that standard output gets nothing else.
    pub(crate) fn prints_json(&self) -> bool {
        self.structure.as_ref().is_some_and(Structure::is_json)
    }

    /// Notes about the modules, for the user to read before they run.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let modules = self.modules.iter().filter(|_| !self.host.imitates_narrow_calls());
        let narrow = modules.filter_map(|module| vm::narrow_calls_note(module));
        self.notes.iter().cloned().chain(narrow).collect()
    }

    /// The mapped files that have changed while the program read its constants from them.
    pub(crate) fn overwritten_files(&self) -> impl Iterator<Item = &Path> {
        let modules = self.modules.iter().map(|module| module.file_bytes());
        let archives = self.host.parameters().sources().map(Source::bytes);
        modules.chain(archives).filter(|bytes| !bytes.is_intact()).filter_map(FileBytes::path)
    }

    /// Runs the initialisers of all modules.
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

    /// Calls the function with the inputs. The call can be repeated.
    pub(crate) fn call(
        &mut self,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Value>, RunFailure> {
        let mut inputs = self.inputs.clone();
        let module = self.context.bytecode_module(self.function.module);
        let function = module.and_then(|module| module.function(self.function.function));
        let finished = function.and_then(|function| append_fences(function, &mut inputs));
        // `bench` measures this, so texts of errors are made only after an error.
        let mut invocation = Invocation::new(&self.context, self.function, inputs)
            .map_err(|status| RunFailure::outside(status, self.notes()))?;
        let results = finish(&mut self.context, &mut invocation, observer);
        let results = results.map_err(|failure| self.failure(failure))?;
        match finished.map_or(Ok(true), |fence| fence.is_reached()) {
            Ok(true) => Ok(results),
            Ok(false) => Err(RunFailure::outside(
                Status::failed_precondition(
                    "the function returned, but nothing that it has submitted will signal its \
                     fence",
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

    /// A failure of its call, with what is known of the program.
    pub(crate) fn failure(&self, failure: Failure) -> RunFailure {
        RunFailure::new(failure, self.notes(), &self.context, &self.modules)
    }

    /// Notes on what the program is doing, in the words of IREE's tools.
    fn notes(&self) -> Vec<String> {
        let invoking = format!("invoking function '{}'", self.function_name);
        let declaration = self.declaration.as_ref().map(|it| format!("`{it}`"));
        [invoking].into_iter().chain(declaration).collect()
    }
}

/// Runs an invocation to its end. It resumes at once after a yield or a `vm.break`. A breakpoint is
/// an error: the commands that use this cannot resume from it.
pub(super) fn finish(
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
