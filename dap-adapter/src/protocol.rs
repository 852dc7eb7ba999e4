//! The protocol's types that the `dap` crate does not have, or has wrong.
//!
//! Arguments and bodies come from `dap::{requests, responses, types}` wherever those do the job.
//! They do not, as of 0.4.1-alpha1, for
//! - the envelope: `dap` has one closed enum of requests, so an unknown command or a bad argument
//!   fails the whole message and leaves nothing to answer to. Here a [`Request`] keeps its
//!   arguments as JSON and the handler converts them;
//! - `Source`, `SourceBreakpoint`, `Breakpoint` and `ContinueResponse`, whose fields go over the
//!   wire in snake case (`source_reference`), and with them everything that contains them;
//! - `StackFrameFormat`, which has lost that it is a `ValueFormat` too;
//! - events, which write absent fields as `null`, which the protocol's schema forbids;
//! - what the protocol has got since: `Breakpoint.reason`,
//!   `DisassembledInstruction.presentationHint`.
//!
//! Field meanings are those of the specification; only what is ours is explained here.

use dap::types::ValueFormat;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::events::Event;

/// A request, its arguments not looked at yet.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) seq: i64,
    pub(crate) command: String,
    arguments: Value,
}

/// What a message from the client turned out to be.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request(Request),
    /// An answer to something that we asked. We ask nothing, so nobody waits for it.
    Response,
    /// Neither; what is wrong, and the sequence number if there is one.
    Malformed {
        seq: i64,
        command: String,
        reason: &'static str,
    },
}

impl Incoming {
    pub(crate) fn new(mut message: Value) -> Self {
        let seq = message.get("seq").and_then(Value::as_i64);
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
        let command = message.get("command").and_then(Value::as_str).map(str::to_owned);
        if kind == "response" {
            return Self::Response;
        }
        let malformed = |reason| Self::Malformed {
            seq: seq.unwrap_or(0),
            command: command.clone().unwrap_or_default(),
            reason,
        };
        match (kind, seq, &command) {
            ("request", Some(seq), Some(command)) => Self::Request(Request {
                seq,
                command: command.clone(),
                arguments: message.get_mut("arguments").map(Value::take).unwrap_or_default(),
            }),
            ("request", None, _) => malformed("a request needs a number as its `seq`"),
            ("request", ..) => malformed("a request needs a text as its `command`"),
            _ => malformed("a message needs `request` or `response` as its `type`"),
        }
    }
}

impl Request {
    /// The arguments as the handler wants them; absent ones are an empty object.
    pub(crate) fn arguments<'a, A: Deserialize<'a>>(&'a self) -> Result<A, String> {
        static NONE: std::sync::LazyLock<Value> =
            std::sync::LazyLock::new(|| Value::Object(Map::new()));
        let arguments = if self.arguments.is_null() { &NONE } else { &self.arguments };
        A::deserialize(arguments)
            .map_err(|error| format!("bad arguments of `{}`: {error}", self.command))
    }
}

/// A response or an event, without its sequence number.
#[derive(Serialize, Debug)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Outgoing {
    Response(Response),
    Event(Event),
}

/// The answer to a request.
#[derive(Serialize, Debug)]
pub(crate) struct Response {
    pub(crate) request_seq: i64,
    pub(crate) command: String,
    pub(crate) success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) body: Value,
}

/// The `error` of a failed response's body.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorMessage<'a> {
    pub(crate) id: u32,
    pub(crate) format: &'a str,
    pub(crate) show_user: bool,
}

/// A source: a file of the client's machine by `path`, or a text of ours by `source_reference`.
#[derive(Serialize, Deserialize, Debug, Clone, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_reference: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
}

/// See the `setBreakpoints` request.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetBreakpointsArguments {
    pub(crate) source: Source,
    #[serde(default)]
    pub(crate) breakpoints: Option<Vec<SourceBreakpoint>>,
}

/// A breakpoint that a client asks for.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceBreakpoint {
    pub(crate) line: i64,
    #[serde(default)]
    pub(crate) column: Option<i64>,
    #[serde(default)]
    pub(crate) condition: Option<String>,
    #[serde(default)]
    pub(crate) hit_condition: Option<String>,
    #[serde(default)]
    pub(crate) log_message: Option<String>,
}

/// What became of a breakpoint.
#[derive(Serialize, Debug, Clone, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Breakpoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<i64>,
    pub(crate) verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instruction_reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// The body of all `set…Breakpoints` responses.
#[derive(Serialize, Debug)]
pub(crate) struct BreakpointsBody {
    pub(crate) breakpoints: Vec<Breakpoint>,
}

/// See the `source` request; a client may give either of the two.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceArguments {
    #[serde(default)]
    pub(crate) source: Option<Source>,
    #[serde(default)]
    pub(crate) source_reference: Option<i64>,
}

/// A value, as it is listed.
#[derive(Serialize, Debug, Clone, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub(crate) type_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evaluate_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<Hint>,
    pub(crate) variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) named_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) indexed_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_reference: Option<String>,
}

/// How to show a value.
#[derive(Serialize, Debug, Clone)]
pub(crate) struct Hint {
    pub(crate) kind: &'static str,
    /// Whether the client asks for the value when somebody wants to see it.
    pub(crate) lazy: bool,
}

/// A value that somebody has asked for by itself: the answers to `evaluate`, `setVariable` and
/// `setExpression`, which call the same thing by different names.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub(crate) type_name: String,
    pub(crate) variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) named_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) indexed_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_reference: Option<String>,
}

impl Answer {
    /// The value of an expression.
    pub(crate) fn result(shown: Variable) -> Self {
        Self { result: Some(shown.value.clone()), value: None, ..Self::value(shown) }
    }

    /// A value that was set.
    pub(crate) fn value(shown: Variable) -> Self {
        Self {
            result: None,
            value: Some(shown.value),
            type_name: shown.type_name,
            variables_reference: shown.variables_reference,
            named_variables: shown.named_variables,
            indexed_variables: shown.indexed_variables,
            memory_reference: shown.memory_reference,
        }
    }
}

/// How a client wants values and frames to be written. The protocol has these under two names.
#[derive(Deserialize, Debug, Clone, Copy, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Format {
    #[serde(deserialize_with = "flag")]
    pub(crate) hex: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameters: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameter_types: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameter_names: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameter_values: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) line: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) module: bool,
}

/// A flag that some clients send as null where others leave it out.
fn flag<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    Option::<bool>::deserialize(value).map(Option::unwrap_or_default)
}

impl Format {
    /// Whether a frame's parameters are wanted, or anything about them.
    pub(crate) fn has_parameters(self) -> bool {
        let any_part = self.parameter_types || self.parameter_names || self.parameter_values;
        self.parameters || any_part
    }

    /// The integers of a value, as they are wanted.
    pub(crate) fn apply(self, variable: debug::Variable) -> debug::Variable {
        if self.hex { variable.in_hexadecimal() } else { variable }
    }
}

impl From<Option<ValueFormat>> for Format {
    fn from(format: Option<ValueFormat>) -> Self {
        let hex = format.and_then(|format| format.hex).unwrap_or(false);
        Self { hex, ..Self::default() }
    }
}

/// See the `stackTrace` request.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackTraceArguments {
    pub(crate) thread_id: i64,
    #[serde(default)]
    pub(crate) start_frame: Option<i64>,
    #[serde(default)]
    pub(crate) levels: Option<i64>,
    #[serde(default)]
    pub(crate) format: Option<Format>,
}

/// A frame of the stack.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackFrame {
    pub(crate) id: i64,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    pub(crate) line: i64,
    pub(crate) column: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instruction_pointer_reference: Option<String>,
    pub(crate) can_restart: bool,
    pub(crate) module_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<&'static str>,
}

/// The body of a `stackTrace` response.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackTraceBody {
    pub(crate) stack_frames: Vec<StackFrame>,
    pub(crate) total_frames: usize,
}

/// A line of the disassembly view.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DisassembledInstruction {
    pub(crate) address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) instruction_bytes: String,
    pub(crate) instruction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) location: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<&'static str>,
}

/// The body of a `disassemble` response.
#[derive(Serialize, Debug)]
pub(crate) struct DisassembleBody {
    pub(crate) instructions: Vec<DisassembledInstruction>,
}

/// The body of a `continue` response.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContinueBody {
    pub(crate) all_threads_continued: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Exited;
    use serde_json::json;

    #[test]
    fn outgoing_messages_have_the_protocols_shape_and_no_nulls() {
        let text = |message: Outgoing| serde_json::to_value(message).unwrap();
        assert_eq!(
            text(Outgoing::Event(Event::Initialized)),
            json!({"type": "event", "event": "initialized"}),
        );
        assert_eq!(
            text(Outgoing::Event(Event::Exited(Exited { exit_code: 3 }))),
            json!({"type": "event", "event": "exited", "body": {"exitCode": 3}}),
        );
        let response = Response {
            request_seq: 4,
            command: "next".into(),
            success: true,
            message: None,
            body: Value::Null,
        };
        assert_eq!(
            text(Outgoing::Response(response)),
            json!({"type": "response", "request_seq": 4, "command": "next", "success": true}),
        );
    }

    #[test]
    fn a_malformed_message_still_tells_what_it_answers_to() {
        let cases = [
            (json!({"seq": 7, "type": "request"}), 7, "a request needs a text as its `command`"),
            (
                json!({"type": "request", "command": "x"}),
                0,
                "a request needs a number as its `seq`",
            ),
            (json!([]), 0, "a message needs `request` or `response` as its `type`"),
            (
                json!({"seq": 1, "type": 3}),
                1,
                "a message needs `request` or `response` as its `type`",
            ),
        ];
        for (message, expected_seq, expected) in cases {
            let Incoming::Malformed { seq, reason, .. } = Incoming::new(message) else {
                panic!("taken as well-formed")
            };
            assert_eq!((seq, reason), (expected_seq, expected));
        }
    }

    #[test]
    fn absent_arguments_are_an_empty_object() {
        #[derive(Deserialize)]
        struct Optional {
            restart: Option<bool>,
        }
        for message in [
            json!({"seq": 1, "type": "request", "command": "disconnect"}),
            json!({"seq": 1, "type": "request", "command": "disconnect", "arguments": null}),
        ] {
            let Incoming::Request(request) = Incoming::new(message) else { panic!("no request") };
            assert_eq!(request.arguments::<Optional>().unwrap().restart, None);
            let error = request.arguments::<Exact>().err().unwrap();
            assert_eq!(error, "bad arguments of `disconnect`: missing field `line`");
        }
        #[derive(Deserialize, Debug)]
        struct Exact {
            #[expect(dead_code, reason = "only its absence matters")]
            line: i64,
        }
    }
}
