//! The way out: numbers messages and writes them.
//!
//! Only the session's loop holds a [`Wire`], so messages leave in the order in which things
//! happened. The reading side reports a client that is gone. Here a failed write only stops further
//! writes, so that the many places that send need not handle it.

use std::collections::HashMap;
use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use super::framing;
use super::protocol_log::{Direction, ProtocolLog};
use crate::protocol::events::{Category, Output};
use crate::protocol::{ErrorMessage, Event, Outgoing, Request, RequestError, Response};

/// The longest text in one `output` event: editors lay out an event as a whole.
const OUTPUT_CHUNK: usize = 32 * 1024;

pub(crate) struct Wire {
    output: Box<dyn Write + Send>,
    log: ProtocolLog,
    seq: i64,
    lost: bool,
    /// Breakpoints that the client knows by another number: the debugger's number to the client's.
    aliases: HashMap<i64, i64>,
}

#[derive(Serialize)]
struct Numbered<'a> {
    seq: i64,
    #[serde(flatten)]
    message: &'a Outgoing,
}

impl Wire {
    pub(crate) fn new(output: Box<dyn Write + Send>, log: ProtocolLog) -> Self {
        Self { output, log, seq: 0, lost: false, aliases: HashMap::new() }
    }

    /// Sends an event.
    pub(crate) fn event(&mut self, mut event: Event) {
        if !self.aliases.is_empty() {
            self.rename(&mut event);
        }
        self.send(&Outgoing::Event(event));
    }

    /// Replaces a breakpoint's number by `alias` in events, until a response gives the client the
    /// number itself.
    pub(crate) fn alias(&mut self, number: i64, alias: i64) {
        self.aliases.insert(number, alias);
    }

    fn rename(&self, event: &mut Event) {
        let rename = |id: &mut i64| *id = *self.aliases.get(id).unwrap_or(id);
        match event {
            Event::Breakpoint(event) => event.breakpoint.id.iter_mut().for_each(rename),
            Event::Stopped(stopped) => stopped.hit_breakpoint_ids.iter_mut().for_each(rename),
            _ => {}
        }
    }

    /// Answers a request.
    pub(crate) fn respond(&mut self, request: &Request, outcome: Result<Value, RequestError>) {
        if let Ok(body) = &outcome
            && !self.aliases.is_empty()
        {
            let listed = body["breakpoints"].as_array().into_iter().flatten();
            listed.filter_map(|it| it["id"].as_i64()).for_each(|id| _ = self.aliases.remove(&id));
        }
        self.answer(request.seq, &request.command, outcome);
    }

    /// Answers a message that need not have been a request.
    pub(crate) fn answer(
        &mut self,
        request_seq: i64,
        command: &str,
        outcome: Result<Value, RequestError>,
    ) {
        let command = command.to_owned();
        self.send(&Outgoing::Response(match outcome {
            Ok(body) => Response { request_seq, command, success: true, message: None, body },
            Err(error) => {
                let RequestError { kind, text, show_user } = error;
                let message = ErrorMessage { id: kind.id(), format: &text, show_user };
                let body = serde_json::json!({ "error": message });
                let message = Some(kind.short().map_or(text, str::to_owned));
                Response { request_seq, command, success: false, message, body }
            }
        }));
    }

    /// Prints lines in the client's console, several per event as far as [`OUTPUT_CHUNK`] allows.
    pub(crate) fn print<L: AsRef<str>>(
        &mut self,
        category: Category,
        lines: impl IntoIterator<Item = L>,
    ) {
        let mut output = String::new();
        for line in lines {
            output.push_str(line.as_ref());
            output.push('\n');
            if output.len() >= OUTPUT_CHUNK {
                let output = std::mem::take(&mut output);
                self.event(Event::Output(Output { category, output, place: None }));
            }
        }
        if !output.is_empty() {
            self.event(Event::Output(Output { category, output, place: None }));
        }
    }

    fn send(&mut self, message: &Outgoing) {
        self.seq += 1;
        let numbered = Numbered { seq: self.seq, message };
        let Ok(text) = serde_json::to_string(&numbered) else {
            return; // Cannot happen: our types have text keys and no parts that fail.
        };
        self.log.note(Direction::ToClient, || text.clone());
        if !self.lost {
            self.lost = framing::write(&mut self.output, text.as_bytes()).is_err();
        }
    }
}
