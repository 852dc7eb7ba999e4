//! What a comparison or a search is at, in one line on a terminal that goes away.

use std::io::Write;

use compare::Progress;

/// The line, if standard error is a terminal.
#[derive(Default)]
pub(crate) struct ProgressLine {
    is_shown: bool,
}

impl ProgressLine {
    pub(crate) fn show(&mut self, at: Progress<'_>) {
        self.say(&match at {
            Progress::Compiling => "compiling dispatches to bytecode …".to_owned(),
            Progress::Dispatch(number, name) => format!("dispatch {number}: {name}"),
            Progress::Run(number) => format!("run {number}"),
        });
    }

    pub(crate) fn say(&mut self, text: &str) {
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
