//! A second opinion while typing: iree-opt reads what was edited, once the text rests.
//!
//! A small text is checked as a whole, of a long one only what [`ide::extract`] takes out of it.
//! The program gets the text on its standard input and writes nothing. The next edit ends it.
//! Where it is not installed, nothing happens.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ide::{Diagnostic, Extract};
use ropey::Rope;
use tower_lsp::Client;
use tower_lsp::lsp_types::{Position, Url};

use crate::check_on_save::parse;
use crate::checks::{Checks, Kind, keep};
use crate::positions;
use crate::programs;
use crate::session::Session;
use crate::settings::Settings;
use crate::transport::State;

/// How long the text must rest.
const REST: Duration = Duration::from_millis(300);
/// How long a check may take. A program that reads on for longer is ended.
const PATIENCE: Duration = Duration::from_secs(30);

impl Checks {
    /// Checks a document after a rest, if the settings allow that. `place` is the last edit's.
    pub(crate) fn after_rest(
        &self,
        client: &Client,
        state: &Arc<State>,
        session: &Arc<Session>,
        uri: &Url,
        place: Option<Position>,
    ) {
        let settings = session.settings();
        let is_file = uri.scheme() == "file" || uri.scheme() == "untitled";
        if !settings.check_while_typing || !is_file {
            return;
        }
        let documents = state.latest();
        let Some(open) = documents.get(uri) else { return };
        if open.document.language() != ide::Language::Mlir {
            return;
        }
        let (version, encoding) = (open.version, documents.encoding());
        let (client, state, session) = (client.clone(), state.clone(), session.clone());
        let (key, uri, turn) = (uri.clone(), uri.clone(), self.turn.clone());
        self.begin(key, Kind::Check, async move {
            tokio::time::sleep(REST).await;
            let _turn = turn.lock().await;
            let still = state.latest().get(&uri).filter(|open| open.version == version).cloned();
            let Some(open) = still else { return };
            let extracted = tokio::task::spawn_blocking(move || {
                let at = place.map_or(0, |at| positions::to_byte(&open.rope, at, encoding));
                ide::extract(&open.document, at)
            });
            let Ok(Some(extract)) = extracted.await else { return };
            let folder = uri.to_file_path().ok();
            let folder = folder.as_deref().and_then(Path::parent);
            let Some(found) = opinion(&settings, folder, extract).await else { return };
            keep(&client, &state, session, uri, version, found).await;
        });
    }
}

/// What iree-opt says of a text; `None` if it cannot be run.
async fn opinion(
    settings: &Settings,
    folder: Option<&Path>,
    extract: Extract,
) -> Option<Vec<Diagnostic>> {
    let (program, mut arguments) = command(settings, &extract.text);
    arguments.push("-".into());
    let program = programs::resolved(settings, &program, folder);
    let ran = programs::run(&program, &arguments, &extract.text, false, PATIENCE);
    let output = ran.await.ok()?;
    Some(read(&String::from_utf8_lossy(&output.stderr), &extract))
}

/// iree-opt, and the options under which a text is meant to be read.
pub(crate) fn command(settings: &Settings, text: &str) -> (String, Vec<String>) {
    let configured = programs::configured(&settings.check_command, "opt");
    let (program, mut arguments) = match configured {
        Some((program, arguments)) => (program.to_owned(), arguments.to_vec()),
        None => ("iree-opt".into(), vec!["--split-input-file".into()]),
    };
    // A test says so itself: `// RUN: iree-opt --allow-unregistered-dialect %s`.
    let runs = || text.lines().filter(|line| line.trim_start().starts_with("// RUN:"));
    for option in ["allow-unregistered-dialect", "verify-diagnostics"] {
        let expects = option == "verify-diagnostics" && text.contains("expected-error");
        if expects || runs().any(|line| line.contains(option)) {
            arguments.push(format!("--{option}"));
        }
    }
    (program, arguments)
}

/// The faults in what iree-opt printed, at their places in the document.
fn read(said: &str, extract: &Extract) -> Vec<Diagnostic> {
    let rope = Rope::from_str(&extract.text);
    let mut found = Vec::new();
    for mut fault in parse(said, "<stdin>", &rope) {
        // Other dialects are not its business, and names may be in what was left out.
        let is_foreign = ["unregistered dialect", "not found for custom op"]
            .iter()
            .any(|words| fault.message.contains(words));
        let line = rope.byte_to_line(fault.range.start.min(rope.len_bytes()));
        let names_others = extract.is_partial && rope.line(line).to_string().contains('@');
        if is_foreign || names_others {
            continue;
        }
        let Some(range) = extract.in_document(&fault.range) else { continue };
        fault.range = range;
        fault.related = fault
            .related
            .into_iter()
            .filter_map(|(range, message)| Some((extract.in_document(&range)?, message)))
            .collect();
        found.push(fault);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Settings, command, read};

    #[test]
    fn options_of_tests_are_kept() {
        let of = |text: &str| command(&Settings::default(), text);
        assert_eq!(of("func.func @f()"), ("iree-opt".into(), vec!["--split-input-file".into()]));
        let (_, with) =
            of("// RUN: iree-opt --allow-unregistered-dialect %s\n// expected-error {{x}}");
        assert_eq!(with[1..], ["--allow-unregistered-dialect", "--verify-diagnostics"]);
        let other = Settings { check_command: vec!["iree-compile".into()], ..Settings::default() };
        assert_eq!(command(&other, "").0, "iree-opt");
    }

    #[test]
    fn places_are_those_of_the_document() {
        // The function is at the end of a long file; only it and its alias are checked.
        let filler = "func.func @g() {\n  return\n}\n".repeat(20_000);
        let text = format!("#m = 1 : i32\n{filler}func.func @h() {{\n  %0 = x.y {{a = #m}}\n}}\n");
        let at = text.find("x.y").expect("the operation");
        let document = ide::Document::new(ide::Language::Mlir, None, Arc::new(text.clone()));
        let extract = ide::extract(&document, at).expect("an extract");
        assert!(
            extract.is_partial && extract.text.contains("#m =") && !extract.text.contains("@g")
        );
        let line = extract.text.lines().position(|line| line.contains("x.y")).expect("the line");
        let said = format!(
            "<stdin>:{}:8: error: wrong\n<stdin>:{}:8: error: unregistered dialect\n",
            line + 1,
            line + 1
        );
        let found = read(&said, &extract);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].range.start, at);
    }
}
