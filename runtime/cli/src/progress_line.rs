//! What a comparison or a search is at, in one line on a terminal that goes away; or, for a program
//! that shows it itself, in a line each.

use std::io::Write;
use std::time::{Duration, Instant};

use compare::Progress;

/// The line, if standard error is a terminal.
#[derive(Default)]
pub(crate) struct ProgressLine {
    is_shown: bool,
    /// Whether each text is a line that stays, and when the last one was said.
    lines: Option<Option<Instant>>,
}

/// Lines that stay are at least so far apart.
const PATIENCE: Duration = Duration::from_millis(200);

impl ProgressLine {
    /// `progress: dispatch 3: name` in a line each, also where there is no terminal.
    pub(crate) fn in_lines() -> Self {
        Self { lines: Some(None), ..Self::default() }
    }

    pub(crate) fn show(&mut self, at: Progress<'_>) {
        self.say(&match at {
            Progress::Compiling => "compiling dispatches to bytecode …".to_owned(),
            Progress::Dispatch(number, name) => format!("dispatch {number}: {name}"),
            Progress::Run(number) => format!("run {number}"),
        });
    }

    pub(crate) fn say(&mut self, text: &str) {
        if let Some(last) = &mut self.lines {
            if last.is_none_or(|it| it.elapsed() >= PATIENCE) {
                *last = Some(Instant::now());
                errln!("progress: {text}");
            }
            return;
        }
        let mut terminal = crate::printing::errors();
        if !terminal.is_terminal() {
            return;
        }
        // The report does not need this line.
        let _ = terminal
            .write_own(&format!("\r\x1b[K{}", abi::shown(text)))
            .and_then(|()| terminal.flush());
        self.is_shown = true;
    }

    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = crate::printing::errors().write_own("\r\x1b[K");
        }
    }
}
