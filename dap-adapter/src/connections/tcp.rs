//! Serving clients over TCP, one after the other.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::handshake::{self, Handshakes, TcpClient};
use super::serve::{Options, Streams, serve_one};
use crate::access::{Reach, reachable};
use crate::debuggee::Debuggee;
use crate::session::Ended;

/// Listens for clients.
#[derive(Debug)]
pub struct TcpServer {
    listener: TcpListener,
}

impl TcpServer {
    /// Listens on an address; port 0 takes any free port.
    ///
    /// # Errors
    /// The address cannot be listened on, or other machines would reach it against `reach`.
    pub fn bind(address: impl ToSocketAddrs, reach: Reach) -> io::Result<Self> {
        let addresses = reachable(address, reach)?;
        Ok(Self { listener: TcpListener::bind(&*addresses)? })
    }

    /// The address, with the port that was taken.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients one after the other, for ever. Refuses others while one is served.
    ///
    /// # Errors
    /// The log cannot be written. A connection that fails only costs its client.
    pub fn serve(self, options: &Options) -> io::Result<()> {
        let handshakes = Handshakes::default();
        let slot = handshakes.slot.clone();
        let (clients, inbox) = channel();
        thread::spawn(move || self.accept(&handshakes, &clients, |client| client));
        for client in inbox {
            serve_client(client, options, None)?;
            slot.free();
        }
        Ok(())
    }

    /// Accepts connections until the listener ends, and sends on the clients that pass the
    /// handshake.
    pub(crate) fn accept<T: Send + 'static>(
        &self,
        handshakes: &Handshakes,
        clients: &Sender<T>,
        as_event: fn(TcpClient) -> T,
    ) {
        for stream in self.listener.incoming().flatten() {
            if handshakes.closed.load(Ordering::Acquire) {
                return;
            }
            let clients = clients.clone();
            handshakes.begin(stream, move |client| {
                // The receiver is gone when the program is over.
                let _ = clients.send(as_event(client));
            });
        }
    }
}

/// Serves a client that came over TCP, and closes its connection.
pub(crate) fn serve_client(
    client: TcpClient,
    options: &Options,
    offered: Option<Box<Debuggee>>,
) -> io::Result<Ended> {
    let TcpClient { stream, reader, initialize } = client;
    let output = match stream.try_clone() {
        Ok(output) => Box::new(output) as Box<dyn Write + Send>,
        // No message can reach it, but it will see the end of the stream.
        Err(_) => Box::new(io::sink()),
    };
    let ended = serve_one(Streams { reader, first: Some(initialize), output }, options, offered)?;
    if let Some(fault) = &ended.fault {
        eprintln!("closed a connection: {}", abi::shown(&fault.to_string()));
    }
    // Tells the client, and ends the thread that reads from it.
    handshake::close(&stream);
    Ok(ended)
}
