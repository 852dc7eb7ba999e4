//! Conversations over LSP. `edits`: a text is edited in many steps, and every answer about it must
//! equal the answer about a fresh document with the same text. `lsp`: requests of all kinds, and
//! damaged streams; each request must get one answer that is no internal error, and `exit` must end
//! the server.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::random::Random;
use crate::samples::Samples;
use crate::text;

const REQUESTS: &[&str] = &[
    "textDocument/documentSymbol",
    "textDocument/semanticTokens/full",
    "textDocument/foldingRange",
    "textDocument/documentLink",
    "textDocument/codeLens",
    "textDocument/diagnostic",
];
const AT_A_PLACE: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/prepareRename",
    "textDocument/prepareCallHierarchy",
];
const OTHERS: &[&str] = &[
    "workspace/symbol",
    "iree-dbg/moduleLines",
    "iree-dbg/textDocumentContent",
    "workspace/executeCommand",
    "textDocument/rename",
    "textDocument/inlayHint",
    "textDocument/codeAction",
    "textDocument/selectionRange",
    "textDocument/formatting",
    "textDocument/semanticTokens/range",
    "$/unheardOf",
    "textDocument/unheardOf",
];

const EDITED: &str = "file:///edited.mlir";
const FRESH: &str = "file:///fresh.mlir";

/// Edits a text and compares the answers with those for a fresh document.
///
/// # Panics
/// An answer differs.
pub(crate) fn edits(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let original: &String = random.choose(&samples.sources);
    let mut text: String = piece(original, random);
    let mut conversation = Conversation::begin();
    conversation.open(EDITED, &text);
    for version in 2..3 + random.below(12) {
        let changes: Vec<Value> =
            (0..=random.below(3)).map(|_| edit(&mut text, original, random)).collect();
        let document = json!({"uri": EDITED, "version": version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        conversation.notify("textDocument/didChange", &params);
        if random.chance(3) {
            conversation
                .ask("textDocument/documentSymbol", &json!({"textDocument": {"uri": EDITED}}));
        }
    }
    kept.extend(text.as_bytes());
    conversation.open(FRESH, &text);
    let mut pairs = Vec::new();
    for method in REQUESTS {
        let mut both = |uri| conversation.ask(method, &json!({"textDocument": {"uri": uri}}));
        pairs.push((*method, both(EDITED), both(FRESH)));
    }
    for _ in 0..6 {
        let (line, character) = place(&text, random);
        let method = *random.choose(AT_A_PLACE);
        let mut both = |uri| {
            let position = json!({"line": line, "character": character});
            let params = json!({"textDocument": {"uri": uri}, "position": position, "context": {"includeDeclaration": true}});
            conversation.ask(method, &params)
        };
        pairs.push((method, both(EDITED), both(FRESH)));
    }
    let answers = conversation.end();
    for (method, edited, fresh) in pairs {
        let [edited, fresh] = [edited, fresh].map(|id| comparable(&answers[&id]));
        assert_eq!(edited, fresh, "{method} answers otherwise after edits");
    }
    true
}

/// An answer without what differs anyhow: the document's name, numbers of results.
fn comparable(answer: &Value) -> String {
    let mut answer = answer.clone();
    if let Some(object) = answer.as_object_mut() {
        object.remove("id");
    }
    for name in ["resultId", "data"] {
        if let Some(result) = answer.pointer_mut("/result").and_then(Value::as_object_mut)
            && (name != "data" || !result.contains_key("resultId"))
        {
            result.remove(name);
        }
    }
    answer.to_string().replace(EDITED, FRESH)
}

/// Sends requests of all kinds.
///
/// # Panics
/// A request has no answer, or the answer is an internal error.
pub(crate) fn anything(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let mut conversation = Conversation::begin();
    let uris = [EDITED, FRESH, "file:///x.vmasm", "untitled:1", "iree-vmfb:/none.vmfb.vmasm"];
    for uri in &uris[..3] {
        let original: &String = random.choose(&samples.sources);
        let text = text::mutate(&piece(original, random), random);
        conversation.open(uri, &String::from_utf8_lossy(&text));
    }
    for _ in 0..random.below(30) {
        let uri = *random.choose(&uris);
        let mut number = || random.number();
        let position = json!({"line": number(), "character": number()});
        let near = json!({"line": random.below(30), "character": random.below(40)});
        let position = if random.chance(4) { position } else { near };
        let range = json!({"start": position, "end": {"line": random.below(40), "character": random.below(40)}});
        let params = json!({
            "textDocument": {"uri": uri, "version": random.below(5)}, "position": position, "range": range,
            "context": {"includeDeclaration": true, "diagnostics": []}, "newName": "%z", "query": "m", "uri": uri,
            "positions": [position], "options": {"tabSize": 2, "insertSpaces": true}, "line": random.below(30),
            "command": "iree-dbg.showAbi", "arguments": [uri, "main"],
            "contentChanges": [{"range": range, "text": random.choose(&["", "%x", "{\n", "}\n", "é😀", "\""])}],
        });
        match random.below(8) {
            0 => conversation.notify("textDocument/didChange", &params),
            1 if random.chance(4) => conversation.notify("textDocument/didClose", &params),
            2 => drop(conversation.ask(random.choose::<&str>(OTHERS), &params)),
            3 => conversation.notify("$/cancelRequest", &json!({"id": 1 + random.below(30)})),
            4 | 5 => drop(conversation.ask(random.choose::<&str>(REQUESTS), &params)),
            _ => drop(conversation.ask(random.choose::<&str>(AT_A_PLACE), &params)),
        }
    }
    if random.chance(3) {
        conversation.damage(random);
    }
    kept.clone_from(&conversation.said);
    let is_whole = !conversation.is_damaged;
    conversation.end();
    is_whole
}

/// A whole text or some of its lines.
fn piece(text: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = random.below(lines.len());
    let count = 1 + random.below(60);
    let picked: Vec<&str> = lines.iter().skip(from).take(count).copied().collect();
    picked.join("\n") + "\n"
}

/// Changes a piece of the text. Returns the change as an editor sends it.
fn edit(text: &mut String, other: &str, random: &mut Random) -> Value {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let from = random.below(places.len());
    let to = (from + random.below(30)).min(places.len() - 1);
    let (from, to) = (places[from], places[to]);
    let new = match random.below(6) {
        0 => String::new(),
        1 => piece(other, random),
        2 => "é😀\n\t".to_owned(),
        _ => (*random.choose(&[
            "%x", "{", "}", "\"", "//", "\n", "^bb1:", "@f", "loc(", " : i32", "#map", "(", ")",
        ]))
        .to_owned(),
    };
    let change =
        json!({"range": {"start": position(text, from), "end": position(text, to)}, "text": new});
    text.replace_range(from..to, &new);
    change
}

/// The line and the UTF-16 column of a byte.
fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({"line": line, "character": before[start..].encode_utf16().count()})
}

fn place(text: &str, random: &mut Random) -> (usize, usize) {
    let line = random.below(text.lines().count());
    (line, random.below(text.lines().nth(line).map_or(1, str::len)))
}

/// The client's messages, all of which are sent before the answers are read.
struct Conversation {
    said: Vec<u8>,
    asked: Vec<i64>,
    is_damaged: bool,
}

impl Conversation {
    fn begin() -> Self {
        let mut conversation = Self { said: Vec::new(), asked: Vec::new(), is_damaged: false };
        let capabilities = json!({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}}});
        conversation.ask(
            "initialize",
            &json!({"processId": null, "rootUri": null, "capabilities": capabilities}),
        );
        conversation.notify("initialized", &json!({}));
        conversation
    }

    fn say(&mut self, message: &Value) {
        let body = message.to_string();
        self.said.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.asked.len() as i64 + 1;
        self.asked.push(id);
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn open(&mut self, uri: &str, text: &str) {
        let language = if uri.ends_with(".vmasm") { "vmasm" } else { "mlir" };
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": item}));
    }

    fn damage(&mut self, random: &mut Random) {
        self.is_damaged = true;
        for _ in 0..=random.below(4) {
            let at = random.below(self.said.len());
            match random.below(4) {
                0 => self.said[at] = random.below(256) as u8,
                1 => self.said.truncate(at.max(1)),
                2 => self.said.insert(at, b'\n'),
                _ => drop(self.said.splice(at..at, *b"Content-Length: 77777777777\r\n\r\n")),
            }
        }
    }

    /// Sends `shutdown` and `exit`, and returns all answers.
    fn end(mut self) -> HashMap<i64, Value> {
        let shutdown = self.ask("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("the system gives threads");
        let said = std::mem::take(&mut self.said);
        let (code, heard) = runtime.block_on(async move {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let (input, output) = tokio::io::split(theirs);
            let server = tokio::spawn(server::serve(input, output));
            let (mut input, mut output) = tokio::io::split(ours);
            let talk = tokio::spawn(async move {
                // After a fatal fault, the server does not read the rest.
                let _ = output.write_all(&said).await;
                let _ = output.shutdown().await;
            });
            let mut heard = Vec::new();
            let _ = input.read_to_end(&mut heard).await;
            let code = server.await.expect("the server does not panic");
            let _ = talk.await;
            (code, heard)
        });
        let answers = answers(&String::from_utf8_lossy(&heard));
        if !self.is_damaged {
            assert_eq!(code, 0, "the server failed");
            for id in &self.asked {
                // A request that still runs two seconds after `exit` is abandoned.
                assert!(answers.contains_key(id), "no answer to {id}");
            }
            assert!(answers.contains_key(&shutdown));
        }
        answers
    }
}

fn answers(heard: &str) -> HashMap<i64, Value> {
    let mut answers = HashMap::new();
    let mut rest = heard;
    while let Some((header, body)) = rest.split_once("\r\n\r\n") {
        let length = header.strip_prefix("Content-Length: ").and_then(|it| it.parse().ok());
        let length: usize = length.unwrap_or_else(|| panic!("a header is {header:?}"));
        let message: Value = serde_json::from_str(&body[..length]).expect("a message is JSON");
        rest = &body[length..];
        assert_ne!(message["error"]["code"], -32603, "{message}");
        if let (Some(id), None) = (message["id"].as_i64(), message.get("method")) {
            assert!(answers.insert(id, message).is_none(), "{id} is answered twice");
        }
    }
    answers
}
