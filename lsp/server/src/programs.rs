//! Programs of the user's compiler: which one serves a folder, and running it. They run beside the
//! server, and end when the task that waits for them does.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use compile::ProcessGroup;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::settings::Settings;

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
    let mut command = Command::new(compile::without_script(program).as_ref());
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
    // Debian's `mlir-opt-16` has the version in its name.
    let plain = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = if plain.len() < stem.len() { plain.trim_end_matches('-') } else { &stem };
    plain.ends_with(&format!("-{kind}")).then_some((program.as_str(), arguments))
}

/// A program of the compiler that serves the files of a folder, by its name: `iree-opt`. All
/// programs are taken from one installation, so that naming one of them names the compiler: the
/// program of `checkCommand` or the one beside it, then the same for `ireeCompile`, then the one
/// beside the iree-compile that a compilation in the folder would find. A mere name is left to the
/// system.
pub(crate) fn tool(settings: &Settings, name: &str, folder: Option<&Path>) -> PathBuf {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let of_installation = |program: &Path| {
        if program.file_stem().is_some_and(|stem| stem == name) {
            return Some(program.to_owned());
        }
        Some(program.parent()?.join(&file)).filter(|path| path.is_file())
    };
    let configured = settings.check_command.first().map(PathBuf::from);
    let named = [configured, settings.iree_compile.clone()].into_iter().flatten();
    let mut named = named.filter(|program| program.is_absolute());
    let found = || compile::find_compiler(folder.unwrap_or(Path::new("."))).ok();
    named
        .find_map(|program| of_installation(&program))
        .or_else(|| of_installation(&found()?))
        .unwrap_or_else(|| name.into())
}

/// A program that the user has configured: a path is taken as it is, a mere name is one of the
/// compiler's, if that has it.
pub(crate) fn resolved(settings: &Settings, program: &str, folder: Option<&Path>) -> PathBuf {
    if Path::new(program).components().count() > 1 {
        program.into()
    } else {
        tool(settings, program, folder)
    }
}

/// iree-compile for the files of a folder: the program of `checkCommand` if it is one, else the one
/// that [`tool`] finds. `None` if there is none.
pub(crate) fn iree_compile(settings: &Settings, folder: Option<&Path>) -> Option<PathBuf> {
    if let Some((program, _)) = configured(&settings.check_command, "compile") {
        return Some(resolved(settings, program, folder));
    }
    let found = tool(settings, "iree-compile", folder);
    // A mere name means that nothing was found.
    (found.components().count() > 1).then_some(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{configured, iree_compile, resolved, tool};
    use crate::settings::Settings;

    #[test]
    fn kinds_are_told_by_name() {
        let command = ["/x/iree-compile".to_owned(), "--flag".to_owned()];
        assert_eq!(configured(&command, "compile"), Some(("/x/iree-compile", &command[1..])));
        assert_eq!(configured(&command, "opt"), None);
        assert_eq!(configured(&[], "opt"), None);
        let numbered = ["/usr/bin/mlir-opt-16".to_owned()];
        assert_eq!(configured(&numbered, "opt"), Some(("/usr/bin/mlir-opt-16", &[][..])));
    }

    /// Naming one program of a compiler names the compiler.
    #[test]
    fn one_compiler_serves_everything() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let program = |name: &str| {
            let path = folder.path().join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            std::fs::write(&path, "").expect("a file");
            path
        };
        let (compiler, opt) = (program("iree-compile"), program("iree-opt"));
        let chosen = Settings { iree_compile: Some(compiler.clone()), ..Settings::default() };
        assert_eq!(tool(&chosen, "iree-opt", None), opt);
        assert_eq!(resolved(&chosen, "iree-opt", None), opt);
        assert_eq!(iree_compile(&chosen, None), Some(compiler.clone()));
        let command = vec![opt.display().to_string()];
        let checks = Settings { check_command: command, ..Settings::default() };
        assert_eq!(iree_compile(&checks, None), Some(compiler));
        assert_eq!(tool(&checks, "iree-opt", None), opt);
        // What is not there is left to the system, and a path of the user's own stays.
        assert_eq!(tool(&chosen, "some-opt", None), Path::new("some-opt"));
        assert_eq!(resolved(&chosen, "./own-opt", None), Path::new("./own-opt"));
    }
}
