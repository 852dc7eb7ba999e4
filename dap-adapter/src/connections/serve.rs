//! Serving one client on two streams: standard input and output, or any others.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use serde_json::Value;

use crate::access::Token;
use crate::cancellation::CancelledRequests;
use crate::debuggee::Debuggee;
use crate::session::{Ended, LoopEvent, Session};
use crate::transport::{Backlog, Direction, ProtocolLog, Reader, Wire};

/// How to serve.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A file that gets every message of both directions, with times.
    pub log: Option<PathBuf>,
    /// The `token` that a client has to give when it launches or attaches.
    pub token: Option<Token>,
}

/// Serves one client on standard input and output, until it disconnects.
///
/// # Errors
/// The log or standard output cannot be written, or the client does not speak the protocol.
pub fn serve_stdio(options: &Options) -> io::Result<()> {
    serve(io::stdin(), unbuffered_stdout()?, options)
}

/// Standard output without its line buffer, which would write the header of each message separately
/// from its body.
fn unbuffered_stdout() -> io::Result<File> {
    #[cfg(unix)]
    let stdout = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let stdout = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(stdout))
}

/// Serves one client on any two streams, until it disconnects. After that a thread may still read
/// `input` until its end.
///
/// # Errors
/// The log cannot be written, or the client does not speak the protocol.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: &Options,
) -> io::Result<()> {
    let client = Streams { reader: Reader::new(input), first: None, output: Box::new(output) };
    let ended = serve_one(client, options, None)?;
    ended.fault.map_or(Ok(()), |fault| Err(io::Error::new(io::ErrorKind::InvalidData, fault)))
}

/// A client's two streams.
pub(crate) struct Streams<R> {
    pub(crate) reader: Reader<R>,
    /// A message that was read already.
    pub(crate) first: Option<Value>,
    pub(crate) output: Box<dyn Write + Send>,
}

/// Serves one client. It may attach to the program in `offered`, if there is one.
pub(crate) fn serve_one<R: Read + Send + 'static>(
    client: Streams<R>,
    options: &Options,
    offered: Option<Box<Debuggee>>,
) -> io::Result<Ended> {
    let log = ProtocolLog::new(options.log.as_deref())?;
    let (events, inbox) = channel();
    let cancelled = CancelledRequests::default();
    let listener = Listener {
        reader: client.reader,
        events: events.clone(),
        cancelled: cancelled.clone(),
        backlog: Backlog::default(),
        log: log.clone(),
    };
    if let Some(first) = client.first {
        listener.forward(first, 0);
    }
    thread::spawn(move || listener.listen());
    let wire = Wire::new(client.output, log.clone());
    let session = Session::new(wire, log, events, cancelled)
        .offering(offered)
        .asking_for(options.token.clone());
    Ok(session.run(&inbox))
}

/// The thread that reads the client's messages.
struct Listener<R> {
    reader: Reader<R>,
    events: Sender<LoopEvent>,
    cancelled: CancelledRequests,
    backlog: Backlog,
    log: ProtocolLog,
}

impl<R: Read> Listener<R> {
    /// Turns the client's messages into events, until the client leaves or the session ends.
    fn listen(mut self) {
        loop {
            let event = match self.reader.next() {
                Ok(Some(Ok(message))) => {
                    if !self.forward(message, self.reader.length()) {
                        return;
                    }
                    continue;
                }
                Ok(Some(Err(fault))) => {
                    self.log.note(Direction::FromClient, || format!("({fault})"));
                    LoopEvent::Fault(fault)
                }
                Ok(None) => LoopEvent::ClientGone,
                Err(error) => {
                    self.log.note(Direction::FromClient, || format!("({error})"));
                    match error.kind() {
                        io::ErrorKind::InvalidData => LoopEvent::Lost(error.to_string()),
                        _ => LoopEvent::ClientGone,
                    }
                }
            };
            let is_over = matches!(event, LoopEvent::ClientGone | LoopEvent::Lost(_));
            if self.events.send(event).is_err() || is_over {
                return;
            }
        }
    }

    /// Forwards a message to the session. Returns whether the session still runs.
    fn forward(&self, message: Value, length: usize) -> bool {
        self.log.note(Direction::FromClient, || message.to_string());
        self.cancelled.note(&message);
        let ticket = self.backlog.enter(length);
        self.events.send(LoopEvent::Message(message, ticket)).is_ok()
    }
}
