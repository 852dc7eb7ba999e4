//! A program that runs by itself, and clients that attach to it and leave it again.
//!
//! ```text
//!   waiting ── client ──> session ── detached ──> running ──> completed or failed
//!                            ^                       │
//!                            └── client ── interrupt ┘
//! ```
//!
//! The program is in one place at a time: with a session, or on the runner's thread without one.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use debug::{Debugger, Resume, StopReason};

use crate::debuggee::Debuggee;
use crate::door::{Door, Visitor};
use crate::launch::Settings;
use crate::runner::panic_text;
use crate::serve::{Options, TcpServer, serve_visitor};
use crate::session::Ending;

/// When a program begins that clients can attach to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// At once.
    AtOnce,
    /// When the first client is there and has set its breakpoints.
    WithFirstClient,
}

/// What wakes the loop while no client is attached.
enum Event {
    Client(Box<Visitor>),
    Ran(Box<Debuggee>, StopReason),
    Crashed(String),
}

impl TcpServer {
    /// Runs a program to its end, and lets clients attach to it meanwhile, one after the other.
    /// None: a client has ended it.
    ///
    /// # Errors
    /// The log cannot be written. A connection that fails only costs its client.
    pub fn run_program(
        self,
        debugger: Debugger,
        beginning: Beginning,
        options: &Options,
    ) -> io::Result<Option<StopReason>> {
        let (events, inbox) = channel();
        let mut debuggee = Box::new(Debuggee::new(debugger, Settings::default()));
        let to_loop = events.clone();
        let door = Door::default();
        let place = door.place.clone();
        let as_event = |visitor| Event::Client(Box::new(visitor));
        thread::spawn(move || self.open(&door, &to_loop, as_event));
        let mut waits = beginning == Beginning::WithFirstClient;
        loop {
            let (client, standing) = if waits {
                (next_client(&inbox), debuggee)
            } else {
                match run_until_client(debuggee, &events, &inbox) {
                    Ok(met) => met,
                    Err(reason) => return Ok(reason),
                }
            };
            let ended = serve_visitor(*client, options, Some(standing))?;
            place.free();
            match ended.ending {
                Ending::Over(outcome) => return Ok(outcome),
                Ending::Detached(left) => {
                    // Whoever came without attaching has not begun the program.
                    waits = waits && !left.configured_once;
                    debuggee = left;
                }
            }
        }
    }
}

fn next_client(inbox: &Receiver<Event>) -> Box<Visitor> {
    loop {
        // The accepting thread lives as long as the process, so there is always somebody to wait
        // for.
        match inbox.recv() {
            Ok(Event::Client(client)) => return client,
            Ok(Event::Ran(..) | Event::Crashed(_)) => {}
            Err(_) => thread::park(),
        }
    }
}

/// Lets the program run. Comes back with the first client and the program standing still, or with
/// why it is over.
fn run_until_client(
    mut debuggee: Box<Debuggee>,
    events: &Sender<Event>,
    inbox: &Receiver<Event>,
) -> Result<(Box<Visitor>, Box<Debuggee>), Option<StopReason>> {
    let interrupt = debuggee.debugger.interrupt_handle();
    debuggee.started = true;
    let mut resume = Some((debuggee, Resume::AsBefore));
    let mut client = None;
    loop {
        if let Some((debuggee, how)) = resume.take() {
            run(debuggee, how, events.clone());
        }
        match inbox.recv() {
            Ok(Event::Client(stream)) => {
                interrupt.interrupt();
                client = Some(stream);
            }
            Ok(Event::Ran(_, reason)) if reason.is_final() => return Err(Some(reason)),
            Ok(Event::Ran(debuggee, _)) => match client.take() {
                Some(client) => return Ok((client, debuggee)),
                None => resume = Some((debuggee, Resume::Continue)),
            },
            Ok(Event::Crashed(text)) => {
                eprintln!("the debugger failed: {text}");
                return Err(None);
            }
            Err(_) => return Err(None),
        }
    }
}

fn run(mut debuggee: Box<Debuggee>, how: Resume, events: Sender<Event>) {
    thread::spawn(move || {
        let resumed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let reason = debuggee.debugger.resume(how);
            (debuggee, reason)
        }));
        // Nobody listens when the program was ended.
        let _ = events.send(match resumed {
            Ok((debuggee, reason)) => Event::Ran(debuggee, reason),
            Err(panic) => Event::Crashed(panic_text(&*panic)),
        });
    });
}
