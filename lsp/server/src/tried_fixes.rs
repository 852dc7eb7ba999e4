//! Quick fixes, tried: a fix that leaves a choice is offered only if the user's iree-opt (or
//! mlir-opt) accepts the text with it.
//!
//! One process reads the text with each fix, one after the other, between `// -----`. Without the
//! program, only fixes that are surely meant are offered.

use std::path::Path;
use std::time::Duration;

use tower_lsp::lsp_types::{CodeActionOrCommand, Url};

use crate::check_on_save::parse;
use crate::check_while_typing::command;
use crate::programs;
use crate::requests::edit::QuickFixes;
use crate::settings::Settings;

/// How long the program may take. A menu waits for it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes that it is given.
const MOST: usize = 4 << 20;
/// What stands between two texts.
const SEPARATOR: &str = "\n// -----\n";

/// The actions to offer: what compiles first, then what is surely meant.
pub(crate) async fn offered(
    settings: &Settings,
    uri: &Url,
    found: QuickFixes,
) -> Vec<CodeActionOrCommand> {
    let accepted = accepted(settings, uri, &found).await;
    let mut first = Vec::new();
    let mut then = Vec::new();
    for (index, (fix, mut action)) in found.fixes.into_iter().enumerate() {
        let compiles = accepted.get(index) == Some(&true);
        if compiles {
            action.title += " (compiles)";
        }
        if compiles || fix.is_sure {
            action.is_preferred = Some(fix.is_sure);
            let list = if compiles { &mut first } else { &mut then };
            list.push(CodeActionOrCommand::CodeAction(action));
        }
    }
    first.into_iter().chain(then).collect()
}

/// Whether the program accepts the text with each fix; empty if it cannot be asked.
async fn accepted(settings: &Settings, uri: &Url, found: &QuickFixes) -> Vec<bool> {
    let Some(extract) = &found.extract else { return Vec::new() };
    if found.fixes.is_empty() || !settings.check_while_typing {
        return Vec::new();
    }
    let mut whole = String::new();
    // The first line of each text; nothing for a fix that does not apply.
    let mut parts: Vec<Option<(usize, usize)>> = Vec::new();
    let mut line = 0;
    for (fix, _) in &found.fixes {
        let text = ide::with_fix(&extract.text, fix, &|place| extract.of_document(place));
        let text = text.filter(|text| whole.len() + text.len() <= MOST);
        parts.push(text.map(|text| {
            let lines = text.matches('\n').count() + SEPARATOR.matches('\n').count();
            whole += &text;
            whole += SEPARATOR;
            line += lines;
            (line - lines, line)
        }));
    }
    let (program, mut arguments) = command(settings, &extract.text);
    if !arguments.iter().any(|argument| argument.contains("split-input-file")) {
        arguments.push("--split-input-file".into());
    }
    arguments.push("-".into());
    let file = uri.to_file_path().ok();
    let path = programs::resolved(settings, &program, file.as_deref().and_then(Path::parent));
    let Ok(output) = programs::run(&path, &arguments, &whole, false, PATIENCE).await else {
        return Vec::new();
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let rope = ropey::Rope::from_str(&whole);
    let faults = parse(&said, "<stdin>", &rope);
    let lines: Vec<usize> = faults
        .iter()
        .filter(|fault| fault.severity == ide::Severity::Error)
        .map(|fault| rope.byte_to_line(fault.range.start.min(rope.len_bytes())))
        .collect();
    // An error without a place in the text, as of an operation with a `loc` of its own, may be of
    // any part. And what comes after a crash was not read.
    let told = said.lines().filter(|line| line.contains("error:")).count();
    let has_ended = output.status.code().is_some_and(|code| code == 0 || told > 0);
    if !has_ended || told > lines.len() {
        return Vec::new();
    }
    let has_fault = |(first, end): (usize, usize)| lines.iter().any(|it| (first..end).contains(it));
    parts.iter().map(|part| part.is_some_and(|part| !has_fault(part))).collect()
}
