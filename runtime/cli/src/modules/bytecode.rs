//! Bytecode modules that the command line names: opened, verified, and linked with native ones.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use debug::ParameterTypes;
use debuginfo::{Companion, DebugFile};
use hal::{Host, Parameters};
use vm::Context;
use vmfb::verify::{VerifiedModule, verify};
use vmfb::{LoadError, Module};

use super::error::ModuleError;

/// Modules in the order of the command line. Each may import from the modules before it.
#[derive(Clone, Default)]
pub(crate) struct LoadedModules {
    modules: Vec<(PathBuf, VerifiedModule)>,
    debug_directory: Option<PathBuf>,
}

impl LoadedModules {
    /// Opens and verifies modules.
    ///
    /// # Errors
    /// A file cannot be read, or is no module that can be executed.
    pub(crate) fn open<'a>(
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<Self, ModuleError> {
        let mut modules: Vec<(PathBuf, VerifiedModule)> = Vec::new();
        for path in paths {
            let verified = verify(open(path)?).map_err(|defects| {
                let defects = defects.iter().map(ToString::to_string).collect();
                ModuleError::NotVerified { path: path.clone(), defects }
            })?;
            modules.push((path.clone(), verified));
        }
        Ok(Self { modules, debug_directory: None })
    }

    /// Sets the directory of debug files that do not lie beside their modules.
    pub(crate) fn with_debug_directory(mut self, directory: Option<PathBuf>) -> Self {
        self.debug_directory = directory;
        self
    }

    /// The debug companion of a module, if it can be used.
    pub(crate) fn companion(&self, module: &Arc<Module>) -> Option<Companion> {
        let directory = self.debug_directory.as_deref();
        let path = self.path(module)?;
        Companion::of_module(path, module.file_bytes(), directory).ok().flatten()
    }

    /// The debug file of a module that may be for a device that is not here, if it can be used.
    pub(crate) fn debug_file(&self, module: &Arc<Module>) -> Option<DebugFile> {
        let directory = self.debug_directory.as_deref();
        let path = self.path(module).filter(|_| debug::may_need_stand_ins(module))?;
        DebugFile::for_module(path, module.file_bytes(), directory).ok().flatten()
    }

    /// The last module, which has the function to call.
    pub(crate) fn main(&self) -> Result<&Arc<Module>, ModuleError> {
        let last = self.modules.last().ok_or(ModuleError::NoModule)?;
        Ok(last.1.module())
    }

    /// All modules.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Module>> {
        self.modules.iter().map(|(_, module)| module.module())
    }

    /// The file of a module.
    pub(crate) fn path(&self, module: &Arc<Module>) -> Option<&Path> {
        let found = self.modules.iter().find(|(_, other)| Arc::ptr_eq(other.module(), module));
        found.map(|(path, _)| path.as_path())
    }

    /// Checks that archives have the parameters of the modules as tensors of the right types.
    ///
    /// # Errors
    /// They have one of another type.
    pub(crate) fn check_parameters(&self, parameters: &Parameters) -> Result<(), ModuleError> {
        if !parameters.has_types() {
            return Ok(());
        }
        let directory = self.debug_directory.as_deref();
        self.modules.iter().try_for_each(|(path, verified)| {
            let module = verified.module();
            let types = ParameterTypes::of_module(module, Some(path), directory, &[]);
            Ok(types.check(parameters)?)
        })
    }

    /// A new context of the host's native modules, followed by these modules. Of an inspected one,
    /// the device remembers what it has done.
    pub(crate) fn link(&self, host: &Host, is_inspected: bool) -> Result<Context, ModuleError> {
        let mut builder = host.context();
        if is_inspected {
            builder = builder.inspected();
        }
        for module in hal::modules_for(host, self.iter().map(|module| &**module)) {
            builder = builder.add_native(module);
        }
        for (_, module) in &self.modules {
            builder = builder.add_bytecode(module.clone());
        }
        builder.link().map_err(|error| ModuleError::NotLinked { error })
    }
}

/// Loads a module, with its path in the error; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Module, ModuleError> {
    let text = path.to_string_lossy();
    if [".so@", ".dylib@", ".dll@"].iter().any(|mark| text.contains(mark)) && !path.exists() {
        return Err(ModuleError::NativeModule(text.into_owned()));
    }
    let module = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(ModuleError::StandardInput)?;
        Module::from_bytes(bytes)
    } else {
        Module::open(path)
    };
    module.map_err(|error| match error {
        LoadError::Io { .. } => ModuleError::NotRead(error),
        source => ModuleError::NotLoaded { path: path.to_owned(), source },
    })
}

/// Whether users may call an export. Names that begin with `__` or contain `$` are the compiler's.
pub(crate) fn is_for_users(name: &str) -> bool {
    !name.starts_with("__") && !name.contains('$')
}
