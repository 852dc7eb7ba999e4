//! The flags that name a program, and its loading.

use std::cell::OnceCell;
use std::path::PathBuf;

use debug::{LaunchOptions, ModuleSource};
use hal::{Host, NativeCode, NativeLibrary};
use values::parse_inputs;
use vmfb::Export;

use super::call::Program;
use super::callee::Callee;
use super::device::DeviceArguments;
use super::exports::choose_export;
use super::sources::SourceArguments;
use super::stand_ins::stand_in;
use super::structured::StructuredArguments;
use crate::failure::Failure;
use crate::modules::{ArgumentSnapshot, LoadedModules, link_library, split_libraries};

/// The flags that name a program: modules, a function, its inputs.
#[derive(clap::Args)]
pub(crate) struct ProgramArguments {
    /// A module, `-` for standard input; each may import from the modules before it, and the last
    /// one has the function
    #[arg(long = "module", value_name = "MODULE.vmfb", required_unless_present = "program")]
    modules: Vec<PathBuf>,

    /// The last module; or a source or an ONNX model, which is compiled first
    #[arg(value_name = "MODULE.vmfb|INPUT.mlir|MODEL.onnx")]
    program: Option<PathBuf>,

    #[command(flatten)]
    sources: SourceArguments,

    /// The modules, after sources were compiled.
    #[arg(skip)]
    made: OnceCell<Vec<PathBuf>>,

    /// The exported function to call; optional if there is only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    #[command(flatten)]
    device: DeviceArguments,

    /// An argument, in order: 5, 0x10, 2.5, 2x2xf32=1,2,3,4, (null)
    #[arg(long = "input", value_name = "VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,

    /// The directory of debug files that do not lie beside their modules
    #[arg(long = "debug-directory", value_name = "DIRECTORY")]
    debug_directory: Option<PathBuf>,

    #[command(flatten)]
    structured: StructuredArguments,
}

impl ProgramArguments {
    /// Whether its machine code runs in a sandbox.
    pub(crate) fn is_sandboxed(&self) -> bool {
        self.device.native_code(false) == NativeCode::Sandboxed
    }

    /// Loads and links the modules, finds the function and reads its inputs.
    ///
    /// # Errors
    /// Something that the flags name does not exist or does not fit.
    pub(crate) fn load(&self) -> Result<Program, Failure> {
        self.load_as(false)
    }

    /// The same, inspected or not: of an inspected program, the device remembers what it has done.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn load_as(&self, is_inspected: bool) -> Result<Program, Failure> {
        let (modules, libraries) = split_libraries(self.paths()?);
        if modules.is_empty() && !libraries.is_empty() {
            let config = self.device.config_with(&libraries)?;
            let library = config.libraries.last().ok_or("no library is there")?;
            return self.load_native(&Host::new(&config), &**library);
        }
        self.load_export(&self.open(&modules)?, &libraries, is_inspected)
    }

    /// Compiles what is named by its source; `on_line` gets what the compiler says.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub(crate) fn compile(&self, on_line: &mut dyn FnMut(&str)) -> Result<&[PathBuf], Failure> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let device = self.device.kind();
        let named = self.named().map(|path| self.sources.module(path.clone(), device, on_line));
        let made = named.collect::<Result<Vec<_>, Failure>>()?;
        Ok(self.made.get_or_init(|| made))
    }

    /// The paths of modules and libraries.
    fn paths(&self) -> Result<&[PathBuf], Failure> {
        self.compile(&mut |line| errln!("{line}"))
    }

    /// The paths as they are named.
    fn named(&self) -> impl Iterator<Item = &PathBuf> {
        self.modules.iter().chain(&self.program)
    }

    fn open(&self, paths: &[PathBuf]) -> Result<LoadedModules, Failure> {
        Ok(LoadedModules::open(paths)?.with_debug_directory(self.debug_directory.clone()))
    }

    /// The program that calls the export of the flags, with its inputs.
    fn load_export(
        &self,
        modules: &LoadedModules,
        libraries: &[PathBuf],
        is_inspected: bool,
    ) -> Result<Program, Failure> {
        let export = choose_export(modules.main()?, self.function.as_deref())?.clone();
        let mut program = self.linked(modules, &export, libraries, is_inspected)?;
        if let Some(structure) = self.structured.structure(modules.main()?, &export)? {
            program.inputs = self.structured.pack(
                &program.host,
                &structure,
                &program.signature.arguments,
                &self.inputs,
            )?;
            program.structure = Some(structure);
            return Ok(program);
        }
        program.inputs = parse_inputs(&program.host, &program.signature, &self.inputs)
            .map_err(|error| format!("{error}; parsing function inputs"))?;
        Ok(program)
    }

    /// The program that calls an export, without inputs.
    fn linked(
        &self,
        modules: &LoadedModules,
        export: &Export,
        libraries: &[PathBuf],
        is_inspected: bool,
    ) -> Result<Program, Failure> {
        let mut config = self.device.config_with(libraries)?;
        modules.check_parameters(&config.parameters)?;
        let note = stand_in(modules, &mut config)?;
        let mut program = Program::new(modules, export, &Host::new(&config), is_inspected)?;
        program.notes.extend(note.into_iter().chain(self.device.notes()));
        Ok(program)
    }

    /// Loads the program, and says what can be measured in it: the function that `--function=`
    /// names, or all exports that need no arguments.
    ///
    /// # Errors
    /// Something that the flags name does not exist or does not fit.
    pub(crate) fn load_benchmarks(&self) -> Result<(Program, Vec<Callee>), Failure> {
        let is_named = self.function.as_deref().is_some_and(|name| !name.is_empty());
        let (paths, libraries) = split_libraries(self.paths()?);
        if is_named || paths.is_empty() {
            let program = self.load()?;
            let callee = program.callee();
            return Ok((program, vec![callee]));
        }
        let modules = self.open(&paths)?;
        let callees = Callee::of_module(modules.main()?);
        let Some(export) = callees.first().and_then(|callee| callee.export.clone()) else {
            // The only function, if there is only one, with the arguments of the command line.
            let program = self.load_export(&modules, &libraries, false)?;
            let callee = program.callee();
            return Ok((program, vec![callee]));
        };
        let program = self.linked(&modules, &export, &libraries, false)?;
        Ok((program, callees))
    }

    /// The same program, as options for the debugger.
    ///
    /// # Errors
    /// A library or an archive of parameters cannot be opened.
    pub(crate) fn launch_options(&self) -> Result<LaunchOptions, Failure> {
        let (modules, libraries) = split_libraries(self.paths()?);
        let beside = self.named().filter_map(|path| path.parent()).map(PathBuf::from);
        let source_directories = beside.into_iter().chain(std::env::current_dir()).collect();
        Ok(LaunchOptions {
            function: self.function.clone().filter(|name| !name.is_empty()),
            inputs: self.inputs.clone(),
            debug_directory: self.debug_directory.clone(),
            source_directories,
            host: self.device.config_with(&libraries)?,
            modules: modules.into_iter().map(ModuleSource::Path).collect(),
            ..LaunchOptions::default()
        })
    }

    /// A call of a function of a native library, without any bytecode.
    fn load_native(&self, host: &Host, library: &dyn NativeLibrary) -> Result<Program, Failure> {
        let (context, function, function_name) =
            link_library(host, library, self.function.as_deref())?;
        let signature = context
            .signature(function)
            .ok_or_else(|| format!("NOT_FOUND; function '{function_name}' cannot be called"))?;
        let declared = library.declared(&function_name);
        let structure = declared.and_then(|declared| self.structured.structure_of(declared));
        let inputs = match &structure {
            Some(it) => self.structured.pack(host, it, &signature.arguments, &self.inputs)?,
            None => parse_inputs(host, &signature, &self.inputs)
                .map_err(|error| format!("{error}; parsing function inputs"))?,
        };
        let snapshot = Some(ArgumentSnapshot::take(&inputs));
        Ok(Program {
            context,
            function,
            function_name,
            signature,
            inputs,
            snapshot,
            notes: self.device.notes(),
            structure,
            host: host.clone(),
            declaration: None,
            modules: LoadedModules::default(),
        })
    }
}
