//! Compiles dispatches to bytecode: [`compile_twin`].
//!
//! Two compilers run side by side. One writes the module and prints its last text before bytecode,
//! which has the count of workgroups; the other prints the module's debug companion.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::error::CompileError;
use crate::find_compiler;
use crate::process_group::ProcessGroup;
use crate::scratch::Scratch;
use crate::script::without_script;

/// How often the compilers are asked whether they have ended.
const PATIENCE: Duration = Duration::from_millis(5);

/// The flag of both compilers: the source is a program of dispatches.
const FROM: &str = "--compile-from=executable-sources";

/// The flag that names the directory for the module of all dispatches.
const MODULES: &str = "--iree-hal-dump-executable-binaries-to";

/// Further flags of the one that prints the companion.
const COMPANION: [&str; 3] = [
    "--iree-vm-bytecode-module-output-format=annotated-mlir-text",
    "--mlir-print-debuginfo",
    "--mlir-print-local-scope",
];

/// The phase that has counts of workgroups, as the compiler names its file.
const COUNTED: &str = "executable-targets.mlir";

/// Dispatches to compile.
#[derive(Clone, Debug, Default)]
pub struct TwinRequest {
    /// The text of their executables, with bytecode as the target ([`debuginfo::twin_sources`]).
    pub source: String,
    /// Which iree-compile to run; otherwise it is looked for as for [`crate::CompileRequest`].
    pub compiler: Option<PathBuf>,
    /// The directory of the project, where a compiler is looked for.
    pub directory: Option<PathBuf>,
}

/// Dispatches as bytecode.
#[derive(Clone, Debug)]
pub struct TwinOutput {
    /// The module that has all of them.
    pub module: Vec<u8>,
    /// Its debug companion.
    pub companion: Vec<u8>,
    /// The compiler's last text before bytecode, which has the counts of workgroups.
    pub counted: String,
}

/// Compiles dispatches to bytecode.
///
/// # Errors
/// There is no compiler, it failed, or it was cancelled.
pub fn compile_twin(
    request: &TwinRequest,
    cancellation: &Cancellation,
) -> Result<TwinOutput, CompileError> {
    let compiler = match &request.compiler {
        Some(compiler) => compiler.clone(),
        None => find_compiler::find(request.directory.as_deref())?.path,
    };
    let made = Scratch::new("iree-dbg-twin-");
    let not_written = |path: &Path| {
        let path = path.to_owned();
        move |source| CompileError::NotWritten { path, source }
    };
    let scratch = made.map_err(not_written(&std::env::temp_dir()))?;
    let path = |name: &str| scratch.path().join(name);
    let input = path("dispatch.mlir");
    std::fs::write(&input, &request.source).map_err(not_written(&input))?;
    let group = ProcessGroup::new().ok();
    let start = |output: &str, said: &str, more: &[String]| {
        let modules = format!("{MODULES}={}", path(output).display());
        let said = path(said);
        let file = File::create(&said).map_err(not_written(&said))?;
        let mut command = Command::new(without_script(&compiler).as_ref());
        let program = path(&format!("{output}.program"));
        command.arg(&input).args([FROM, &modules]).args(more).arg("-o").arg(program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        if let Some(group) = &group {
            group.add(&mut command);
        }
        let spawned = command.spawn();
        spawned
            .map(Running)
            .map_err(|source| CompileError::NotStarted { compiler: compiler.clone(), source })
    };
    let phases = path("phases");
    let dump = format!("--dump-compilation-phases-to={}", phases.display());
    let mut module = start("module", "said", &[dump, "--mlir-print-local-scope".to_owned()])?;
    let mut companion = start("companion", "said-too", &COMPANION.map(str::to_owned))?;
    for (running, said) in [(&mut module, "said"), (&mut companion, "said-too")] {
        let status = running.wait(cancellation, &compiler)?;
        if !status.success() {
            let said = std::fs::read_to_string(path(said)).unwrap_or_default();
            let message = said.lines().find(|line| line.contains("error:")).map(str::to_owned);
            return Err(CompileError::Failed { input, status, message });
        }
    }
    let read = |name: &str| {
        let folder = path(name);
        let only = only_file(&folder).and_then(std::fs::read);
        only.map_err(not_written(&folder))
    };
    Ok(TwinOutput {
        module: read("module")?,
        companion: read("companion")?,
        counted: counted(&phases).unwrap_or_default(),
    })
}

/// The only file of a folder.
fn only_file(folder: &Path) -> io::Result<PathBuf> {
    let mut files = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    match (files.next(), files.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(io::Error::other("the compiler has not written one module")),
    }
}

/// The text of the phase that has counts of workgroups.
fn counted(phases: &Path) -> Option<String> {
    let files = std::fs::read_dir(phases).ok()?.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(COUNTED);
    std::fs::read_to_string(files.into_iter().find(is_it)?).ok()
}

/// A running compiler. Dropping it ends the compiler.
struct Running(Child);

impl Running {
    fn wait(
        &mut self,
        cancellation: &Cancellation,
        compiler: &Path,
    ) -> Result<ExitStatus, CompileError> {
        loop {
            if cancellation.is_cancelled() {
                return Err(CompileError::Cancelled);
            }
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => thread::sleep(PATIENCE),
                Err(source) => {
                    let compiler = compiler.to_owned();
                    return Err(CompileError::NotStarted { compiler, source });
                }
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // This fails if the compiler has ended by itself, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
