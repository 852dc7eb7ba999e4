//! The envelope: requests as they arrive, responses and events as they leave.
//!
//! The `dap` crate has one closed enum of requests, so an unknown command or a bad argument fails
//! the whole message and leaves nothing to answer to. Here a [`Request`] keeps its arguments as
//! JSON, and the handler converts them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::RequestError;
use super::events::Event;

/// A request whose arguments are not converted yet.
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
    /// An answer to a request of ours. We send none, so nothing waits for it.
    Response,
    /// Neither. Says what is wrong, with the sequence number and the command as far as there are
    /// any.
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
    /// The arguments, converted. Absent arguments count as an empty object.
    ///
    /// # Errors
    /// They do not have the protocol's shape.
    pub(crate) fn arguments<'a, A: Deserialize<'a>>(&'a self) -> Result<A, RequestError> {
        static NONE: std::sync::LazyLock<Value> =
            std::sync::LazyLock::new(|| Value::Object(Map::new()));
        let arguments = if self.arguments.is_null() { &NONE } else { &self.arguments };
        A::deserialize(arguments).map_err(|error| {
            RequestError::malformed(format!("bad arguments of `{}`: {error}", self.command))
        })
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

/// The body of a response.
///
/// # Errors
/// It has no form in JSON: a fault of ours.
pub(crate) fn body(body: impl Serialize) -> Result<Value, RequestError> {
    serde_json::to_value(body).map_err(|error| RequestError::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::events::Exited;
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
            assert_eq!(error.text, "bad arguments of `disconnect`: missing field `line`");
        }
        #[derive(Deserialize, Debug)]
        struct Exact {
            #[expect(dead_code, reason = "only its absence matters")]
            line: i64,
        }
    }
}
