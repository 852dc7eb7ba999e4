//! The protocol log: every message of both directions with the time since the session began.
//!
//! Off unless requested on the command line or by the `log` argument of `launch` or `attach`. The
//! log holds the few messages before that request, until it is clear whether there will be a file.
//! It is the first thing to ask for when a client and the adapter disagree. When a write fails, the
//! log silently stops: it must not end a session.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The most bytes that are held until `launch` or `attach` decides about a file.
const HELD: usize = 64 * 1024;

/// Which way a message went.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    FromClient,
    ToClient,
}

/// The protocol log. Clones write to the same place.
#[derive(Clone)]
pub(crate) struct ProtocolLog {
    sink: Arc<Mutex<Sink>>,
    start: Instant,
}

enum Sink {
    Off,
    Held(String),
    File(File),
}

impl ProtocolLog {
    /// A log that appends to a file, so that several sessions can share it, or one that holds its
    /// messages until [`Self::decide`].
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn new(path: Option<&Path>) -> io::Result<Self> {
        let sink = match path {
            Some(path) => Sink::File(append(path)?),
            None => Sink::Held(String::new()),
        };
        Ok(Self { sink: Arc::new(Mutex::new(sink)), start: Instant::now() })
    }

    /// Writes the held messages to a file, or drops them. Does nothing to a log that has a file or
    /// is off.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn decide(&self, path: Option<&Path>) -> io::Result<()> {
        let mut sink = self.lock();
        let Sink::Held(held) = &*sink else { return Ok(()) };
        *sink = match path {
            Some(path) => {
                let mut file = append(path)?;
                file.write_all(held.as_bytes())?;
                Sink::File(file)
            }
            None => Sink::Off,
        };
        Ok(())
    }

    /// Logs a message.
    pub(crate) fn note(&self, direction: Direction, message: impl FnOnce() -> String) {
        let mut sink = self.lock();
        if matches!(*sink, Sink::Off) {
            return;
        }
        let arrow = match direction {
            Direction::FromClient => "-->",
            Direction::ToClient => "<--",
        };
        let line = format!("{:10.3} {arrow} {}\n", self.start.elapsed().as_secs_f64(), message());
        let noted = match &mut *sink {
            Sink::Off => false,
            Sink::Held(held) => {
                held.push_str(&line);
                held.len() <= HELD
            }
            Sink::File(file) => file.write_all(line.as_bytes()).is_ok(),
        };
        if !noted {
            *sink = Sink::Off;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn append(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}
