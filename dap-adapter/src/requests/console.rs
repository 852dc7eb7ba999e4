//! Commands of the console besides expressions: `level`, which shows the program at another level.
//!
//! The protocol has no request for it. A client with a button for it sends the same text as an
//! `evaluate` with the context `repl`.

use serde_json::Value;

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Answer, RequestError, Variable, body};

/// The argument of the command `level` or `level NAME`; None if the text is an expression. No
/// expression has two words without an operator between them. A value called `level` can still be
/// evaluated, as `%level`.
pub(super) fn level(text: &str) -> Option<Option<&str>> {
    let mut words = text.split_whitespace();
    let is_command = words.next() == Some("level");
    let level = words.next();
    let is_word = level.is_none_or(|level| level.chars().all(char::is_alphanumeric));
    (is_command && is_word && words.next().is_none()).then_some(level)
}

/// Changes the level if one is named. Answers with the level.
pub(super) fn set_level(
    level: Option<&str>,
    debuggee: &mut Debuggee,
    client: &Client,
) -> Result<Value, RequestError> {
    if let Some(level) = level {
        let level = level.parse().map_err(RequestError::failed)?;
        debuggee.set_level(level, client).map_err(RequestError::failed)?;
    }
    let value = debuggee.debugger.machine().level().to_string();
    body(Answer::result(Variable { value, ..Variable::default() }))
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn a_command_is_no_expression() {
        assert_eq!(level("level"), Some(None));
        assert_eq!(level("  level  vm "), Some(Some("vm")));
        assert_eq!(level("level asm"), Some(Some("asm")));
        for expression in ["levels", "%level", "level + 1", "level[0]", "level = 3", "level vm x"] {
            assert_eq!(level(expression), None, "{expression}");
        }
    }
}
