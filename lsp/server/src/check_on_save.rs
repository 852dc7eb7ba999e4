//! Checks by the user's program when a file is saved: `iree-opt`, or `iree-compile` with its flags.
//!
//! A document has at most one check, in the background, which its next edit ends. Output of the
//! form `file:line:column: error: …` joins the document's diagnostics until that edit.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use compile::ProcessGroup;
use ide::{Diagnostic, Severity};
use tokio::process::Command;
use tokio::task::AbortHandle;
use tower_lsp::Client;
use tower_lsp::lsp_types::{Position, Url};

use crate::positions::{self, Encoding};
use crate::progress::Progress;
use crate::publish;
use crate::session::Session;
use crate::transport::State;

/// The running checks.
#[derive(Default)]
pub(crate) struct Checks {
    running: Mutex<HashMap<Url, AbortHandle>>,
    /// Checks while typing, one at a time.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

impl Checks {
    /// The check of each document.
    pub(crate) fn running(&self) -> std::sync::MutexGuard<'_, HashMap<Url, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the check of a document and forgets its last findings.
    pub(crate) fn stop(&self, uri: &Url, session: &Session) {
        if let Some(check) = self.running().remove(uri) {
            check.abort();
        }
        session.compiler.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    pub(crate) fn stop_all(&self) {
        self.running().drain().for_each(|(_, check)| check.abort());
    }

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
        let mut command = Command::new(program);
        command.args(arguments).arg(&path).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::piped()).kill_on_drop(true);
        // The program may be a script that starts another one, so the whole group is ended.
        let group = ProcessGroup::new().ok();
        if let Some(group) = &group {
            group.add(command.as_std_mut());
        }
        let (client, state, session) = (client.clone(), state.clone(), session.clone());
        let (uri, program) = (uri.clone(), program.clone());
        let key = uri.clone();
        let check = tokio::spawn(async move {
            let title = format!("Checking with {program}");
            let shows = session.abilities.progress;
            let progress = Progress::of_server(&client, shows, &title).await;
            let output = command.output().await;
            drop(group);
            let said = match output {
                Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(error) => format!(
                    "{}:1:1: warning: {program} cannot be run to check this file ({error}): install it, or change the setting checkCommand",
                    path.display()
                ),
            };
            progress.end();
            let Some(open) =
                state.latest().get(&uri).filter(|open| open.version == version).cloned()
            else {
                return;
            };
            let found = parse(&said, &path.display().to_string(), &open.rope);
            session
                .compiler
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(uri.clone(), found);
            if session.abilities.pulls {
                publish::refresh_diagnostics(&client).await;
            } else {
                publish::now(&client, &state, session.clone(), uri, version).await;
            }
        });
        if let Some(earlier) = self.running().insert(key, check.abort_handle()) {
            earlier.abort();
        }
    }
}

/// Reads `file:line:column: error: message` for the file with this name only.
pub(crate) fn parse(said: &str, name: &str, rope: &ropey::Rope) -> Vec<Diagnostic> {
    let prefix = format!("{name}:");
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in said.lines() {
        let Some(rest) = line.strip_prefix(&prefix) else { continue };
        let mut parts = rest.splitn(3, ':');
        let (Some(line), Some(column), Some(message)) = (
            parts.next().and_then(|text| text.parse::<u32>().ok()),
            parts.next().and_then(|text| text.parse::<u32>().ok()),
            parts.next().map(str::trim),
        ) else {
            continue;
        };
        // MLIR counts columns in bytes, from 1.
        let at = Position::new(line.saturating_sub(1), column.saturating_sub(1));
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
}
