//! Where clients come from: standard input and output, TCP, or any two streams.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::cancel::Cancelled;
use crate::debuggee::Debuggee;
use crate::framing::Reader;
use crate::log::{Direction, Log};
use crate::session::{Ending, Event, Session};
use crate::wire::Wire;

/// How to serve.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A file that gets every message of both directions, with times.
    pub log: Option<PathBuf>,
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

/// Serves one client on any two streams, until it disconnects. A thread goes on reading `input` until
/// its end.
///
/// # Errors
/// The log cannot be written.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: &Options,
) -> io::Result<()> {
    serve_one(input, output, options, None).map(drop)
}

/// Serves one client, perhaps with a program that it can attach to.
pub(crate) fn serve_one(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: &Options,
    offered: Option<Box<Debuggee>>,
) -> io::Result<Ending> {
    let log = Log::new(options.log.as_deref())?;
    let (events, inbox) = channel();
    let cancelled = Cancelled::default();
    let reader = Listener {
        reader: Reader::new(input),
        events: events.clone(),
        cancelled: cancelled.clone(),
        log: log.clone(),
    };
    thread::spawn(move || reader.listen());
    let wire = Wire::new(Box::new(output), log.clone());
    let mut session = Session::new(wire, log, events, cancelled);
    session.offered = offered;
    Ok(session.run(&inbox))
}

/// The thread that hears what the client says.
struct Listener<R> {
    reader: Reader<R>,
    events: Sender<Event>,
    cancelled: Cancelled,
    log: Log,
}

impl<R: Read> Listener<R> {
    /// Turns what the client sends into events, until it is gone or the session is.
    fn listen(mut self) {
        let Self { reader, events, cancelled, log } = &mut self;
        loop {
            let event = match reader.next() {
                Ok(Some(Ok(message))) => {
                    log.note(Direction::FromClient, || message.to_string());
                    cancelled.note(&message);
                    Event::Message(message)
                }
                Ok(Some(Err(fault))) => {
                    log.note(Direction::FromClient, || format!("({fault})"));
                    Event::Fault(fault)
                }
                Ok(None) => Event::ClientGone,
                Err(error) => {
                    log.note(Direction::FromClient, || format!("({error})"));
                    Event::ClientGone
                }
            };
            let gone = matches!(event, Event::ClientGone);
            if events.send(event).is_err() || gone {
                return;
            }
        }
    }
}

/// Serves clients on a TCP address, one after the other, for ever.
///
/// # Errors
/// The address cannot be listened on, or the log cannot be written.
pub fn serve_tcp(address: impl ToSocketAddrs, options: &Options) -> io::Result<()> {
    TcpServer::bind(address)?.serve(options)
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
    /// The address cannot be listened on.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address)? })
    }

    /// The address with the port that was taken.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients one after the other, for ever. Those who come meanwhile wait.
    ///
    /// # Errors
    /// The log cannot be written. A connection that fails only costs its client.
    pub fn serve(&self, options: &Options) -> io::Result<()> {
        for stream in self.listener.incoming().flatten() {
            let Ok((input, output)) = prepare(&stream) else { continue };
            serve(input, output, options)?;
            // Ends the thread that reads from the client, and tells the client.
            let _ = stream.shutdown(Shutdown::Both);
        }
        Ok(())
    }
}

/// Sends messages at once: they are small, and a client waits for each.
pub(crate) fn prepare(stream: &TcpStream) -> io::Result<(TcpStream, TcpStream)> {
    stream.set_nodelay(true)?;
    Ok((stream.try_clone()?, stream.try_clone()?))
}
