//! The first message of a TCP connection, and the one slot that clients compete for.
//!
//! Each connection gets a thread of its own, so that a silent one holds no other up. It has to
//! begin with the protocol's `initialize` within [`PATIENCE`]. Then it gets the [`ClientSlot`], or
//! learns that another client has it.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::protocol::{Incoming, RequestError};
use crate::transport::{ProtocolLog, Reader, Wire};

/// How long a connection may stay silent before it is closed. Editors send `initialize` at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a client waits for another to free the slot.
const SLOT_WAIT: Duration = Duration::from_secs(1);

/// The most handshakes at the same time. One more ends the oldest.
const MAX_HANDSHAKES: usize = 16;

/// Why the oldest of too many silent connections is closed.
const SILENT: &str = "many connections stay silent, and this one is the oldest of them";

/// The slot of the one client that is served at a time. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientSlot(Arc<(Mutex<bool>, Condvar)>);

impl ClientSlot {
    /// Takes the slot, and waits up to [`SLOT_WAIT`] for it: a client that starts again may come
    /// before its last session has ended. Returns whether it has the slot.
    fn take(&self) -> bool {
        let (is_taken, freed) = &*self.0;
        let guard = is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = freed.wait_timeout_while(guard, SLOT_WAIT, |is_taken| *is_taken);
        let (mut guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut guard, true)
    }

    /// Frees the slot for the next client.
    pub(crate) fn free(&self) {
        let (is_taken, freed) = &*self.0;
        *is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        freed.notify_one();
    }
}

/// A client that has sent `initialize` and has the slot.
pub(crate) struct TcpClient {
    pub(crate) stream: TcpStream,
    /// Reads everything after `initialize`.
    pub(crate) reader: Reader<Connection>,
    /// Its `initialize`.
    pub(crate) initialize: Value,
}

/// The handshakes of one listening port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshakes {
    pub(crate) slot: ClientSlot,
    /// Whether no more connections are taken.
    pub(crate) closed: Arc<AtomicBool>,
    /// Those in progress, the oldest first.
    waiting: Arc<Mutex<VecDeque<Waiting>>>,
}

/// A connection that has not sent its first message.
#[derive(Debug)]
struct Waiting {
    stream: TcpStream,
    /// Whether it was given up for a newer one.
    is_dropped: Arc<AtomicBool>,
}

impl Handshakes {
    /// Performs a handshake on a thread of its own, and hands the client to `admit`. Closes the
    /// connection of a client that fails it, and beyond [`MAX_HANDSHAKES`], the one that has been
    /// silent for longest: a client that has something to say is not kept out by others.
    pub(crate) fn begin(&self, stream: TcpStream, admit: impl FnOnce(TcpClient) + Send + 'static) {
        // Without a second handle, the system has no more to give.
        let Ok(handle) = stream.try_clone() else { return };
        let is_dropped = Arc::new(AtomicBool::new(false));
        self.wait(Waiting { stream: handle, is_dropped: is_dropped.clone() });
        let handshakes = self.clone();
        thread::spawn(move || {
            let greeting = greeting(&stream);
            handshakes.end_wait(&is_dropped);
            let greeting = greeting.map_err(|refusal| match is_dropped.load(Ordering::Acquire) {
                true => Refusal { error: RequestError::malformed(SILENT.to_owned()), ..refusal },
                false => refusal,
            });
            match greeting {
                Ok(Greeting { reader, initialize, .. }) if handshakes.slot.take() => {
                    admit(TcpClient { stream, reader, initialize });
                }
                Ok(Greeting { seq, .. }) => {
                    let text = "another client is being served here; come again when it has left";
                    refuse(&stream, seq, "initialize", RequestError::launch(text));
                }
                Err(Refusal { seq, command, error }) => refuse(&stream, seq, &command, error),
            }
        });
    }
}

impl Handshakes {
    /// Adds a connection, in the place of the oldest one if there are too many.
    fn wait(&self, connection: Waiting) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting.len() >= MAX_HANDSHAKES {
            let Some(oldest) = waiting.pop_front() else { break };
            oldest.is_dropped.store(true, Ordering::Release);
            // Its thread sees the end of what it reads, and can still answer.
            let _ = oldest.stream.shutdown(Shutdown::Read);
        }
        waiting.push_back(connection);
    }

    /// A connection has sent its first message, or will not.
    fn end_wait(&self, is_dropped: &Arc<AtomicBool>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|it| !Arc::ptr_eq(&it.is_dropped, is_dropped));
    }
}

/// A connection that has sent `initialize`.
struct Greeting {
    reader: Reader<Connection>,
    initialize: Value,
    seq: i64,
}

/// Why a connection is refused, and the message that the refusal answers.
struct Refusal {
    seq: i64,
    command: String,
    error: RequestError,
}

/// Reads the first message of a connection, which has to be `initialize`.
fn greeting(stream: &TcpStream) -> Result<Greeting, Refusal> {
    let refusal = |error| Refusal { seq: 0, command: String::new(), error };
    let malformed = |text: String| refusal(RequestError::malformed(text));
    let connection = Connection::new(stream).map_err(|error| malformed(error.to_string()))?;
    let mut reader = Reader::new(connection);
    let message = match reader.next() {
        Ok(Some(Ok(message))) => message,
        Ok(Some(Err(fault))) => return Err(malformed(fault.to_string())),
        Ok(None) => return Err(malformed("the client left without a message".to_owned())),
        Err(error) => return Err(malformed(error.to_string())),
    };
    let request = match Incoming::new(message.clone()) {
        Incoming::Request(request) => request,
        Incoming::Response => {
            return Err(malformed(RequestError::not_initialized("a response").text));
        }
        Incoming::Malformed { seq, command, reason } => {
            return Err(Refusal { seq, command, error: RequestError::malformed(reason) });
        }
    };
    if request.command != "initialize" {
        let error = RequestError::not_initialized(&format!("`{}`", request.command));
        return Err(Refusal { seq: request.seq, command: request.command, error });
    }
    reader.stream().remove_deadline().map_err(|error| malformed(error.to_string()))?;
    Ok(Greeting { reader, initialize: message, seq: request.seq })
}

/// A connection with a deadline for its first message.
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

    fn remove_deadline(&mut self) -> io::Result<()> {
        self.deadline = None;
        self.stream.set_read_timeout(None)
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(deadline) = self.deadline else { return self.stream.read(buffer) };
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the client stays silent");
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
    eprintln!("refused a connection: {}", abi::shown(&error.text));
    if let (Ok(output), Ok(log)) = (stream.try_clone(), ProtocolLog::new(None)) {
        Wire::new(Box::new(output), log).answer(seq, command, Err(error));
    }
    close(stream);
}

/// Closes a connection so that the last message arrives: if unread bytes remained, the close would
/// reset the connection and discard it.
pub(crate) fn close(stream: &TcpStream) {
    /// How long each read of what the client still sends may take, and how many reads there are.
    const READ_TIMEOUT: Duration = Duration::from_millis(200);
    const MAX_READS: usize = 64;

    let _ = (&*stream).flush();
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(READ_TIMEOUT));
    let mut unread = [0; 4096];
    for _ in 0..MAX_READS {
        if (&*stream).read(&mut unread).unwrap_or(0) == 0 {
            break;
        }
    }
    // The client may have closed it already.
    let _ = stream.shutdown(Shutdown::Both);
}
