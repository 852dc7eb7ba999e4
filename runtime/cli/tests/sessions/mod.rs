//! Sessions of the terminal debugger, for tests that compile their own modules.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What `iree-dbg debug` prints in this folder, given arguments and lines of commands.
pub(crate) fn session(
    folder: &Path,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    commands: &str,
    environment: &[(&str, &str)],
) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
        .current_dir(folder)
        .arg("debug")
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the debugger starts");
    let mut input = child.stdin.take().expect("it reads");
    // The session may be over at once.
    let _ = input.write_all(commands.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
