//! Who may come in over TCP.
//!
//! Anybody on this machine can connect to a port, and so can, through a browser, any page that
//! somebody looks at here. So a connection is heard out on a thread of its own, where it holds
//! nobody up: it has to begin with the protocol's `initialize`, within [`PATIENCE`]. Then it gets
//! the one [`Place`] that there is, or is told that somebody else has it. What starts or shows a
//! program (`launch`, `attach`) asks for the [`Token`] besides.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::RequestError;
use crate::framing::Reader;
use crate::log::Log;
use crate::protocol::Incoming;
use crate::wire::Wire;

/// For how long a connection may say nothing before it is closed. Editors speak at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// For how long a client waits for the place of another.
const CHANGE_OVER: Duration = Duration::from_secs(1);

/// Connections that are heard out at the same time.
const MOST_HEARD: usize = 16;

/// What a client has to know: it is printed where the adapter was started.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token that nobody can guess.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// A token of the user's choice; none if the text is empty.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Whether a client has it. How long that takes says nothing about where they differ.
    pub(crate) fn is(&self, given: &str) -> bool {
        let pairs = self.0.bytes().zip(given.bytes());
        let differ = pairs.fold(0, |differ, (ours, theirs)| differ | (ours ^ theirs));
        self.0.len() == given.len() && differ == 0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// From where clients may come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// From this machine.
    Loopback,
    /// From anywhere.
    Network,
}

/// The addresses that a text names, unless other machines reach them that should not.
pub(crate) fn reachable(address: impl ToSocketAddrs, reach: Reach) -> io::Result<Vec<SocketAddr>> {
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    let open = addresses.iter().find(|address| !address.ip().is_loopback());
    match open {
        Some(open) if reach == Reach::Loopback => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("other machines reach {}, and nothing that is said is encrypted", open.ip()),
        )),
        _ => Ok(addresses),
    }
}

/// The place of the one client that is served at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place(Arc<(Mutex<bool>, Condvar)>);

impl Place {
    /// Takes the place, if it is free or about to be: a client that begins anew comes while its
    /// last session is still being tidied up.
    fn take(&self) -> bool {
        let (is_taken, freed) = &*self.0;
        let guard = is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = freed.wait_timeout_while(guard, CHANGE_OVER, |is_taken| *is_taken);
        let (mut guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut guard, true)
    }

    /// Gives it to the next client.
    pub(crate) fn free(&self) {
        let (is_taken, freed) = &*self.0;
        *is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        freed.notify_one();
    }
}

/// A client that has begun as clients do, and has the place.
pub(crate) struct Visitor {
    pub(crate) stream: TcpStream,
    /// What comes after its first message.
    pub(crate) reader: Reader<Connection>,
    /// Its `initialize`.
    pub(crate) first: Value,
}

/// Hears connections out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Door {
    pub(crate) place: Place,
    heard: Arc<AtomicUsize>,
}

impl Door {
    /// Hears a connection out, on a thread; a client is handed to `enter`.
    pub(crate) fn knock(&self, stream: TcpStream, enter: impl FnOnce(Visitor) + Send + 'static) {
        if self.heard.fetch_add(1, Ordering::Relaxed) >= MOST_HEARD {
            self.heard.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let door = self.clone();
        thread::spawn(move || {
            let heard = hear(&stream);
            door.heard.fetch_sub(1, Ordering::Relaxed);
            match heard {
                Ok((reader, first, _)) if door.place.take() => {
                    enter(Visitor { stream, reader, first });
                }
                Ok((_, _, (seq, command))) => {
                    let text = "another client is being served here; come again when it has left";
                    refuse(&stream, seq, &command, RequestError::launch(text));
                }
                Err((seq, command, error)) => refuse(&stream, seq, &command, error),
            }
        });
    }
}

type Heard = (Reader<Connection>, Value, (i64, String));
type Refusal = (i64, String, RequestError);

/// The first message of a connection, which has to be `initialize`.
fn hear(stream: &TcpStream) -> Result<Heard, Refusal> {
    let malformed = |text: String| (0, String::new(), RequestError::malformed(text));
    let connection = Connection::new(stream).map_err(|error| malformed(error.to_string()))?;
    let mut reader = Reader::new(connection);
    let message = match reader.next() {
        Ok(Some(Ok(message))) => message,
        Ok(Some(Err(fault))) => return Err(malformed(fault.to_string())),
        Ok(None) => return Err(malformed("the client left without a word".to_owned())),
        Err(error) => return Err(malformed(error.to_string())),
    };
    let named = match Incoming::new(message.clone()) {
        Incoming::Request(request) => (request.seq, request.command),
        Incoming::Response => return Err(malformed(not_begun("a response"))),
        Incoming::Malformed { seq, command, reason } => {
            return Err((seq, command, RequestError::malformed(reason)));
        }
    };
    if named.1 != "initialize" {
        let error = RequestError::state(not_begun(&format!("`{}`", named.1)));
        return Err((named.0, named.1, error));
    }
    reader.stream().take_time().map_err(|error| malformed(error.to_string()))?;
    Ok((reader, message, named))
}

/// What is said to whoever begins otherwise.
pub(crate) fn not_begun(with: &str) -> String {
    format!("a session begins with `initialize`, not with {with}")
}

/// A connection that has only so much time for its first message.
pub(crate) struct Connection {
    stream: TcpStream,
    deadline: Option<Instant>,
}

impl Connection {
    fn new(stream: &TcpStream) -> io::Result<Self> {
        // Messages are small, and a client waits for each.
        stream.set_nodelay(true)?;
        Ok(Self { stream: stream.try_clone()?, deadline: Some(Instant::now() + PATIENCE) })
    }

    /// From now on it has as much as it wants.
    fn take_time(&mut self) -> io::Result<()> {
        self.deadline = None;
        self.stream.set_read_timeout(None)
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(deadline) = self.deadline else { return self.stream.read(buffer) };
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the client says nothing");
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        self.stream.set_read_timeout(Some(left))?;
        let is_late = |kind| matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        self.stream.read(buffer).map_err(|error| if is_late(error.kind()) { late() } else { error })
    }
}

/// Tells a client why it is not served, and closes the connection.
fn refuse(stream: &TcpStream, seq: i64, command: &str, error: RequestError) {
    eprintln!("refused a connection: {}", error.text);
    if let (Ok(output), Ok(log)) = (stream.try_clone(), Log::new(None)) {
        Wire::new(Box::new(output), log).answer(seq, command, Err(error));
    }
    close(stream);
}

/// Closes a connection so that what was said last arrives: a close with bytes unread would take it
/// back.
pub(crate) fn close(stream: &TcpStream) {
    /// For how long, and how many pieces, a client may go on talking to nobody.
    const REST: Duration = Duration::from_millis(200);
    const PIECES: usize = 64;

    let _ = (&*stream).flush();
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(REST));
    let mut unread = [0; 4096];
    for _ in 0..PIECES {
        if (&*stream).read(&mut unread).unwrap_or(0) == 0 {
            break;
        }
    }
    // The client may have closed it already.
    let _ = stream.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_whole_or_nothing() {
        let token = Token::random().unwrap();
        let text = token.to_string();
        assert_eq!(text.len(), 32);
        assert_ne!(token, Token::random().unwrap());
        assert!(token.is(&text));
        for wrong in ["", &text[..31], &format!("{text}0"), &"0".repeat(32)] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(Token::new("").is_none());
        assert!(!format!("{token:?}").contains(&text));
    }

    #[test]
    fn other_machines_are_kept_out_unless_asked_for() {
        for open in ["0.0.0.0:1", "[::]:1", "192.0.2.7:1"] {
            let error = reachable(open, Reach::Loopback).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert_eq!(reachable(open, Reach::Network).unwrap().len(), 1);
        }
        for closed in ["127.0.0.1:1", "[::1]:1"] {
            assert_eq!(reachable(closed, Reach::Loopback).unwrap().len(), 1);
        }
    }
}
