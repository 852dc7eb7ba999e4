//! What to debug, and why a program cannot be debugged.

use std::collections::HashMap;
use std::path::PathBuf;

use debuginfo::SourceMap;
use hal::Config;
use vmfb::LoadError;

use crate::interrupt::InterruptHandle;

/// Where a module comes from.
#[derive(Clone, Debug)]
pub enum ModuleSource {
    /// A file; its debug companion, if any, lies beside it.
    Path(PathBuf),
    /// Bytes in memory.
    Memory {
        /// What to call it in messages.
        name: String,
        /// The module.
        bytes: Vec<u8>,
        /// The text of its debug companion.
        companion: Option<Vec<u8>>,
    },
}

/// What to debug.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The modules in the order of registration: later ones see earlier ones. The last one is the
    /// main module.
    pub modules: Vec<ModuleSource>,
    /// The function to call; may be left out if the main module exports one only.
    pub function: Option<String>,
    /// Its inputs as `iree-run-module` takes them.
    pub inputs: Vec<String>,
    /// Directories in which source files are looked for, in order.
    pub source_directories: Vec<PathBuf>,
    /// Where directories are now that the compiler knew by other names.
    pub source_map: SourceMap,
    /// Source files in memory, by the name that the modules know them by.
    pub sources: HashMap<String, String>,
    /// The device that the program sees.
    pub host: Config,
    /// Whether expressions may read this process's memory by address: `r0 as memref<?xf32>`.
    pub foreign_memory: bool,
    /// What will stop the running program. A restarted program keeps listening to the same one.
    pub interrupt: InterruptHandle,
}

/// Why a program cannot be debugged.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is nothing to run.
    #[error("no module to debug; name a .vmfb or a .mlir file")]
    NoModule,
    /// A module cannot be loaded.
    #[error("{name}: {source}")]
    Load {
        /// The module.
        name: String,
        /// Why.
        source: LoadError,
    },
    /// A module's bytecode breaks the rules.
    #[error("{name} does not verify:{}", list(defects))]
    Verify {
        /// The module.
        name: String,
        /// One line a defect.
        defects: Vec<String>,
    },
    /// The modules do not fit together.
    #[error(transparent)]
    Link(#[from] vm::LinkError),
    /// No function was named, and there is not exactly one.
    #[error("name the function to debug; {module} exports:{}", list(exports))]
    WhichFunction {
        /// The main module.
        module: String,
        /// What could be named.
        exports: Vec<String>,
    },
    /// There is no such function.
    #[error("there is no function {function:?}; {module} exports:{}", list(exports))]
    NoFunction {
        /// What was named.
        function: String,
        /// The main module.
        module: String,
        /// What could be named.
        exports: Vec<String>,
    },
    /// The inputs do not fit the function.
    #[error("{0}")]
    Inputs(String),
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
