//! Programs of the user's compiler. They run beside the server, and end when the task that waits
//! for them does.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use compile::ProcessGroup;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// Runs a program, with `input` on its standard input. Its standard output is kept only if
/// `keeps_output`.
///
/// # Errors
/// It cannot be run, or it has not ended after `patience`.
pub(crate) async fn run(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    input: &str,
    keeps_output: bool,
    patience: Duration,
) -> std::io::Result<Output> {
    let mut command = Command::new(program);
    let kept = if keeps_output { Stdio::piped() } else { Stdio::null() };
    command.args(arguments).stdin(Stdio::piped()).stdout(kept).stderr(Stdio::piped());
    command.kill_on_drop(true);
    // The program may be a script that starts another one, so the whole group is ended.
    let group = ProcessGroup::new().ok();
    if let Some(group) = &group {
        group.add(command.as_std_mut());
    }
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let write = async move {
        if let Some(mut stdin) = stdin {
            // A program that ends early reads no more.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    };
    let ended = async { tokio::join!(write, child.wait_with_output()).1 };
    let output = tokio::time::timeout(patience, ended).await?;
    drop(group);
    output
}

/// The command in the setting `checkCommand` if it is a program of this kind: `opt` or `compile`.
pub(crate) fn configured<'a>(command: &'a [String], kind: &str) -> Option<(&'a str, &'a [String])> {
    let (program, arguments) = command.split_first()?;
    let stem = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    stem.ends_with(&format!("-{kind}")).then_some((program.as_str(), arguments))
}

/// iree-compile for the files of a folder: the one of the setting, the one beside the program that
/// it names, or the one that is installed.
pub(crate) fn iree_compile(command: &[String], folder: Option<&Path>) -> Option<PathBuf> {
    if let Some((program, _)) = configured(command, "compile") {
        return Some(program.into());
    }
    let beside = Path::new(command.first()?).parent().filter(|folder| folder.is_absolute());
    let beside = beside.map(|folder| folder.join("iree-compile")).filter(|path| path.is_file());
    beside.or_else(|| compile::find_compiler(folder.unwrap_or(Path::new("."))).ok())
}

#[cfg(test)]
mod tests {
    use super::configured;

    #[test]
    fn kinds_are_told_by_name() {
        let command = ["/x/iree-compile".to_owned(), "--flag".to_owned()];
        assert_eq!(configured(&command, "compile"), Some(("/x/iree-compile", &command[1..])));
        assert_eq!(configured(&command, "opt"), None);
        assert_eq!(configured(&[], "opt"), None);
    }
}
