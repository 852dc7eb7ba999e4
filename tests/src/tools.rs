//! The programs that tests run: IREE's tools, which are the oracle, and our own binary.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The longest that any program in the tests takes, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// The root of the checkout.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// One of IREE's tools: in the checkout's `.venv`, else on the `PATH`.
///
/// Most entries of a wheel's `bin` are scripts that start a program of the same name in the wheel's
/// library. This returns the program itself, which starts ten times faster and whose death by a
/// signal is visible.
///
/// # Errors
/// It is in neither place; the message says how to install it.
pub fn iree(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::iter::once(repository().join(".venv/bin")).chain(std::env::split_paths(&path));
    let found = folders.map(|folder| folder.join(name)).find(|candidate| candidate.is_file());
    let found = found.ok_or_else(|| {
        format!(
            "{name} is not installed; run: python3 -m venv .venv && .venv/bin/pip install -r \
             tests/requirements.txt"
        )
    })?;
    Ok(program_of(&found).unwrap_or(found))
}

/// The library in which the compiler is.
///
/// # Errors
/// iree-compile is not installed.
pub fn compiler_library() -> Result<PathBuf, String> {
    let script = iree("iree-compile")?;
    let missing = || format!("{} has no libIREECompiler beside it", script.display());
    let root = script.parent().and_then(Path::parent).ok_or_else(missing)?;
    let libraries = std::fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
    let package = "site-packages/iree/compiler/_mlir_libs/libIREECompiler.so";
    let mut found = libraries.map(|python| python.path().join(package));
    found.find(|library| library.is_file()).ok_or_else(missing)
}

/// The program that a wheel's script starts.
fn program_of(script: &Path) -> Option<PathBuf> {
    let libraries = script.parent()?.parent()?.join("lib");
    let pythons = std::fs::read_dir(libraries).ok()?.filter_map(Result::ok);
    let package = "site-packages/iree/_runtime_libs";
    let name = script.file_name()?;
    pythons.map(|python| python.path().join(package).join(name)).find(|program| program.is_file())
}

/// The name of the status in an error: `file.c:12: NOT_FOUND; message` from IREE, `error:
/// NOT_FOUND; message` from iree-dbg.
#[must_use]
pub fn status_code(error: &str) -> Option<&str> {
    let (before, _) = error.split_once(';')?;
    before.rsplit(' ').next()
}

/// Our binary: `$IREE_DBG` if `tests/run` has built it, else one of the profile that the test
/// itself was built with. It is built first, so a test never judges an old binary.
///
/// # Errors
/// It cannot be built.
pub fn iree_dbg() -> Result<PathBuf, String> {
    static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BINARY.get_or_init(build_iree_dbg).clone()
}

fn build_iree_dbg() -> Result<PathBuf, String> {
    if let Some(built) = std::env::var_os("IREE_DBG").filter(|path| !path.is_empty()) {
        return Ok(built.into());
    }
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = test
        .parent()
        .and_then(Path::parent)
        .ok_or_else(|| format!("{} is not in a target folder", test.display()))?;
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(repository()).args(["build", "--quiet", "--package", "iree-dbg"]);
    let built = run(command.args(["--profile", profile]), Duration::from_secs(3600))?;
    if built.status != Some(0) {
        return Err(format!("iree-dbg does not build:\n{}", built.stderr));
    }
    Ok(folder.join("iree-dbg"))
}

/// The outcome of a program.
#[derive(Debug)]
pub struct Finished {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, as text.
    pub stderr: String,
}

/// How a suite ends that has found so many faults, or could not go on; the error is printed.
#[must_use]
pub fn exit_code(faults: Result<usize, String>) -> ExitCode {
    match faults {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a program to its end, without input.
///
/// # Errors
/// It cannot be started, or does not end.
pub fn finish(command: &mut Command) -> Result<Finished, String> {
    run(command, PATIENCE)
}

fn run(command: &mut Command, patience: Duration) -> Result<Finished, String> {
    let started =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| format!("{command:?} cannot be started: {error}"))?;
    let fail = |what: &str, reason: String| format!("{command:?} {what}: {reason}");
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let deadline = Instant::now() + patience;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(fail("does not end", format!("given up after {patience:?}")));
            }
            Err(error) => return Err(fail("cannot be waited for", error.to_string())),
        }
    };
    Ok(Finished {
        status: status.code(),
        stdout: stdout.join().unwrap_or_default(),
        stderr: String::from_utf8_lossy(&stderr.join().unwrap_or_default()).into_owned(),
    })
}

/// Reads a pipe to its end on a thread of its own, so that a full pipe never blocks the program.
fn collect(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // Output before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}
