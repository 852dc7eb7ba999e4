//! Messages of logpoints, on their way to the client while the program runs.
//!
//! A logpoint in a hot loop can log a million messages a second, and an editor that lays out each
//! as an event of its own freezes. So the program's thread appends to a bounded text, and the
//! session's loop takes that text, at most once in [`PERIOD`]. Messages that do not fit are only
//! counted.
//!
//! ```text
//!   program ── push ──> Pending (bounded) <── take ── session ──> one output event per place
//!      └── wakes the loop with the first message of an empty text
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use debug::{LogMessage, SourceLine};

/// The least time between two outputs of messages.
const PERIOD: Duration = Duration::from_millis(50);
/// The most bytes of text in one output; the message that crosses it still counts.
const MAX_TEXT: usize = 64 * 1024;

/// Consecutive messages from one place, a line each.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) text: String,
    pub(crate) source: Option<SourceLine>,
}

/// Messages that were not taken yet.
#[derive(Debug, Default)]
struct Pending {
    lines: Vec<Lines>,
    length: usize,
    /// How many messages did not fit.
    dropped: usize,
}

/// The messages of a program: the session's end of them.
#[derive(Debug, Default)]
pub(crate) struct LogMessages {
    pending: Arc<Mutex<Pending>>,
    last: Option<Instant>,
    /// Whether messages wait to be taken.
    waits: bool,
}

impl LogMessages {
    /// The program's end: what it calls for each message. `wake` is called for the first message
    /// after [`Self::take`].
    pub(crate) fn sink(
        &self,
        wake: impl Fn() + Send + 'static,
    ) -> impl FnMut(LogMessage) + Send + 'static {
        let pending = Arc::clone(&self.pending);
        move |message| {
            if lock(&pending).push(message) {
                wake();
            }
        }
    }

    /// The program has logged a message: it is printed at [`LogMessages::deadline`].
    pub(crate) fn notify(&mut self) {
        self.waits = true;
    }

    /// When to call [`Self::take`].
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        self.waits.then(|| self.last.map_or(now, |last| last + PERIOD))
    }

    /// The messages so far, and how many did not fit.
    pub(crate) fn take(&mut self) -> (Vec<Lines>, usize) {
        self.waits = false;
        self.last = Some(Instant::now());
        let Pending { lines, dropped, .. } = std::mem::take(&mut *lock(&self.pending));
        (lines, dropped)
    }
}

impl Pending {
    /// Appends a message. Returns whether it is the first.
    fn push(&mut self, message: LogMessage) -> bool {
        let is_first = self.lines.is_empty();
        if self.length >= MAX_TEXT {
            self.dropped += 1;
            return false;
        }
        self.length += message.text.len() + 1;
        match self.lines.last_mut().filter(|last| last.source == message.source) {
            Some(last) => last.text.push_str(&message.text),
            None => self.lines.push(Lines { text: message.text, source: message.source }),
        }
        if let Some(last) = self.lines.last_mut() {
            last.text.push('\n');
        }
        is_first
    }
}

fn lock(pending: &Mutex<Pending>) -> MutexGuard<'_, Pending> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn message(text: &str, line: u32) -> LogMessage {
        let source = SourceLine { file: "a.mlir".into(), path: None, line, column: 1 };
        LogMessage { breakpoint: debug::BreakpointId(1), text: text.into(), source: Some(source) }
    }

    #[test]
    fn messages_of_one_place_are_one_text_and_wake_the_loop_once() {
        let mut logs = LogMessages::default();
        let (events, inbox) = channel();
        let mut sink = logs.sink(move || _ = events.send(()));
        sink(message("a", 3));
        sink(message("b", 3));
        sink(message("c", 4));
        assert_eq!(inbox.try_iter().count(), 1);
        logs.notify();
        assert!(logs.deadline().is_some());
        let (lines, dropped) = logs.take();
        let texts: Vec<&str> = lines.iter().map(|it| it.text.as_str()).collect();
        assert_eq!((texts, dropped), (vec!["a\nb\n", "c\n"], 0));
        assert_eq!(logs.deadline(), None);
        sink(message("d", 3));
        assert_eq!(inbox.try_iter().count(), 1);
    }

    #[test]
    fn a_flood_is_cut_and_counted() {
        let mut logs = LogMessages::default();
        let (events, _inbox) = channel();
        let mut sink = logs.sink(move || _ = events.send(()));
        let text = "x".repeat(1023);
        (0..100).for_each(|_| sink(message(&text, 1)));
        let (lines, dropped) = logs.take();
        assert_eq!((lines[0].text.len(), dropped), (MAX_TEXT, 36));
    }
}
