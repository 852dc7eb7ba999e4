//! Launch options, and the errors of a launch.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use compile::Cancellation;
use debuginfo::{PackedDebugFile, SourceMap};
use hal::{Config, Keeps, Room};
use values::InputFiles;
use vmfb::{FileBytes, LoadError};

use crate::interrupt::{InterruptHandle, Waiting};
use crate::target::parameter_types::OtherParameter;
use crate::target::recorded::Expected;
use crate::twins::stand_ins::{Announcer, NoStandIns};

/// The origin of a module.
#[derive(Clone, Debug)]
pub enum ModuleSource {
    /// A file; its debug file lies beside it or in [`LaunchOptions::debug_directory`].
    Path(PathBuf),
    /// Bytes in memory.
    Memory {
        /// Its name in messages.
        name: String,
        /// The module.
        bytes: FileBytes,
        /// The text of its debug companion.
        companion: Option<Vec<u8>>,
        /// Its debug file, which goes before.
        debug_file: Option<PackedDebugFile>,
    },
}

impl ModuleSource {
    /// A module in memory, with the text of its debug companion, if there is one.
    #[must_use]
    pub fn memory(
        name: impl Into<String>,
        bytes: impl Into<FileBytes>,
        companion: Option<Vec<u8>>,
    ) -> Self {
        Self::Memory { name: name.into(), bytes: bytes.into(), companion, debug_file: None }
    }
}

/// What to debug.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The modules in the order of registration: later ones see earlier ones. The last one is the
    /// main module.
    pub modules: Vec<ModuleSource>,
    /// The function to call; not needed if the main module exports only one.
    pub function: Option<String>,
    /// The inputs, in the syntax of `iree-run-module`.
    pub inputs: Vec<String>,
    /// Where the files are that the inputs name.
    pub input_files: InputFiles,
    /// The directory of debug files that do not lie beside their modules.
    pub debug_directory: Option<PathBuf>,
    /// Directories in which source files are looked for, in order.
    pub source_directories: Vec<PathBuf>,
    /// The only folders in which source files are read, with links followed; without them, all.
    pub sources_within: Option<Vec<PathBuf>>,
    /// Where directories are now that had other names when the program was compiled.
    pub source_map: SourceMap,
    /// Source files in memory, by their names in the modules.
    pub sources: HashMap<String, String>,
    /// The device that the program sees.
    pub host: Config,
    /// Whether expressions may read this process's memory by address: `r0 as memref<?xf32>`.
    pub foreign_memory: bool,
    /// The iree-compile that makes bytecode of machine code; otherwise it is looked for.
    pub iree_compile: Option<PathBuf>,
    /// Whether no compiler may be started: bytecode of machine code is what the debug file has.
    pub never_compiles: bool,
    /// Whether what bytecode and machine code of a dispatch have left is not compared.
    pub skips_comparison: bool,
    /// Hears what takes its time before the program runs, and while it records commands.
    pub announcer: Announcer,
    /// Ends the loading early.
    pub cancellation: Cancellation,
    /// Whether its functions are called from outside, one after the other: it then has a
    /// [`crate::Caller`], and `function` is none.
    pub is_called_from_outside: bool,
    /// Records the program from its beginning, so that it can go back.
    pub record: Option<RecordOptions>,
    /// Keeps what commands overwrite, so that it can be looked at, where nothing is recorded.
    pub past: Option<PastOptions>,
    /// What the run is to repeat, if it is recorded.
    pub expected: Option<Arc<Expected>>,
    /// Raised where the program waits for its host.
    pub waiting: Waiting,
    /// The handle that stops the running program. A restarted program uses the same handle.
    pub interrupt: InterruptHandle,
}

/// What a recording may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordOptions {
    /// The most memory, in bytes, for checkpoints and overwritten memory.
    pub memory: usize,
    /// The most bytes of a temporary file for what does not fit into memory.
    pub disk: u64,
    /// The backward branches and calls between two checkpoints; without a number, as many as their
    /// cost allows.
    pub every: Option<u64>,
    /// Whether it begins again after a change by hand that ends the past. Otherwise the first one
    /// at a stop is refused.
    pub gives_way: bool,
}

impl Default for RecordOptions {
    /// A quarter of the memory that is free, and four times that on disk.
    fn default() -> Self {
        let memory = vm::default_memory() / 2;
        Self { memory, disk: (memory as u64).saturating_mul(4), every: None, gives_way: false }
    }
}

/// What may be kept of overwritten memory without a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PastOptions {
    /// The most memory, in bytes. The oldest goes first. Of a dispatch that overwrites more than a
    /// sixteenth of it nothing is kept: to copy that would take too long.
    pub memory: usize,
}

impl Default for PastOptions {
    /// A sixteenth of the memory that is free, and at most 1 GiB.
    fn default() -> Self {
        Self { memory: (vm::default_memory() / 8).min(1 << 30) }
    }
}

impl PastOptions {
    /// What the journal of a device keeps for it.
    pub(crate) fn keeps(self) -> Keeps {
        Keeps::Within(Room { entries: self.memory, dispatch: self.memory / 16 })
    }
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
    /// A module's bytecode does not verify.
    #[error("{name} does not verify:{}", list(defects))]
    Verify {
        /// The module.
        name: String,
        /// One line per defect.
        defects: Vec<String>,
    },
    /// The modules do not fit together.
    #[error(transparent)]
    Link(#[from] vm::LinkError),
    /// No function was named, and the main module does not export exactly one.
    #[error("name the function to debug; {module} exports:{}", list(exports))]
    WhichFunction {
        /// The main module.
        module: String,
        /// The functions that could be named.
        exports: Vec<String>,
    },
    /// There is no such function.
    #[error("there is no function {function:?}; {module} exports:{}", list(exports))]
    NoFunction {
        /// The name that was given.
        function: String,
        /// The main module.
        module: String,
        /// The functions that could be named.
        exports: Vec<String>,
    },
    /// The program's device is not here, and its dispatches have no bytecode.
    #[error(transparent)]
    NoStandIns(#[from] NoStandIns),
    /// The inputs do not fit the function.
    #[error("{0}")]
    Inputs(String),
    /// A parameter is of another type than the program takes it for.
    #[error(transparent)]
    Parameters(#[from] OtherParameter),
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
