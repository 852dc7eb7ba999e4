//! `textDocument/didOpen` with a long text. The text becomes a rope straight from the message's
//! bytes. The message that tower-lsp receives has an empty text and a number, under which the rope
//! is held.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ropey::{Rope, RopeBuilder};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use serde_json::value::RawValue;
use tower_lsp::jsonrpc::Request;

/// The member of the parameters that holds the number. A client that sends it itself can only name
/// a text that it sent.
const NUMBER: &str = "iree-dbg/held";

/// How many bytes are collected before they go into a rope.
const BLOCK: usize = 64 << 10;

/// Texts between their messages and the documents.
#[derive(Default)]
pub(crate) struct HeldTexts(Mutex<(u64, HashMap<u64, Rope>)>);

impl HeldTexts {
    fn put(&self, text: Rope) -> u64 {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.0 += 1;
        let number = held.0;
        held.1.insert(number, text);
        number
    }

    /// Takes the text of a number. It can be taken once.
    pub(crate) fn take(&self, number: u64) -> Option<Rope> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&number)
    }
}

/// The number under which a message's text is held, if it is.
pub(crate) fn number_of(request: &Request) -> Option<u64> {
    request.params()?.get(NUMBER)?.as_u64()
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    id: Option<IgnoredAny>,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    text_document: Item<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    uri: String,
    language_id: String,
    version: i32,
    #[serde(borrow)]
    text: &'a RawValue,
}

/// The message without its text, which is held from now on. `None` unless it is a well-formed
/// `didOpen`.
pub(crate) fn without_text(message: &[u8], held: &HeldTexts) -> Option<Vec<u8>> {
    let Message { jsonrpc, method, id: None, params } = serde_json::from_slice(message).ok()?
    else {
        return None;
    };
    if jsonrpc != "2.0" || method != "textDocument/didOpen" {
        return None;
    }
    let Item { uri, language_id, version, text } = params.text_document;
    let number = held.put(unescaped(text.get())?);
    let item = json!({"uri": uri, "languageId": language_id, "version": version, "text": ""});
    let params = json!({"textDocument": item, NUMBER: number});
    serde_json::to_vec(&json!({"jsonrpc": "2.0", "method": method, "params": params})).ok()
}

/// The text of a JSON string. `None` if it is not one, or has half of a surrogate pair.
fn unescaped(json: &str) -> Option<Rope> {
    let mut rest = json.strip_prefix('"')?.strip_suffix('"')?;
    let mut rope = RopeBuilder::new();
    let mut block = String::with_capacity(2 * BLOCK);
    while let Some(plain) = memchr::memchr(b'\\', rest.as_bytes()) {
        block.push_str(&rest[..plain]);
        let (character, length) = escape(&rest[plain..])?;
        block.push(character);
        rest = &rest[plain + length..];
        if block.len() >= BLOCK {
            rope.append(&block);
            block.clear();
        }
    }
    rope.append(&block);
    rope.append(rest);
    Some(rope.finish())
}

/// The character of an escape at the start of `text`, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        &plain @ (b'"' | b'\\' | b'/') => char::from(plain),
        b'u' => return long_escape(text),
        _ => return None,
    };
    Some((character, 2))
}

/// `\uXXXX`, or a surrogate pair of these.
fn long_escape(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 4)?, 16).ok();
    let first = unit(2)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let second = text.get(6..8).filter(|escape| *escape == "\\u").and_then(|_| unit(8))?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 12))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{HeldTexts, unescaped, without_text};

    #[test]
    fn strings_read_as_serde_json_reads_them() {
        let long = "é\\n\\ud83d\\ude00 ".repeat(super::BLOCK / 4);
        for inside in [
            "",
            "plain größe 😀",
            r#"\"\\\/\b\f\n\r\t"#,
            r"\u0041\u00e9\u20AC\ud83d\ude00x",
            r"\ud83d",
            r"\ud83dx",
            r"\ud83d\n",
            r"\ud83d\u0041",
            r"\ude00",
            r"\\ud83d",
            &long,
        ] {
            let text = format!("\"{inside}\"");
            let expected = serde_json::from_str::<String>(&text).ok();
            assert_eq!(unescaped(&text).map(|rope| rope.to_string()), expected, "{inside}");
        }
    }

    #[test]
    fn only_an_opening_is_shortened() {
        let item = json!({"uri": "file:///x", "languageId": "mlir", "version": 1, "text": "t"});
        let opening = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}});
        let held = HeldTexts::default();
        let short = |message: &Value| without_text(message.to_string().as_bytes(), &held);
        assert!(short(&opening).is_some());
        assert_eq!(held.take(1).map(|text| text.to_string()).as_deref(), Some("t"));
        assert!(held.take(1).is_none());
        for (place, value) in [
            ("/method", json!("textDocument/didClose")),
            ("/jsonrpc", json!("1.0")),
            ("/params", json!([])),
            ("/params/textDocument/text", json!(1)),
            ("/params/textDocument/text", json!(["t"])),
            ("/params/textDocument/version", json!("1")),
            ("/params/textDocument/uri", Value::Null),
        ] {
            let mut other = opening.clone();
            *other.pointer_mut(place).unwrap() = value;
            assert_eq!(short(&other), None, "{other}");
        }
        let mut request = opening.clone();
        request["id"] = json!(1);
        assert_eq!(short(&request), None);
        assert_eq!(without_text(b"{", &held), None);
        assert_eq!(without_text(b"\xff", &held), None);
    }
}
