//! Completion in the console: `completions`.

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
    let found = debuggee.debugger.machine().completions(frame, text, cursor);
    let targets = found.into_iter().take(MAX_COMPLETIONS).map(|it| {
        let start = utf16(&text[..it.replaces.start]);
        json!({
            "label": it.text,
            "detail": it.detail,
            "type": type_of(it.kind),
            "start": client.column(u32::try_from(start + 1).unwrap_or(u32::MAX)),
            "length": utf16(&text[it.replaces]),
        })
    });
    Ok(json!({ "targets": targets.collect::<Vec<Value>>() }))
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
