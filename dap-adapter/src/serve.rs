//! Where clients come from: standard input and output, TCP, or any two streams.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use serde_json::Value;

use crate::backlog::Backlog;
use crate::cancel::Cancelled;
use crate::debuggee::Debuggee;
use crate::door::{self, Door, Reach, Token, Visitor};
use crate::framing::Reader;
use crate::log::{Direction, Log};
use crate::session::{Ended, Event, Session};
use crate::wire::Wire;

/// How to serve.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A file that gets every message of both directions, with times.
    pub log: Option<PathBuf>,
    /// What a client has to give as `token` when it launches or attaches.
    pub token: Option<Token>,
}

/// Serves one client on standard input and output, until it disconnects.
///
/// # Errors
/// The log or standard output cannot be written.
pub fn serve_stdio(options: &Options) -> io::Result<()> {
    serve(io::stdin(), unbuffered_stdout()?, options)
}

/// Standard output without its line buffer, which would cut every message in two at the end of its
/// header.
fn unbuffered_stdout() -> io::Result<File> {
    #[cfg(unix)]
    let stdout = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let stdout = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(stdout))
}

/// Serves one client on any two streams, until it disconnects. A thread goes on reading `input`
/// until its end.
///
/// # Errors
/// The log cannot be written, or what the client says is not this protocol.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: &Options,
) -> io::Result<()> {
    let client = Streams { reader: Reader::new(input), first: None, output: Box::new(output) };
    let ended = serve_one(client, options, None)?;
    ended.fault.map_or(Ok(()), |fault| Err(io::Error::new(io::ErrorKind::InvalidData, fault)))
}

/// A client, as far as it was heard out.
pub(crate) struct Streams<R> {
    pub(crate) reader: Reader<R>,
    /// A message that was read already.
    pub(crate) first: Option<Value>,
    pub(crate) output: Box<dyn Write + Send>,
}

/// Serves one client, perhaps with a program that it can attach to.
pub(crate) fn serve_one<R: Read + Send + 'static>(
    client: Streams<R>,
    options: &Options,
    offered: Option<Box<Debuggee>>,
) -> io::Result<Ended> {
    let log = Log::new(options.log.as_deref())?;
    let (events, inbox) = channel();
    let cancelled = Cancelled::default();
    let listener = Listener {
        reader: client.reader,
        events: events.clone(),
        cancelled: cancelled.clone(),
        backlog: Backlog::default(),
        log: log.clone(),
    };
    if let Some(first) = client.first {
        listener.hear(first, 0);
    }
    thread::spawn(move || listener.listen());
    let wire = Wire::new(client.output, log.clone());
    let mut session = Session::new(wire, log, events, cancelled);
    session.offered = offered;
    session.ask_for(options.token.clone());
    Ok(session.run(&inbox))
}

/// Serves a client that came over TCP, and closes its connection.
pub(crate) fn serve_visitor(
    visitor: Visitor,
    options: &Options,
    offered: Option<Box<Debuggee>>,
) -> io::Result<Ended> {
    let Visitor { stream, reader, first } = visitor;
    let output = match stream.try_clone() {
        Ok(output) => Box::new(output) as Box<dyn Write + Send>,
        // Nothing can be said to it, and it will see the end of the stream.
        Err(_) => Box::new(io::sink()),
    };
    let ended = serve_one(Streams { reader, first: Some(first), output }, options, offered)?;
    if let Some(fault) = &ended.fault {
        eprintln!("closed a connection: {fault}");
    }
    // Ends the thread that reads from the client, and tells the client.
    door::close(&stream);
    Ok(ended)
}

/// The thread that hears what the client says.
struct Listener<R> {
    reader: Reader<R>,
    events: Sender<Event>,
    cancelled: Cancelled,
    backlog: Backlog,
    log: Log,
}

impl<R: Read> Listener<R> {
    /// Turns what the client sends into events, until it is gone or the session is.
    fn listen(mut self) {
        loop {
            let event = match self.reader.next() {
                Ok(Some(Ok(message))) => {
                    if !self.hear(message, self.reader.length()) {
                        return;
                    }
                    continue;
                }
                Ok(Some(Err(fault))) => {
                    self.log.note(Direction::FromClient, || format!("({fault})"));
                    Event::Fault(fault)
                }
                Ok(None) => Event::ClientGone,
                Err(error) => {
                    self.log.note(Direction::FromClient, || format!("({error})"));
                    match error.kind() {
                        io::ErrorKind::InvalidData => Event::Lost(error.to_string()),
                        _ => Event::ClientGone,
                    }
                }
            };
            let is_over = matches!(event, Event::ClientGone | Event::Lost(_));
            if self.events.send(event).is_err() || is_over {
                return;
            }
        }
    }

    /// Hands a message on; whether somebody is there to take it.
    fn hear(&self, message: Value, length: usize) -> bool {
        self.log.note(Direction::FromClient, || message.to_string());
        self.cancelled.note(&message);
        let ticket = self.backlog.enter(length);
        self.events.send(Event::Message(message, ticket)).is_ok()
    }
}

/// Listens for clients.
#[derive(Debug)]
pub struct TcpServer {
    pub(crate) listener: TcpListener,
}

impl TcpServer {
    /// Listens on an address; port 0 takes any that is free.
    ///
    /// # Errors
    /// The address cannot be listened on, or other machines reach it that should not.
    pub fn bind(address: impl ToSocketAddrs, reach: Reach) -> io::Result<Self> {
        let addresses = door::reachable(address, reach)?;
        Ok(Self { listener: TcpListener::bind(&*addresses)? })
    }

    /// The address with the port that was taken.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients one after the other, for ever. Those who come meanwhile are told so.
    ///
    /// # Errors
    /// The log cannot be written. A connection that fails only costs its client.
    pub fn serve(self, options: &Options) -> io::Result<()> {
        let door = Door::default();
        let place = door.place.clone();
        let (visitors, inbox) = channel();
        thread::spawn(move || self.open(&door, &visitors, |visitor| visitor));
        for visitor in inbox {
            serve_visitor(visitor, options, None)?;
            place.free();
        }
        Ok(())
    }

    /// Lets clients in, as long as somebody wants to hear of them.
    pub(crate) fn open<T: Send + 'static>(
        &self,
        door: &Door,
        visitors: &Sender<T>,
        as_event: fn(Visitor) -> T,
    ) {
        for stream in self.listener.incoming().flatten() {
            let visitors = visitors.clone();
            door.knock(stream, move |visitor| {
                // Nobody listens when the program is over.
                let _ = visitors.send(as_event(visitor));
            });
        }
    }
}
