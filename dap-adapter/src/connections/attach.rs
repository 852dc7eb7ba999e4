//! A program that runs by itself while clients attach to it and leave it again.
//!
//! ```text
//!   waiting ── client ──> session ── detached ──> running ──> completed or failed
//!                            ^                       │
//!                            └── client ── interrupt ┘
//! ```
//!
//! The program is in one place at a time: in a session, or on the runner's thread without one.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use commands::Run;
use debug::{Debugger, Resume, StopReason};

use super::handshake::{Handshakes, TcpClient};
use super::serve::Options;
use super::tcp::{TcpServer, serve_client};
use crate::configuration::Settings;
use crate::debuggee::Debuggee;
use crate::session::Ending;
use crate::workers::{Ran, Runner};

/// When a program begins that clients can attach to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// At once.
    AtOnce,
    /// When the first client has attached and set its breakpoints.
    WithFirstClient,
}

/// Ends the listening when it is dropped.
struct Closing {
    closed: Arc<AtomicBool>,
    address: SocketAddr,
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // The thread that accepts connections looks at that after each.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

/// What wakes the loop while no client is attached.
enum Event {
    Client(Box<TcpClient>),
    Ran(Ran),
}

impl TcpServer {
    /// Runs a program to its end, and lets clients attach to it meanwhile, one after the other.
    /// Returns why it ended; None if a client or a panic of the debugger ended it.
    ///
    /// # Errors
    /// The log cannot be written. A connection that fails only costs its client.
    pub fn run_program(
        self,
        debugger: Debugger,
        beginning: Beginning,
        options: &Options,
    ) -> io::Result<Option<StopReason>> {
        self.run(debugger, beginning, options).map(|(reason, _)| reason)
    }

    /// Runs a program whose functions are called from outside until its caller ends that, and lets
    /// clients attach to it meanwhile. Returns the program; None if a panic of the debugger has
    /// ended it.
    ///
    /// # Errors
    /// The log cannot be written. A connection that fails only costs its client.
    pub fn run_calls(
        self,
        debugger: Debugger,
        beginning: Beginning,
        options: &Options,
    ) -> io::Result<Option<Debugger>> {
        self.run(debugger, beginning, options).map(|(_, debugger)| debugger)
    }

    fn run(
        self,
        debugger: Debugger,
        beginning: Beginning,
        options: &Options,
    ) -> io::Result<(Option<StopReason>, Option<Debugger>)> {
        let (events, inbox) = channel();
        let mut debuggee = Box::new(Debuggee::new(debugger, Settings::default()));
        let to_loop = events.clone();
        let handshakes = Handshakes::default();
        let slot = handshakes.slot.clone();
        let as_event = |client| Event::Client(Box::new(client));
        // Ends listening when the program is over.
        let _closing = Closing { closed: handshakes.closed.clone(), address: self.local_addr()? };
        thread::spawn(move || self.accept(&handshakes, &to_loop, as_event));
        let mut waits = beginning == Beginning::WithFirstClient;
        loop {
            let (client, standing) = if waits {
                (next_client(&inbox), debuggee)
            } else {
                match run_until_client(debuggee, &events, &inbox) {
                    Ok(met) => met,
                    Err((reason, debuggee)) => {
                        return Ok((reason, debuggee.map(|it| it.into_debugger())));
                    }
                }
            };
            let ended = serve_client(*client, options, Some(standing))?;
            slot.free();
            match ended.ending {
                Ending::Over(outcome, debuggee) => {
                    return Ok((outcome, debuggee.map(|it| it.into_debugger())));
                }
                Ending::Detached(left) => {
                    // A client that came without attaching has not begun the program.
                    waits = waits && !left.configured_once;
                    debuggee = left;
                }
            }
        }
    }
}

fn next_client(inbox: &Receiver<Event>) -> Box<TcpClient> {
    loop {
        match inbox.recv() {
            Ok(Event::Client(client)) => return client,
            Ok(Event::Ran(_)) => {}
            // Does not happen: the accepting thread lives as long as the process.
            Err(_) => thread::park(),
        }
    }
}

/// A program that is over: why, and the program; neither if the debugger panicked.
type Over = (Option<StopReason>, Option<Box<Debuggee>>);

/// Lets the program run. Returns the first client with the program stopped for it.
///
/// # Errors
/// The program is over.
fn run_until_client(
    mut debuggee: Box<Debuggee>,
    events: &Sender<Event>,
    inbox: &Receiver<Event>,
) -> Result<(Box<TcpClient>, Box<Debuggee>), Over> {
    let interrupt = debuggee.debugger.interrupt_handle();
    debuggee.started = true;
    let events = events.clone();
    let runner = Runner::new(move |ran| events.send(Event::Ran(ran)).is_ok());
    runner.run(debuggee, Run::Resume(Resume::AsBefore, 1).into());
    let mut client = None;
    loop {
        match inbox.recv() {
            Ok(Event::Client(waiting)) => {
                interrupt.interrupt();
                client = Some(waiting);
            }
            Ok(Event::Ran(Ran::Stopped(debuggee, reason))) if reason.is_final() => {
                return Err((Some(reason), Some(debuggee)));
            }
            Ok(Event::Ran(
                Ran::Stopped(debuggee, _)
                | Ran::Interrupted(debuggee, _)
                | Ran::Refused(debuggee, _),
            )) => match client.take() {
                Some(client) => return Ok((client, debuggee)),
                None => runner.run(debuggee, Run::Resume(Resume::Continue, 1).into()),
            },
            Ok(Event::Ran(Ran::Crashed(text))) => {
                eprintln!("{}", abi::shown(&text));
                return Err((None, None));
            }
            Err(_) => return Err((None, None)),
        }
    }
}
