//! Descriptions of a text: hover, signature help, inlay hints, lenses.

use serde_json::{Value, json};
use tower_lsp::lsp_types::{
    CodeLens, Command, Hover, InlayHint, InlayHintKind, InlayHintLabel, ParameterInformation,
    ParameterLabel, Position, Range, SignatureHelp, SignatureInformation, Url,
};

use super::{View, last_run};
use crate::to_proto;

/// The command of clients that show the ABI of a function beside its text.
const SHOW_ABI: &str = "iree-dbg.showAbi";

/// The commands of tests, which the server does.
pub(crate) const RUN_TEST: &str = "iree-dbg.runTest";
pub(crate) const SHOW_OUTPUT: &str = "iree-dbg.showTestOutput";
pub(crate) const TEST_COMMANDS: [&str; 2] = [RUN_TEST, SHOW_OUTPUT];

pub(crate) fn hover(view: &View<'_>, position: Position) -> Option<Hover> {
    let modules = view.session.modules();
    if !view.session.runs(SHOW_ABI) {
        let found = ide::hover(view.document(), &modules, view.offset(position))?;
        return Some(to_proto::hover(&view.open.rope, &found, view.encoding()));
    }
    let mut found = ide::brief_hover(view.document(), &modules, view.offset(position))?;
    if let Some(name) = &found.has_abi {
        let arguments = json!([view.uri, name]).to_string();
        let arguments = percent_encode(&arguments);
        found.markdown += &format!("\n[Show ABI](command:{SHOW_ABI}?{arguments})\n");
    }
    Some(to_proto::hover(&view.open.rope, &found, view.encoding()))
}

/// A text as a part of a link.
fn percent_encode(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let byte = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Whether a hover would say more if iree-compile were asked.
pub(crate) fn wants_compiler(view: &View<'_>, position: Position) -> bool {
    view.session.settings().check_while_typing
        && ide::AbiInquiry::is_wanted(
            view.document(),
            &view.session.modules(),
            view.offset(position),
        )
}

pub(crate) fn signature_help(view: &View<'_>, position: Position) -> Option<SignatureHelp> {
    let found = ide::signature_help(view.document(), view.offset(position))?;
    let parameters = found
        .parameters
        .iter()
        .map(|range| {
            // The protocol counts these offsets in UTF-16, whatever encoding was negotiated for
            // texts.
            let unit = |byte: usize| found.label[..byte].encode_utf16().count() as u32;
            let label = ParameterLabel::LabelOffsets([unit(range.start), unit(range.end)]);
            ParameterInformation { label, documentation: None }
        })
        .collect();
    let information = SignatureInformation {
        label: found.label.clone(),
        documentation: None,
        parameters: Some(parameters),
        active_parameter: None,
    };
    Some(SignatureHelp {
        signatures: vec![information],
        active_signature: Some(0),
        active_parameter: Some(found.active as u32),
    })
}

pub(crate) fn inlay_hints(view: &View<'_>, range: Range) -> Vec<InlayHint> {
    let values = last_run::hints(view, range);
    if !view.session.settings().inlay_hints {
        return values;
    }
    let mut walk = view.walk();
    let found =
        ide::inlay_hints(view.document(), &view.bounded(range), &|| view.cancelled.is_set());
    let hints: Vec<InlayHint> = found
        .into_iter()
        .map(|hint| InlayHint {
            position: walk.position(hint.offset),
            label: InlayHintLabel::String(hint.label),
            kind: (hint.kind == ide::InlayHintKind::Type).then_some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        })
        .collect();
    [hints, values].concat()
}

/// The most functions with lenses.
const LENSES: usize = 500;

/// Whether a file with the program of a document can be run: not a text without a file, such as the
/// VM program of a session, and no assembly, which is assembled first.
fn can_be_run(uri: &Url) -> bool {
    let path = uri.path();
    match uri.scheme() {
        "file" | "iree-text" => path.ends_with(".mlir") || path.ends_with(".vmfb"),
        "iree-vmfb" => true,
        _ => false,
    }
}

const WHAT_BECOMES: &str = "iree-dbg.whatBecomes";

/// Run, Debug, Show ABI and What Becomes of This over every export. The first two are commands of
/// clients that have them; the server does the others.
pub(crate) fn lenses(view: &View<'_>) -> Vec<CodeLens> {
    if !view.session.settings().code_lens {
        return Vec::new();
    }
    // Stages are made from a source on disk.
    let path = view.document().path().and_then(std::path::Path::extension);
    let can_compile = path.is_some_and(|extension| extension == "mlir")
        && view.session.settings().trusted != Some(false);
    let mut lenses = test_lenses(view);
    lenses.extend(last_run::lens(view));
    let is_run = can_be_run(view.uri);
    for function in ide::exported_functions(view.document(), LENSES) {
        let range = view.range(&function.selection);
        let arguments = Some(vec![json!(view.uri), json!(function.name)]);
        for (title, command) in [
            ("Run", "iree-dbg.runFunction"),
            ("Debug", "iree-dbg.debugFunction"),
            ("Show ABI", SHOW_ABI),
            ("What Becomes of This", WHAT_BECOMES),
        ] {
            let can = match command {
                SHOW_ABI => true,
                WHAT_BECOMES => {
                    let shows = view.session.abilities.shows_documents;
                    can_compile && (shows || view.session.runs(command))
                }
                _ => is_run && view.session.runs(command),
            };
            if !can {
                continue;
            }
            lenses.push(CodeLens {
                range,
                command: Some(Command {
                    title: title.into(),
                    command: command.into(),
                    arguments: arguments.clone(),
                }),
                data: None,
            });
        }
    }
    lenses
}

/// Over the first `RUN:` line: run the test, and show what it printed.
fn test_lenses(view: &View<'_>) -> Vec<CodeLens> {
    let is_trusted = view.session.settings().trusted != Some(false);
    let line = ide::first_run_line(view.document()).filter(|_| is_trusted);
    let Some(line) = line else { return Vec::new() };
    let results = view.session.tests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let result = results.get(view.uri);
    let state = result.map_or("", |result| if result.is_right { " ✓" } else { " ✗" });
    let lens = |title: String, command: &str| CodeLens {
        range: view.range(&line),
        command: Some(Command {
            title,
            command: command.into(),
            arguments: Some(vec![json!(view.uri)]),
        }),
        data: None,
    };
    let mut lenses = vec![lens(format!("Run test{state}"), RUN_TEST)];
    let can_show = view.session.abilities.shows_documents || view.session.runs(SHOW_OUTPUT);
    if can_show && result.is_some_and(|result| !result.outputs.is_empty()) {
        lenses.push(lens("Show output".into(), SHOW_OUTPUT));
    }
    lenses
}

/// The answer to `iree-dbg.showAbi`: the hover of an exported function and the range of its name.
pub(crate) fn show_abi(view: &View<'_>, name: &str) -> Option<Value> {
    let function = ide::exported_functions(view.document(), usize::MAX)
        .into_iter()
        .find(|function| function.name == name)?;
    let at = function.selection.start + 1;
    let hover = ide::hover(view.document(), &view.session.modules(), at)?;
    Some(json!({"markdown": hover.markdown, "range": view.range(&function.selection)}))
}

/// The VM calling convention of an exported function in one line, for clients that show no
/// documents: `@f: 0ri_r = (ref, i32) -> (ref)`.
pub(crate) fn abi_line(markdown: &str, name: &str) -> String {
    let stated = markdown.lines().find_map(|line| line.strip_prefix("**VM calling convention**"));
    let stated = stated.map(|line| line.replace('`', "").trim_start_matches([':', ' ']).to_owned());
    match stated {
        Some(line) => format!("@{name}: {line}"),
        None => format!("@{name} has no VM calling convention; its hover says more"),
    }
}
