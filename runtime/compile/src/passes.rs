//! [`print_passes`]: the program after each pass that changed it.
//!
//! The compiler prints the program, or the operation that a pass works on, to standard error, all
//! of it together hundreds of times the program's length. So one text at a time is in memory; what
//! to keep of it is the caller's choice.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;

use crate::cancellation::Cancellation;
use crate::error::CompileError;
use crate::flags::{Elision, Flags};
use crate::process::Starter;
use crate::process_group::ProcessGroup;

/// A longer text of one pass is left out.
const LONGEST: usize = 64 << 20;
/// How much of the messages is kept.
const MESSAGES: usize = 64 << 10;

const HEAD: &str = "// -----// IR Dump After ";
const TAIL: &str = " //----- //";

/// What to compile, and with what.
#[derive(Clone, Debug, Default)]
pub struct PassesRequest {
    /// The source.
    pub input: PathBuf,
    /// Flags for iree-compile, used as they are; a target is added if they name none.
    pub flags: Vec<String>,
    /// The iree-compile to run.
    pub compiler: PathBuf,
    /// The directory to run in, otherwise the current one.
    pub directory: Option<PathBuf>,
}

/// What a pass left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassText<'t> {
    /// The pass as the compiler names it: `CSEPass: cse`.
    pub pass: &'t str,
    /// The program or the operation, with locations; empty if it is too long.
    pub text: &'t [u8],
}

/// Compiles a source and gives the text after each pass that changed something to `on_pass`, in
/// order.
///
/// # Errors
/// The compiler cannot be started or fails, or the caller asked to stop.
pub fn print_passes(
    request: &PassesRequest,
    cancellation: &Cancellation,
    mut on_pass: impl FnMut(PassText<'_>) + Send,
) -> Result<(), CompileError> {
    let flags = Flags::with_target(&request.flags)?;
    let group = ProcessGroup::new().ok();
    let mut arguments = vec![request.input.display().to_string()];
    arguments.extend(flags.iter().cloned());
    arguments.extend(Elision::of(&flags).flags());
    // Threads would print into each other's texts.
    let printing = [
        "--mlir-print-ir-after-all",
        "--mlir-print-ir-after-change",
        "--mlir-print-debuginfo",
        "--mlir-disable-threading",
        "-o",
    ];
    arguments.extend(printing.map(str::to_owned));
    arguments.push(if cfg!(windows) { "NUL" } else { "/dev/null" }.to_owned());
    let (status, said) = thread::scope(|scope| {
        let directory = request.directory.as_deref();
        let (compiler, environment) = (request.compiler.as_path(), &[][..]);
        let starter =
            Starter { compiler, directory, environment, group: group.as_ref(), cancellation };
        let mut running = starter.start(&arguments, Stdio::null())?;
        let stderr = running.stderr();
        let reader = scope.spawn(move || match stderr {
            Some(stderr) => read(stderr, cancellation, &mut on_pass),
            None => String::new(),
        });
        let ended = starter.follow(running, &mut |_| {});
        // The output ends when the last process of the group does.
        drop(group);
        let said = reader.join().unwrap_or_default();
        ended.map(|ended| (ended.status, said))
    })?;
    if status.success() {
        return Ok(());
    }
    let message = said.lines().find(|line| line.contains("error:")).map(str::to_owned);
    let message = message.or_else(|| said.lines().last().map(str::to_owned));
    Err(CompileError::Failed { input: request.input.clone(), status, message })
}

/// Splits the compiler's output; returns its messages.
fn read(
    stream: impl Read,
    cancellation: &Cancellation,
    on_pass: &mut impl FnMut(PassText<'_>),
) -> String {
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    let mut pass: Option<String> = None;
    let (mut text, mut line) = (Vec::new(), Vec::new());
    let mut said = Vec::new();
    let mut is_too_long = false;
    loop {
        line.clear();
        let count = stream.read_until(b'\n', &mut line).unwrap_or(0);
        let header = std::str::from_utf8(&line).ok().and_then(header);
        if (count == 0 || header.is_some())
            && let Some(pass) = &pass
        {
            let text = if is_too_long { &[] } else { text.as_slice() };
            on_pass(PassText { pass, text });
        }
        if count == 0 || cancellation.is_cancelled() {
            return String::from_utf8_lossy(&said).into_owned();
        }
        if let Some(header) = header {
            pass = Some(header.to_owned());
            text.clear();
            is_too_long = false;
            continue;
        }
        let tells = pass.is_none() || memchr::memmem::find(&line, b" error: ").is_some();
        if tells && said.len() < MESSAGES {
            said.extend_from_slice(&line);
        }
        is_too_long |= text.len() + line.len() > LONGEST;
        if pass.is_some() && !is_too_long {
            text.extend_from_slice(&line);
        }
    }
}

/// The pass that a line announces.
fn header(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix(HEAD)?.strip_suffix(TAIL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_split_by_pass() {
        let said = "a.mlir:1:1: warning: odd\n\
                    // -----// IR Dump After A: a{x=1} //----- //\nmodule {\n}\n\n\
                    // -----// IR Dump After B (b) ('func.func' operation: @f) //----- //\n\
                    func.func @f\n\
                    a.mlir:2:1: error: wrong\n";
        let mut found = Vec::new();
        let messages =
            read(said.as_bytes(), &Cancellation::default(), &mut |pass: PassText<'_>| {
                found.push((pass.pass.to_owned(), String::from_utf8_lossy(pass.text).into_owned()));
            });
        assert_eq!(found[0], ("A: a{x=1}".to_owned(), "module {\n}\n\n".to_owned()));
        assert_eq!(found[1].0, "B (b) ('func.func' operation: @f)");
        assert_eq!(messages, "a.mlir:1:1: warning: odd\na.mlir:2:1: error: wrong\n");
    }
}
