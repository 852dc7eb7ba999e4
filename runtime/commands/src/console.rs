//! Which lines of an editor's console are commands, and which are expressions.
//!
//! A console evaluates expressions and takes commands. Where a line could be both, looking at a
//! value comes first, because it changes nothing: `c` shows a value called `c` where there is one.
//! A backtick makes any line a command, `p` any expression an expression.

use debug::{Debugger, Expression, FrameId};

use crate::parse;
use crate::session::Session;
use crate::words;

/// What a line of a console is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConsoleLine<'a> {
    /// A command, without the prefix that says so.
    Command(&'a str),
    /// An expression or an assignment. `is_command_too`: there is a command of that name.
    Expression {
        /// Whether a command has the name of the value.
        is_command_too: bool,
    },
}

impl Session {
    /// What a line of a console is, typed while a frame is selected.
    #[must_use]
    pub fn console_line<'a>(
        &self,
        debugger: &Debugger,
        frame: impl Into<FrameId>,
        line: &'a str,
    ) -> ConsoleLine<'a> {
        let line = line.trim();
        let forced = line.strip_prefix('`').or_else(|| line.strip_prefix("-exec "));
        if let Some(command) = forced {
            return ConsoleLine::Command(command.trim());
        }
        let (word, _) = words::first(line);
        let is_command = self.collects()
            || self.scripts.defined.contains_key(word)
            || line.contains('\n')
            || parse::is_command(line);
        match (is_command, names_value(debugger, frame.into(), line)) {
            (true, false) => ConsoleLine::Command(line),
            (is_command_too, _) => ConsoleLine::Expression { is_command_too },
        }
    }
}

/// Whether a line is an expression, or an assignment, that begins with a value of the frame.
fn names_value(debugger: &Debugger, frame: FrameId, line: &str) -> bool {
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    if end == 0 {
        return true;
    }
    let whole = assignment(line).map_or(line, |(target, _)| target);
    Expression::parse(whole).is_ok() && debugger.machine().evaluate(frame, &line[..end]).is_ok()
}

/// The parts of `target = value`, an assignment in a console.
#[must_use]
pub fn assignment(text: &str) -> Option<(&str, &str)> {
    let at = text.match_indices('=').map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        !matches!(before, Some('=' | '!' | '<' | '>')) && !text[at + 1..].starts_with('=')
    })?;
    let (target, value) = (text[..at].trim(), text[at + 1..].trim());
    (!target.is_empty() && !value.is_empty()).then_some((target, value))
}

#[cfg(test)]
mod tests {
    use super::assignment;

    #[test]
    fn an_assignment_is_no_comparison() {
        assert_eq!(assignment("%x = 3"), Some(("%x", "3")));
        assert_eq!(assignment("binding[0][1]=2 + 3"), Some(("binding[0][1]", "2 + 3")));
        assert_eq!(assignment("i0 = i1 == 2"), Some(("i0", "i1 == 2")));
        for none in ["i0 == 3", "i0 >= 3", "i0 <= 3", "i0 != 3", "= 3", "i0 =", "i0"] {
            assert_eq!(assignment(none), None, "{none}");
        }
    }
}
