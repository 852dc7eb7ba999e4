//! Prepares input for tower-lsp: takes long texts out of messages and replaces malformed frames.
//!
//! tower-lsp keeps a message's bytes in a buffer that doubles, and reads JSON through a form that
//! copies every string again. For a text of a hundred megabytes, most of the time and memory of
//! opening it goes there. So messages are collected here. A long message that opens a document is
//! passed on without its text (see `held_texts`); other messages are passed on unchanged.
//!
//! Also, tower-lsp ends at the first frame that is not a message, and hangs if it is not UTF-8.
//! Such a frame is replaced by a request for the error that its sender receives ([`MALFORMED`]),
//! and the fault is reported on standard error. If headers do not end, or claim an impossible
//! length, the session ends after that error.
//!
//! ```text
//! Headers ──► Body ──┐
//!    ▲  └──► Over     │
//!    └────────────────┘
//! ```

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tower_lsp::jsonrpc::{Error, ErrorCode as Code, Request, Response};

use super::held_texts;
use super::state::State;

/// Shorter messages keep their texts, in bytes.
const LONG: usize = 1 << 20;
/// The size of one read, in bytes.
const READ: usize = 64 << 10;
/// The longest headers, in bytes.
const HEADERS: usize = 4 << 10;

/// The longest message, in bytes: longer than any text worth opening.
const LONGEST: usize = 1 << 30;

/// The method that replaces a frame that is not a message. Its parameters are the error to answer
/// with.
pub(crate) const MALFORMED: &str = "$/malformed";

/// The part of a message that comes next.
enum Stage {
    /// More headers, after these.
    Headers(Vec<u8>),
    /// The rest of a message. Its length is only a claim.
    Body { headers: Vec<u8>, body: Vec<u8>, length: usize },
    /// Nothing: the input does not follow the protocol.
    Over,
}

pub(crate) struct Frames<I> {
    inner: I,
    state: Arc<State>,
    stage: Stage,
    read: Box<[u8]>,
    /// Bytes to pass on, and how many of them were.
    out: Vec<u8>,
    given: usize,
}

impl<I> Frames<I> {
    pub(crate) fn new(inner: I, state: Arc<State>) -> Self {
        let stage = Stage::Headers(Vec::new());
        let read = vec![0; READ].into_boxed_slice();
        Self { inner, state, stage, read, out: Vec::new(), given: 0 }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Frames<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        while this.given == this.out.len() {
            // The buffer of a long message is released.
            this.out = Vec::new();
            this.given = 0;
            if matches!(this.stage, Stage::Over) {
                return Poll::Ready(Ok(()));
            }
            let mut read = ReadBuf::new(&mut this.read);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut read))?;
            let mut input = read.filled();
            if input.is_empty() {
                return Poll::Ready(Ok(()));
            }
            while !input.is_empty() {
                this.stage.step(&mut input, &mut this.out, &this.state);
            }
        }
        let count = buffer.remaining().min(this.out.len() - this.given);
        buffer.put_slice(&this.out[this.given..this.given + count]);
        this.given += count;
        Poll::Ready(Ok(()))
    }
}

impl Stage {
    /// Consumes some of `input`, which is not empty.
    fn step(&mut self, input: &mut &[u8], out: &mut Vec<u8>, state: &State) {
        match self {
            Self::Headers(headers) => {
                let line = memchr::memchr(b'\n', input).map_or(input.len(), |end| end + 1);
                headers.extend_from_slice(take(input, line));
                let is_whole = headers.ends_with(b"\n\r\n") || headers.ends_with(b"\n\n");
                if !is_whole && headers.len() <= HEADERS {
                    return;
                }
                let headers = std::mem::take(headers);
                if !is_whole {
                    fault(out, Code::ParseError, "headers do not end; the session ends");
                    *self = Self::Over;
                    return;
                }
                match length_in(&headers) {
                    Some(length) if length > LONGEST => {
                        let text = format!("a message claims {length} bytes; the session ends");
                        fault(out, Code::ParseError, &text);
                        *self = Self::Over;
                    }
                    Some(length) if length > 0 => {
                        *self = Self::Body { headers, body: Vec::new(), length };
                    }
                    // Empty lines between messages are no fault.
                    _ if headers.trim_ascii().is_empty() => {}
                    _ => fault(out, Code::ParseError, "headers have no readable Content-Length"),
                }
            }
            Self::Over => *input = &[],
            Self::Body { headers, body, length } => {
                let part = take(input, *length - body.len());
                if body.capacity() - body.len() < part.len() {
                    // Doubles the buffer, but never beyond the claimed length.
                    let more = body.len().max(part.len()).max(READ);
                    body.reserve_exact(more.min(*length - body.len()));
                }
                body.extend_from_slice(part);
                if body.len() == *length {
                    let short =
                        (*length >= LONG).then(|| held_texts::without_text(body, &state.held));
                    if let Some(short) = short.flatten() {
                        frame(out, &short);
                    } else if is_message(body) {
                        out.append(headers);
                        out.append(body);
                    } else {
                        let what = format!("a frame of {length} bytes is not a JSON-RPC message");
                        match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
                            Ok(_) => fault(out, Code::InvalidRequest, &what),
                            Err(error) => fault(out, Code::ParseError, &format!("{what}: {error}")),
                        }
                    }
                    *self = Self::Headers(Vec::new());
                }
            }
        }
    }
}

fn frame(out: &mut Vec<u8>, body: &[u8]) {
    out.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
    out.extend_from_slice(body);
}

/// Reports a fault on standard error and queues an error for its sender.
fn fault(out: &mut Vec<u8>, code: Code, text: &str) {
    eprintln!("error: {}", abi::shown(text));
    let error = Error { code, message: text.to_owned().into(), data: None };
    let request = serde_json::json!({
        "jsonrpc": "2.0", "id": null, "method": MALFORMED, "params": error,
    });
    frame(out, request.to_string().as_bytes());
}

/// Whether tower-lsp accepts a body as a message.
fn is_message(body: &[u8]) -> bool {
    serde_json::from_slice::<Request>(body).is_ok()
        || serde_json::from_slice::<Response>(body).is_ok()
}

/// The first bytes of `input`, at most `most`.
fn take<'a>(input: &mut &'a [u8], most: usize) -> &'a [u8] {
    let (taken, rest) = input.split_at(most.min(input.len()));
    *input = rest;
    taken
}

/// The length that headers claim, read as tower-lsp reads it.
fn length_in(headers: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(headers).ok()?;
    let length = text.lines().rev().find_map(|line| line.strip_prefix("Content-Length:"));
    length?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::AsyncReadExt;

    use super::{Frames, LONG};
    use crate::transport::State;

    const MESSAGE: &str = r#"{"jsonrpc": "2.0", "id": 1, "method": "x"}"#;

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    fn opening(text: &str) -> String {
        let item =
            json!({"uri": "file:///x.mlir", "languageId": "mlir", "version": 7, "text": text});
        json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
            .to_string()
    }

    /// The output for an input that arrives in pieces of `size` bytes.
    async fn passed(input: &str, size: usize, state: &std::sync::Arc<State>) -> String {
        let (mut client, server) = tokio::io::duplex(size);
        let mut frames = Frames::new(server, state.clone());
        let mut out = String::new();
        let send = async {
            tokio::io::AsyncWriteExt::write_all(&mut client, input.as_bytes()).await.unwrap();
            drop(client);
        };
        let (_, received) = tokio::join!(send, frames.read_to_string(&mut out));
        received.unwrap();
        out
    }

    #[tokio::test]
    async fn what_is_short_goes_on_as_it_came() {
        let mixed = [
            frame(&opening("short")),
            format!("Content-Type: x\nContent-Length: {}\n\n{MESSAGE}", MESSAGE.len()),
            frame("{\"jsonrpc\": \"2.0\", \"method\": \"x\",\r\n\r\n\"params\": [1]}"),
        ]
        .concat();
        for size in [1, 7, 1 << 20] {
            assert_eq!(passed(&mixed, size, &State::new()).await, mixed, "{size}");
        }
    }

    #[tokio::test]
    async fn long_messages_go_on_whole_but_for_a_text_that_is_opened() {
        let state = State::new();
        let text = "größe 😀\t\"\\\n".repeat(LONG / 8);
        let other = json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": [text]}).to_string();
        let input =
            [frame(MESSAGE), frame(&other), frame(&opening(&text)), frame(MESSAGE)].concat();
        for size in [4097, 1 << 22] {
            let out = passed(&input, size, &state).await;
            let before = [frame(MESSAGE), frame(&other)].concat();
            let rest = out.strip_prefix(&before).expect("what came before, unchanged");
            let rest = rest.strip_suffix(&frame(MESSAGE)).expect("what came after, unchanged");
            let (headers, body) = rest.split_once("\r\n\r\n").unwrap();
            assert_eq!(headers, format!("Content-Length: {}", body.len()));
            let message: Value = serde_json::from_str(body).unwrap();
            let item = &message["params"]["textDocument"];
            assert_eq!((&item["version"], &item["text"]), (&json!(7), &json!("")));
            let request = serde_json::from_value(message).unwrap();
            let number = crate::transport::held_texts::number_of(&request).unwrap();
            assert_eq!(state.held.take(number).unwrap(), text.as_str());
        }
    }

    #[tokio::test]
    async fn what_is_no_message_is_replaced() {
        let deep = "[".repeat(10_000);
        let cases = [
            (frame("{"), -32700),
            (frame(&deep), -32700),
            (frame("[]"), -32600),
            (frame("{}"), -32600),
            (frame("null"), -32600),
            (frame(""), -32700),
            ("no message\r\n\r\n".into(), -32700),
            ("Content-Length: -3\r\n\r\n".into(), -32700),
            ("Content-Length: 99999999999999999999999999\r\n\r\n".into(), -32700),
        ];
        for (given, code) in cases {
            let out = passed(&[given, frame(MESSAGE)].concat(), 64, &State::new()).await;
            let replaced = out.strip_suffix(&frame(MESSAGE)).expect("what came after, unchanged");
            assert_eq!(asked_for(replaced), code, "{replaced}");
        }
    }

    /// The code of the error that a frame asks for.
    fn asked_for(frame: &str) -> i64 {
        let (_, body) = frame.split_once("\r\n\r\n").unwrap();
        let request: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&request["method"], &request["id"]), (&json!(super::MALFORMED), &json!(null)));
        request["params"]["code"].as_i64().unwrap()
    }

    #[tokio::test]
    async fn what_is_no_protocol_ends_the_input() {
        let long = "x".repeat(3 * super::HEADERS);
        let claim = format!("Content-Length: {}\r\n\r\n{{}}", super::LONGEST + 1);
        for given in [long, claim] {
            let out = passed(&[given, frame(MESSAGE)].concat(), 1 << 20, &State::new()).await;
            assert_eq!(asked_for(&out), -32700);
        }
    }
}
