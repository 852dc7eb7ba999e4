//! The flags of the commands that debug a program: its modules, what is called, what it runs on,
//! and where its sources are.

use std::path::PathBuf;

use debug::{LaunchOptions, ModuleSource};
use hal::{DeviceKind, Host, NativeCode};

use super::device::DeviceArguments;
use super::stand_ins::announcer;
use crate::failure::Failure;
use crate::modules::{calling_module, link_library, split_libraries};

/// The flags for a program that is debugged. The module that stands alone is the command's own.
#[derive(clap::Args)]
pub(crate) struct DebuggeeArguments {
    /// A module; each may import from the modules before it, and the last one has the function
    #[arg(long = "module", value_name = "MODULE.vmfb")]
    modules: Vec<PathBuf>,

    /// The exported function to call; optional if there is only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// An argument, in order: 5, 0x10, 2.5, 2x2xf32=1,2,3,4, @x.npy, (null)
    #[arg(long = "input", value_name = "VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,

    #[command(flatten)]
    device: DeviceArguments,

    /// The directory of debug files that do not lie beside their modules
    #[arg(long = "debug-directory", value_name = "DIRECTORY")]
    debug_directory: Option<PathBuf>,

    /// A directory to search for source files
    #[arg(long = "directory", value_name = "DIRECTORY")]
    directories: Vec<PathBuf>,
}

impl DebuggeeArguments {
    /// The first device that the program sees.
    pub(crate) fn device(&self) -> DeviceKind {
        self.device.kind()
    }

    /// How the program is launched; `last` is the module that stands alone, and `made` has the path
    /// of the module that is meant by a path. Without a module there are no options.
    ///
    /// # Errors
    /// A library or an archive of parameters cannot be opened, or `made` fails.
    pub(crate) fn launch_options(
        &self,
        last: Option<&PathBuf>,
        made: impl FnMut(PathBuf) -> Result<PathBuf, Failure>,
    ) -> Result<Option<LaunchOptions>, Failure> {
        let paths: Vec<PathBuf> = self.modules.iter().chain(last).cloned().collect();
        let (modules, libraries) = split_libraries(&paths);
        if modules.is_empty() && libraries.is_empty() {
            return Ok(None);
        }
        if modules.is_empty() {
            return self.library_call(&libraries).map(Some);
        }
        self.device.notes().iter().for_each(|note| errln!("note: {note}"));
        let beside = modules.iter().filter_map(|path| path.parent()).map(PathBuf::from);
        let here = std::env::current_dir().into_iter();
        let directories = self.directories.iter().cloned().chain(beside).chain(here).collect();
        let modules: Vec<PathBuf> =
            modules.into_iter().map(made).collect::<Result<_, Failure>>()?;
        Ok(Some(LaunchOptions {
            modules: modules.into_iter().map(ModuleSource::Path).collect(),
            function: self.function.clone(),
            inputs: self.inputs.clone(),
            host: self.device.config_with(&libraries)?,
            debug_directory: self.debug_directory.clone(),
            source_directories: directories,
            announcer: announcer(),
            ..LaunchOptions::default()
        }))
    }

    /// Whether no flag says anything about the program, besides what it may run.
    pub(crate) fn is_unspecified(&self) -> bool {
        let Self { modules, function, inputs, device, debug_directory, directories } = self;
        modules.is_empty()
            && function.is_none()
            && inputs.is_empty()
            && device.is_unspecified()
            && debug_directory.is_none()
            && directories.is_empty()
    }

    /// How machine code may run, of a program that others may have sent or not.
    pub(crate) fn native_code(&self, is_sent: bool) -> NativeCode {
        self.device.native_code(is_sent)
    }

    /// A call of a function of the last library, without any module.
    fn library_call(&self, libraries: &[PathBuf]) -> Result<LaunchOptions, Failure> {
        self.device.notes().iter().for_each(|note| errln!("note: {note}"));
        let config = self.device.config_with(libraries)?;
        let library = config.libraries.last().ok_or("no library is there")?.clone();
        let host = Host::new(&config);
        let (context, function, name) = link_library(&host, &*library, self.function.as_deref())?;
        let signature = context
            .signature(function)
            .ok_or_else(|| format!("NOT_FOUND; function '{name}' cannot be called"))?;
        let bytes = calling_module(library.name(), &name, &signature)?;
        let module_name = format!("call of @{}.{name}", library.name());
        Ok(LaunchOptions {
            modules: vec![ModuleSource::memory(module_name, bytes, None)],
            function: Some(name),
            inputs: self.inputs.clone(),
            host: config,
            announcer: announcer(),
            ..LaunchOptions::default()
        })
    }
}
