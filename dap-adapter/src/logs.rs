//! What breakpoints have to say while the program runs, on its way to the client.
//!
//! A log message in a hot loop comes a million times a second, and an editor that lays out each as
//! an event of its own freezes. So the program's thread writes into a bounded text, and the
//! session's loop takes what has gathered, at most once in [`PERIOD`]. What does not fit is counted
//! and said.
//!
//! ```text
//!   program ── push ──> Pending (bounded) <── take ── session ──> one output event a place
//!      └── wakes the loop with the first message after an empty text
//! ```

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use debug::{LogMessage, SourceLine};

use crate::session::Event;

/// How often the client hears of messages.
const PERIOD: Duration = Duration::from_millis(50);
/// How much text the client gets at a time.
const MOST: usize = 64 * 1024;

/// Messages of one place, one behind the other.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) text: String,
    pub(crate) source: Option<SourceLine>,
}

/// What has gathered.
#[derive(Debug, Default)]
struct Pending {
    lines: Vec<Lines>,
    length: usize,
    left_out: usize,
}

/// The loop's end.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    pending: Arc<Mutex<Pending>>,
    last: Option<Instant>,
    /// Whether something waits for its time.
    waits: bool,
}

impl Logs {
    /// The program's end.
    pub(crate) fn sink(&self, events: Sender<Event>) -> impl FnMut(LogMessage) + Send + 'static {
        let pending = Arc::clone(&self.pending);
        move |message| {
            if lock(&pending).push(message) {
                // Nobody listens when the session is over.
                let _ = events.send(Event::Logged);
            }
        }
    }

    /// Something has come: it is said now, or at [`Logs::deadline`].
    pub(crate) fn came(&mut self) {
        self.waits = true;
    }

    /// When to take what has gathered.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        self.waits.then(|| self.last.map_or(now, |last| last + PERIOD))
    }

    /// What has gathered, and how many messages were left out of it.
    pub(crate) fn take(&mut self) -> (Vec<Lines>, usize) {
        self.waits = false;
        self.last = Some(Instant::now());
        let Pending { lines, left_out, .. } = std::mem::take(&mut *lock(&self.pending));
        (lines, left_out)
    }
}

impl Pending {
    /// Takes a message in; whether it is the first.
    fn push(&mut self, message: LogMessage) -> bool {
        let is_first = self.lines.is_empty();
        if self.length >= MOST {
            self.left_out += 1;
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
        let mut logs = Logs::default();
        let (events, inbox) = channel();
        let mut sink = logs.sink(events);
        sink(message("a", 3));
        sink(message("b", 3));
        sink(message("c", 4));
        assert_eq!(inbox.try_iter().count(), 1);
        logs.came();
        assert!(logs.deadline().is_some());
        let (lines, left_out) = logs.take();
        let texts: Vec<&str> = lines.iter().map(|it| it.text.as_str()).collect();
        assert_eq!((texts, left_out), (vec!["a\nb\n", "c\n"], 0));
        assert_eq!(logs.deadline(), None);
        sink(message("d", 3));
        assert_eq!(inbox.try_iter().count(), 1);
    }

    #[test]
    fn a_flood_is_cut_and_counted() {
        let mut logs = Logs::default();
        let (events, _inbox) = channel();
        let mut sink = logs.sink(events);
        let text = "x".repeat(1023);
        (0..100).for_each(|_| sink(message(&text, 1)));
        let (lines, left_out) = logs.take();
        assert_eq!((lines[0].text.len(), left_out), (MOST, 36));
    }
}
