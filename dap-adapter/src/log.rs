//! The protocol log: every message of both directions with the time since the session began.
//!
//! Off unless asked for, on the command line or by the launch request's `log`. As nobody knows
//! before the launch whether it will ask, the few messages until then are held. It is the first
//! thing to ask for when a client and the adapter disagree. A log that cannot be written to is
//! given up in silence: it must not end a session.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How much is held for a launch to decide about.
const HELD: usize = 64 * 1024;

/// Which way a message went.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    FromClient,
    ToClient,
}

/// Where messages are noted. Clones note in the same place.
#[derive(Clone)]
pub(crate) struct Log {
    sink: Arc<Mutex<Sink>>,
    start: Instant,
}

enum Sink {
    Off,
    Held(String),
    File(File),
}

impl Log {
    /// Adds to a file, so that sessions in turn can share it; without one, waits for the launch.
    pub(crate) fn new(path: Option<&Path>) -> io::Result<Self> {
        let sink = match path {
            Some(path) => Sink::File(append(path)?),
            None => Sink::Held(String::new()),
        };
        Ok(Self { sink: Arc::new(Mutex::new(sink)), start: Instant::now() })
    }

    /// Decides what has been waiting. A log that is being written already stays where it is.
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

    /// Notes a message.
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
