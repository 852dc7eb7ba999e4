//! Checks by the user's program when a file is saved: `iree-opt`, or `iree-compile` with its flags.
//!
//! A document has at most one check, in the background, which its next edit ends. Output of the
//! form `file:line:column: error: …` joins the document's diagnostics until that edit.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use ide::{Diagnostic, Severity};
use tower_lsp::Client;
use tower_lsp::lsp_types::{Position, Url};

use crate::checks::{Checks, Kind, keep};
use crate::positions::{self, Encoding};
use crate::programs;
use crate::progress::Progress;
use crate::session::Session;
use crate::transport::State;

/// How long a check may take. A program that works for longer is ended.
const PATIENCE: Duration = Duration::from_secs(3600);

impl Checks {
    /// Checks a saved document, if the settings ask for it.
    pub(crate) fn start(
        &self,
        client: &Client,
        state: &Arc<State>,
        session: &Arc<Session>,
        uri: &Url,
    ) {
        let settings = session.settings();
        let Some(version) = state.latest().get(uri).map(|open| open.version) else { return };
        let (Ok(path), Some((program, arguments))) =
            (uri.to_file_path(), settings.check_command.split_first())
        else {
            return;
        };
        if !settings.check_on_save || path.extension().is_none_or(|extension| extension != "mlir") {
            return;
        }
        let mut arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        arguments.push(path.clone().into());
        let (client, state, session) = (client.clone(), state.clone(), session.clone());
        let program = programs::resolved(&settings, program, path.parent());
        let uri = uri.clone();
        let key = uri.clone();
        self.begin(key, Kind::Check, async move {
            let title = format!("Checking with {}", program.display());
            let shows = session.abilities.progress;
            let progress = Progress::of_server(&client, shows, &title).await;
            let output = programs::run(&program, &arguments, "", false, PATIENCE).await;
            let said = match output {
                Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(error) => format!(
                    "{}:1:1: warning: {} cannot be run to check this file ({error}): install it, or change the setting checkCommand",
                    path.display(),
                    program.display()
                ),
            };
            progress.end();
            let Some(open) =
                state.latest().get(&uri).filter(|open| open.version == version).cloned()
            else {
                return;
            };
            let found = parse(&said, &path.display().to_string(), &open.rope);
            keep(&client, &state, session, uri, version, found).await;
        });
    }
}

/// Reads `file:line:column: error: message` for the file with this name only.
pub(crate) fn parse(said: &str, name: &str, rope: &ropey::Rope) -> Vec<Diagnostic> {
    let prefix = format!("{name}:");
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in said.lines() {
        let (before, rest) = match split_place(line, &prefix) {
            Some((before, rest)) => (before, rest),
            None => match line.strip_prefix(&prefix) {
                Some(rest) => (0, rest),
                None => continue,
            },
        };
        let mut parts = rest.splitn(3, ':');
        let (Some(line), Some(column), Some(message)) = (
            parts.next().and_then(|text| text.parse::<u32>().ok()),
            parts.next().and_then(|text| text.parse::<u32>().ok()),
            parts.next().map(str::trim),
        ) else {
            continue;
        };
        // MLIR counts columns in bytes, from 1.
        let at = Position::new((before + line).saturating_sub(1), column.saturating_sub(1));
        let start = positions::to_byte(rope, at, Encoding::Utf8);
        let range = start..word_end(rope, start);
        if let Some(message) = message.strip_prefix("error: ") {
            found.push(Diagnostic::error(range, "compiler", message));
        } else if let Some(message) = message.strip_prefix("warning: ") {
            found.push(Diagnostic::warning(range, "compiler", message));
        } else if let (Some(message), Some(last)) =
            (message.strip_prefix("note: "), found.last_mut())
        {
            last.related.push((range, message.to_owned()));
        }
    }
    found.retain(|found| matches!(found.severity, Severity::Error | Severity::Warning));
    found
}

/// The lines before a part of the file, and the place in it, as mlir-opt of LLVM 16 prints them:
/// `within split at file:LINE offset :line:column: …`.
fn split_place<'l>(line: &'l str, prefix: &str) -> Option<(u32, &'l str)> {
    let rest = line.strip_prefix("within split at ")?.strip_prefix(prefix)?;
    let (first, rest) = rest.split_once(" offset :")?;
    Some((first.parse::<u32>().ok()?.saturating_sub(1), rest))
}

fn word_end(rope: &ropey::Rope, start: usize) -> usize {
    let rest = rope.byte_slice(start.min(rope.len_bytes())..);
    let length: usize = rest
        .chars()
        .take_while(|c| c.is_alphanumeric() || "._%@^#!$-".contains(*c))
        .map(char::len_utf8)
        .sum();
    start + length
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn what_compilers_print() {
        let rope = ropey::Rope::from_str("func.func @f() {\n  %é = arith.addi %a : i32\n}\n");
        let said = "/x/a.mlir:2:20: error: use of undeclared SSA value name\n  %é = …\n      ^\n/x/a.mlir:1:1: note: in this\n/x/b.mlir:1:1: error: elsewhere\n";
        let found = parse(said, "/x/a.mlir", &rope);
        assert_eq!(found.len(), 1);
        assert_eq!(rope.byte_slice(found[0].range.clone()).to_string(), "%a");
        assert_eq!(found[0].related.len(), 1);
    }

    /// With `--split-input-file`, mlir-opt of LLVM 16 counts lines from the split.
    #[test]
    fn places_in_parts_of_a_file() {
        let text = "func.func @f() {\n  return\n}\n// -----\nfunc.func @g() {\n  oops\n}\n";
        let said = "within split at <stdin>:4 offset :3:3: error: custom op 'oops' is unknown\n";
        let rope = ropey::Rope::from_str(text);
        let found = parse(said, "<stdin>", &rope);
        assert_eq!(found.len(), 1);
        assert_eq!(rope.byte_slice(found[0].range.clone()).to_string(), "oops");
    }
}
