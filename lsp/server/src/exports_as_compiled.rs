//! What iree-compile makes of a document's exports, learnt in the background for hovers.
//!
//! It is asked when a document is opened, once an edited text rests, and where a hover shows a
//! function that it was not asked about. What to ask, and what the answers mean, is
//! [`ide::AbiInquiry`]'s business. The next edit ends an inquiry.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ide::AbiInquiry;
use tower_lsp::lsp_types::{Position, Url};

use crate::checks::{Checks, Kind};
use crate::positions;
use crate::programs::{self, configured, iree_compile};
use crate::session::Session;
use crate::settings::Settings;
use crate::transport::State;

/// How long a text must rest after an edit.
const REST: Duration = Duration::from_secs(1);
/// How long a run may take. A compiler that works for longer is ended.
const PATIENCE: Duration = Duration::from_secs(60);

impl Checks {
    /// Asks about exports of a document, beginning with the one at `place`, after a rest.
    pub(crate) fn ask_after_rest(
        &self,
        state: &Arc<State>,
        session: &Arc<Session>,
        uri: &Url,
        place: Option<Position>,
    ) {
        self.ask(state, session, uri, place, REST);
    }

    /// Asks about the function that a hover at `place` shows, if it is not known.
    pub(crate) fn ask_at_hover(
        &self,
        state: &Arc<State>,
        session: &Arc<Session>,
        uri: &Url,
        place: Position,
    ) {
        if !self.is_running(uri, Kind::Exports) {
            self.ask(state, session, uri, Some(place), Duration::ZERO);
        }
    }

    fn ask(
        &self,
        state: &Arc<State>,
        session: &Arc<Session>,
        uri: &Url,
        place: Option<Position>,
        rest: Duration,
    ) {
        let settings = session.settings();
        let is_file = uri.scheme() == "file" || uri.scheme() == "untitled";
        if !settings.check_while_typing || !is_file {
            return;
        }
        let documents = state.latest();
        let Some(version) = documents.get(uri).map(|open| open.version) else { return };
        let encoding = documents.encoding();
        let (state, session, key) = (state.clone(), session.clone(), uri.clone());
        let (uri, turn) = (uri.clone(), self.inquiry.clone());
        self.begin(key, Kind::Exports, async move {
            tokio::time::sleep(rest).await;
            let mut compiler = turn.lock().await;
            let still = state.latest().get(&uri).filter(|open| open.version == version).cloned();
            let Some(open) = still else { return };
            let at = place.map_or(0, |at| positions::to_byte(&open.rope, at, encoding));
            let folder = open.document.path().and_then(Path::parent).map(Path::to_owned);
            let Some(asked) = Compiler::of(&settings, folder.as_deref()) else { return };
            if compiler.0 != asked.identity() {
                let Some(name) = asked.name().await else { return };
                *compiler = (asked.identity(), name);
            }
            let modules = session.modules();
            modules.ask_compiler(&compiler.1, &compiler.0);
            let mut inquiry = AbiInquiry::new(at);
            loop {
                let (open, known) = (open.clone(), modules.clone());
                let next = tokio::task::spawn_blocking(move || {
                    let run = inquiry.next_run(&open.document, &known);
                    (inquiry, run)
                });
                let Ok((back, Some((run, text)))) = next.await else { return };
                inquiry = back;
                let flags = run.flags().map(str::to_owned);
                let Some(answer) = asked.run(&flags, &text).await else { return };
                inquiry.answer(&modules, answer);
            }
        });
    }
}

/// The compiler to ask.
struct Compiler {
    program: PathBuf,
    flags: Vec<String>,
}

impl Compiler {
    /// iree-compile, with the flags that the user gives it.
    fn of(settings: &Settings, folder: Option<&Path>) -> Option<Self> {
        let program = iree_compile(settings, folder)?;
        let configured = configured(&settings.check_command, "compile");
        let flags = configured.map_or(&[][..], |(_, flags)| flags);
        Some(Self { program, flags: of_programs(flags) })
    }

    /// All that its answers depend on.
    fn identity(&self) -> String {
        let mut identity = format!("{} {:?}", self.program.display(), self.flags);
        // A name without a folder is found by the system.
        if let Ok(file) = self.program.metadata() {
            let _ = write!(identity, " {} {:?}", file.len(), file.modified().ok());
        }
        identity
    }

    /// Its name and version, for the reader.
    async fn name(&self) -> Option<String> {
        let version = ["--version".to_owned()];
        let output = programs::run(&self.program, &version, "", true, PATIENCE).await.ok()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let version = said.lines().find_map(|line| line.trim().split_once("compiler version "));
        let version = version.and_then(|(_, rest)| rest.split_whitespace().next());
        let name = match version {
            Some(version) => format!("iree-compile {version}"),
            None => "iree-compile".into(),
        };
        Some(if self.flags.is_empty() { name } else { name + " with the flags in checkCommand" })
    }

    /// Compiles a text: what was made of it, or what was said. `None` if there was no run.
    async fn run(&self, flags: &[String], text: &str) -> Option<Result<Vec<u8>, Vec<u8>>> {
        let mut arguments = self.flags.clone();
        arguments.extend_from_slice(flags);
        arguments.extend(["-".to_owned(), "-o".to_owned(), "-".to_owned()]);
        let output = programs::run(&self.program, &arguments, text, true, PATIENCE).await.ok()?;
        Some(if output.status.success() { Ok(output.stdout) } else { Err(output.stderr) })
    }
}

/// The flags that say how programs are compiled, without those that say what is read and written.
fn of_programs(flags: &[String]) -> Vec<String> {
    const OTHERS: [&str; 5] =
        ["--compile-to", "--compile-from", "--output-format", "--split-input-file", "--dump-"];
    let mut kept = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if flag == "-o" {
            flags.next();
        } else if flag.starts_with("--") && !OTHERS.iter().any(|other| flag.starts_with(other)) {
            kept.push(flag.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::of_programs;

    #[test]
    fn flags_of_input_and_output_are_not_those_of_programs() {
        let flags = ["--iree-input-type=torch", "-o", "x.vmfb", "--compile-to=flow", "-"];
        let kept = of_programs(&flags.map(str::to_owned));
        assert_eq!(kept, ["--iree-input-type=torch"]);
    }
}
