//! Runs the commands of a `RUN:` line without a shell: known programs only, joined by pipes.
//! FileCheck is not started; the crate `filecheck` compares.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use compile::ProcessGroup;
use filecheck::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::programs::tool;
use crate::settings::Settings;

/// The programs that are started.
pub(crate) const PROGRAMS: [&str; 4] = ["iree-opt", "iree-compile", "iree-run-module", "mlir-opt"];
/// How long a program may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The most bytes of an output that are kept.
const LONGEST: u64 = 64 << 20;

/// Why a program was not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotRun {
    #[error("{program} cannot be run: {source}")]
    Io { program: String, source: std::io::Error },
    #[error("{program} was ended after {} seconds", PATIENCE.as_secs())]
    TimedOut { program: String },
    /// Reading its output failed here.
    #[error(transparent)]
    Reader(#[from] tokio::task::JoinError),
}

/// What a program printed.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) output: Vec<u8>,
    pub(crate) messages: String,
    /// Whether it ended as its command says that it must.
    pub(crate) is_right: bool,
}

/// Why a command is not run; a reason that starts another program or writes elsewhere.
pub(crate) fn refused(command: &Command, scratch: &Path) -> Option<String> {
    if !PROGRAMS.contains(&command.program.as_str()) {
        let known = PROGRAMS.join(", ");
        return Some(format!("`{}` is not run: only {known} and FileCheck are", command.program));
    }
    let stays = |value: &str| {
        let value = value.trim_start_matches('@');
        let is_inside = Path::new(value).starts_with(scratch.parent().unwrap_or(scratch));
        value.is_empty() || value == "-" || is_inside && !value.contains("..")
    };
    let mut arguments = command.arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        let Some(name) = argument.strip_prefix('-').filter(|name| !name.is_empty()) else {
            continue;
        };
        let name = name.trim_start_matches('-');
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, None),
        };
        let refusal = || Some(format!("`{argument}` is not run: it may write or start anything"));
        if ["plugin", "linker", "system-"].iter().any(|word| name.contains(word)) {
            return refusal();
        }
        let writes = name == "o"
            || ["output", "dump", "export", "splat", "-dir", "trace-file"]
                .iter()
                .any(|word| name.contains(word))
            || name.ends_with("-to");
        let looks_like_path = |value: &str| value.contains(['/', '\\', '@']) || name == "o";
        if writes {
            let value = match value {
                Some(value) => value.to_owned(),
                None if name == "o" => arguments.peek().map(|next| (*next).clone())?,
                None => continue,
            };
            if looks_like_path(&value) && !stays(&value) {
                return refusal();
            }
        }
        // A pass may write, too: `…-dump-…{path=…}`.
        let mut paths = value.unwrap_or_default().split("path=").skip(1);
        if paths.any(|path| !stays(path.split([' ', '}', ',']).next().unwrap_or_default())) {
            return refusal();
        }
    }
    None
}

/// Starts a program with this input, and waits for its end. A caller that stops waiting ends it.
///
/// # Errors
/// [`NotRun`]: why it could not be run to its end.
pub(crate) async fn start(
    settings: &Settings,
    command: &Command,
    folder: &Path,
    input: Vec<u8>,
) -> Result<Printed, NotRun> {
    let name = &command.program;
    let mut child = tokio::process::Command::new(tool(settings, name, Some(folder)));
    child.args(&command.arguments).current_dir(folder).stdin(Stdio::piped()).kill_on_drop(true);
    let failed = |source| NotRun::Io { program: name.clone(), source };
    // With `2>&1` both go through one pipe, so that they keep their order.
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let messages = if command.merges_messages {
        Stdio::from(writer.try_clone().map_err(failed)?)
    } else {
        Stdio::piped()
    };
    child.stdout(Stdio::from(writer)).stderr(messages);
    let group = ProcessGroup::new().ok();
    if let Some(group) = &group {
        group.add(child.as_std_mut());
    }
    let mut running = child.spawn().map_err(failed)?;
    // This process must not hold the writing end, or the reader would wait for ever.
    drop(child);
    let mut stdin = running.stdin.take();
    let write = async move {
        if let Some(mut stdin) = stdin.take() {
            // A program that ends early reads no more.
            let _ = stdin.write_all(&input).await;
        }
    };
    let read = tokio::task::spawn_blocking(move || {
        let mut output = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(reader, LONGEST), &mut output)
            .map(|_| output)
    });
    let stderr = running.stderr.take();
    let said = async move {
        let mut said = Vec::new();
        if let Some(stderr) = stderr {
            let _ = stderr.take(LONGEST).read_to_end(&mut said).await;
        }
        String::from_utf8_lossy(&said).into_owned()
    };
    let all = async { tokio::join!(write, read, said, running.wait()) };
    let ended = tokio::time::timeout(PATIENCE, all).await;
    drop(group);
    let Ok(((), output, messages, status)) = ended else {
        return Err(NotRun::TimedOut { program: name.clone() });
    };
    let output = output?.map_err(failed)?;
    let is_right = status.map_err(failed)?.success() != command.must_fail;
    Ok(Printed { output, messages, is_right })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use filecheck::run_lines;

    use super::refused;

    #[test]
    fn what_writes_elsewhere_is_not_run() {
        let scratch = Path::new("/tmp/x/t");
        let is_refused = |line: &str| {
            let lines = run_lines(&format!("// RUN: {line}"));
            let commands = lines[0].commands("/home/x.mlir", "/home", "/tmp/x/t").expect(line);
            commands.iter().find_map(|command| refused(command, scratch)).is_some()
        };
        for fine in [
            "iree-opt --split-input-file %s",
            "iree-opt %s -o -",
            "iree-compile %s -o %t.vmfb --iree-hal-dump-executable-files-to=%t",
            "iree-opt --pass-pipeline='builtin.module(iree-x{path=-})' %s",
            "iree-opt --mlir-print-ir-after-all --dump-pass-pipeline %s",
            "iree-run-module --module=%t.vmfb --output=@%t.npy",
        ] {
            assert!(!is_refused(fine), "{fine}");
        }
        for wrong in [
            "sh -c x",
            "/bin/iree-opt %s",
            "iree-opt %s -o /home/y",
            "iree-opt %s -o=%S/y",
            "iree-opt %s -o %t/../../y",
            "iree-opt --load-pass-plugin=y.so %s",
            "iree-compile --iree-llvmcpu-system-linker-path=/y %s",
            "iree-compile --iree-hal-dump-executable-files-to=/y %s",
            "iree-opt --pass-pipeline='builtin.module(iree-dump{path=/y})' %s",
            "iree-run-module --module=x --output=@/y.npy",
        ] {
            assert!(is_refused(wrong), "{wrong}");
        }
    }
}
