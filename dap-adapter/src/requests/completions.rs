//! Completion in the console: `completions`, of expressions and of commands.

use std::ops::Range;

use dap::requests::CompletionsArguments;
use debug::CompletionKind;
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Request, RequestError};

/// The most completions in one answer.
const MAX_COMPLETIONS: usize = 500;

/// Completes an expression. Columns count UTF-16 code units, within the line that the client names.
pub(super) fn completions(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: CompletionsArguments = request.arguments()?;
    let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
    let line = arguments.line.map_or(0, |line| client.line_from(line) as usize - 1);
    let text = arguments.text.split('\n').nth(line).unwrap_or_default();
    let cursor = byte_of(text, client.column_from(arguments.column) as usize - 1);
    let target = |label: String, detail: String, kind: &str, replaces: Range<usize>| {
        let start = utf16(&text[..replaces.start]);
        json!({
            "label": label,
            "detail": detail,
            "type": kind,
            "start": client.column(u32::try_from(start + 1).unwrap_or(u32::MAX)),
            "length": utf16(&text[replaces]),
        })
    };
    let machine = debuggee.debugger.machine();
    let found = machine.completions(frame, text, cursor).into_iter();
    let values = found.map(|it| target(it.text, it.detail, type_of(it.kind), it.replaces));
    let mut targets: Vec<Value> = values.take(MAX_COMPLETIONS).collect();
    // A backtick makes a line a command.
    let prefix = usize::from(text.starts_with('`'));
    if cursor > prefix {
        let (line, cursor) = (&text[prefix..], cursor - prefix);
        for it in debuggee.console.completions(&debuggee.debugger, line, cursor) {
            let replaces = it.replaces.start + prefix..it.replaces.end + prefix;
            let found = target(it.text, it.detail, "keyword", replaces);
            let is_known = |known: &Value| {
                known["label"] == found["label"] && known["start"] == found["start"]
            };
            if !targets.iter().any(is_known) {
                targets.push(found);
            }
        }
    }
    Ok(json!({ "targets": targets }))
}

fn type_of(kind: CompletionKind) -> &'static str {
    match kind {
        CompletionKind::Value => "variable",
        CompletionKind::Register => "value",
        CompletionKind::Function | CompletionKind::Export => "function",
        CompletionKind::Field => "property",
    }
}

fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The byte offset after a number of UTF-16 code units; within a character, the offset before it.
fn byte_of(text: &str, units: usize) -> usize {
    let mut passed = 0;
    for (at, character) in text.char_indices() {
        passed += character.len_utf16();
        if passed > units {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        let text = "a\u{e9}\u{1f600}b";
        let bytes = [0, 1, 2, 3, 4, 5, 9].map(|units| byte_of(text, units));
        assert_eq!(bytes, [0, 1, 3, 3, 7, 8, 8]);
    }
}
