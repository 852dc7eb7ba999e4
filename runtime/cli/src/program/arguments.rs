//! The flags that name a program, and its loading.

use std::path::PathBuf;

use debug::{LaunchOptions, ModuleSource};
use hal::{Host, NativeLibrary};
use values::parse_inputs;

use super::call::Program;
use super::device::DeviceArguments;
use super::exports::choose_export;
use super::stand_ins::stand_in;
use super::structured::StructuredArguments;
use crate::modules::{ArgumentSnapshot, LoadedModules, link_library, split_libraries};

/// The flags that name a program: modules, a function, its inputs.
#[derive(clap::Args)]
pub(crate) struct ProgramArguments {
    /// A module, `-` for standard input; each may import from the modules before it, and the last
    /// one has the function
    #[arg(long = "module", value_name = "MODULE.vmfb", required = true)]
    modules: Vec<PathBuf>,

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
    /// Loads and links the modules, finds the function and reads its inputs.
    ///
    /// # Errors
    /// Something that the flags name does not exist or does not fit.
    pub(crate) fn load(&self) -> Result<Program, String> {
        let (modules, libraries) = split_libraries(&self.modules);
        let mut config = self.device.config_with(&libraries)?;
        if let ([], [.., library]) = (modules.as_slice(), &config.libraries[..]) {
            return self.load_native(&Host::new(&config), &**library);
        }
        let modules =
            LoadedModules::open(&modules)?.with_debug_directory(self.debug_directory.clone());
        let export = choose_export(modules.main()?, self.function.as_deref())?.clone();
        let note = stand_in(&modules, &mut config)?;
        let host = Host::new(&config);
        let mut program = Program::new(&modules, &export, &host)?;
        program.notes.extend(note);
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

    /// The same program, as options for the debugger.
    ///
    /// # Errors
    /// A library or an archive of parameters cannot be opened.
    pub(crate) fn launch_options(&self) -> Result<LaunchOptions, String> {
        let (modules, libraries) = split_libraries(&self.modules);
        let beside = modules.iter().filter_map(|path| path.parent()).map(PathBuf::from);
        let source_directories = std::env::current_dir().into_iter().chain(beside).collect();
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
    fn load_native(&self, host: &Host, library: &dyn NativeLibrary) -> Result<Program, String> {
        let (context, function, function_name) =
            link_library(host, library, self.function.as_deref())?;
        let signature = context
            .signature(function)
            .ok_or_else(|| format!("NOT_FOUND; function '{function_name}' cannot be called"))?;
        let inputs = parse_inputs(host, &signature, &self.inputs)
            .map_err(|error| format!("{error}; parsing function inputs"))?;
        let snapshot = Some(ArgumentSnapshot::take(&inputs));
        Ok(Program {
            context,
            function,
            function_name,
            signature,
            inputs,
            snapshot,
            notes: Vec::new(),
            structure: None,
            host: host.clone(),
            declaration: None,
            modules: LoadedModules::default(),
        })
    }
}
