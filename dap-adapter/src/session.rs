//! A session: one client, one program, and the loop between them.
//!
//! ```text
//!             launch           loaded               configurationDone
//!  Unlaunched ─────> Launching ──────> Standing ───────────────> Running
//!                        │               │  ^                     │   │
//!                        │ failed        │  └──────── stopped ────┘   │ completed
//!                        v               v  terminate                 v
//!                      Ended <─────────Ended<───────────────────────Ended ── disconnect ─> (gone)
//! ```
//!
//! Everything that can wake the loop is in [`Event`]. The loop never blocks on the program: while it
//! runs, the [`Debuggee`] is on the runner's thread. A request that needs the program then
//! interrupts it, waits in [`Running::waiting`], is served when the program comes back, and the
//! program goes on, in the middle of a step if need be, without the client seeing a stop.
//!
//! The session never ends without an `exited` and a `terminated` event, if there was a program.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};

use debug::{InterruptHandle, Resume, StopReason};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::framing::Fault;
use crate::launch::{Launch, Launched};
use crate::log::Log;
use crate::protocol::{self, BreakpointEvent, Category, Exited, Incoming, Request};
use crate::requests::{self, Handler};
use crate::runner::{Ran, Runner, panic_text};
use crate::to_dap;
use crate::wire::Wire;

/// The exit code of a program that has failed or was ended before it was done.
const EXIT_UNFINISHED: i64 = 1;

/// Everything that wakes the loop.
pub(crate) enum Event {
    /// The client said something.
    Message(Value),
    /// The client said something unreadable.
    Fault(Fault),
    /// The client is gone.
    ClientGone,
    /// The compiler printed a line.
    CompilerLine(String),
    /// The launch is through.
    Launched(Launched),
    /// The program came back.
    Ran(Ran),
}

/// Where the session is.
pub(crate) enum State {
    /// Nothing was launched yet.
    Unlaunched,
    /// The program is being compiled and loaded.
    Launching(Launch),
    /// The program stands still.
    Standing(Box<Debuggee>),
    /// The program runs.
    Running(Running),
    /// The program is over.
    Ended,
}

/// What is known of a program that runs.
pub(crate) struct Running {
    interrupt: InterruptHandle,
    /// Whether the client asked for a stop.
    pause: bool,
    /// Requests for when the program comes back.
    waiting: Vec<(Request, requests::ProgramHandler)>,
}

/// See the module.
pub(crate) struct Session {
    pub(crate) wire: Wire,
    pub(crate) client: Client,
    pub(crate) state: State,
    pub(crate) log: Log,
    pub(crate) events: Sender<Event>,
    pub(crate) initialized: bool,
    runner: Runner,
    /// Holds the module that was compiled for this session.
    scratch: Option<TempDir>,
}

impl Session {
    pub(crate) fn new(wire: Wire, log: Log, events: Sender<Event>) -> Self {
        let runner = Runner::new(events.clone());
        let (client, state) = (Client::default(), State::Unlaunched);
        Self { wire, client, state, log, events, initialized: false, runner, scratch: None }
    }

    /// Serves the client until it leaves.
    pub(crate) fn run(mut self, inbox: &Receiver<Event>) {
        while let Ok(event) = inbox.recv() {
            if self.handle(event).is_break() {
                break;
            }
        }
    }

    fn handle(&mut self, event: Event) -> ControlFlow<()> {
        match event {
            Event::Message(message) => return self.message(message),
            Event::Fault(fault) => {
                let seq = match &fault {
                    Fault::NotJson { seq, .. } => *seq,
                    Fault::NoContentLength | Fault::TooLong(_) => None,
                };
                let error = RequestError::malformed(fault.to_string());
                self.wire.answer(seq.unwrap_or(0), "", Err(error));
            }
            Event::ClientGone => {
                self.end();
                return ControlFlow::Break(());
            }
            Event::CompilerLine(line) => self.wire.print(Category::Stderr, [line]),
            Event::Launched(launched) => self.launched(launched),
            Event::Ran(ran) => self.ran(ran),
        }
        ControlFlow::Continue(())
    }

    fn message(&mut self, message: Value) -> ControlFlow<()> {
        match Incoming::new(message) {
            Incoming::Request(request) => return self.request(request),
            Incoming::Response => {}
            Incoming::Malformed { seq, command, reason } => {
                self.wire.answer(seq, &command, Err(RequestError::malformed(reason)));
            }
        }
        ControlFlow::Continue(())
    }

    fn request(&mut self, request: Request) -> ControlFlow<()> {
        match requests::handler(&request.command) {
            None => {
                self.wire.respond(&request, Err(RequestError::unknown(&request.command)));
            }
            Some(Handler::Session(handler)) => return handler(self, &request),
            Some(Handler::Program(handler)) => self.with_program(request, handler),
            Some(Handler::Stop(handler)) => self.at_stop(&request, handler),
            Some(Handler::Resume(handler)) => self.resume_on_request(&request, handler),
        }
        ControlFlow::Continue(())
    }

    /// Serves a request that needs the program but no stop.
    fn with_program(&mut self, request: Request, handler: requests::ProgramHandler) {
        let outcome = match &mut self.state {
            State::Running(running) => {
                running.interrupt.interrupt();
                running.waiting.push((request, handler));
                return;
            }
            State::Standing(debuggee) => {
                guarded(|client| handler(debuggee, client, &request), &self.client)
            }
            State::Unlaunched | State::Launching(_) | State::Ended => Err(self.not_now(&request)),
        };
        self.wire.respond(&request, outcome);
    }

    /// Serves a request about a stop.
    fn at_stop(&mut self, request: &Request, handler: requests::ProgramHandler) {
        let outcome = match &mut self.state {
            State::Standing(debuggee) => {
                guarded(|client| handler(debuggee, client, request), &self.client)
            }
            _ => Err(self.not_now(request)),
        };
        self.wire.respond(request, outcome);
    }

    /// Serves a request that ends a stop: the response first, then the program goes on.
    fn resume_on_request(&mut self, request: &Request, handler: requests::ResumeHandler) {
        let resuming = match &self.state {
            State::Standing(debuggee) => handler(debuggee.settings, request),
            _ => Err(self.not_now(request)),
        };
        match resuming {
            Ok((resume, body)) => {
                self.wire.respond(request, Ok(body));
                self.resume(resume);
            }
            Err(error) => self.wire.respond(request, Err(error)),
        }
    }

    /// Why a request cannot be served in this state.
    pub(crate) fn not_now(&self, request: &Request) -> RequestError {
        let command = &request.command;
        RequestError::state(match self.state {
            State::Unlaunched => format!("`{command}` needs a program; send `launch` first"),
            State::Launching(_) => {
                format!("`{command}` came before the `initialized` event: the program is loading")
            }
            State::Standing(_) => format!("`{command}` does not fit: the program stands still"),
            State::Running(_) => {
                format!("`{command}` needs a program that stands still; send `pause` first")
            }
            State::Ended => format!("`{command}` came too late: the program has ended"),
        })
    }

    /// The launch is through: the client hears of its breakpoints' chance, or of the failure.
    fn launched(&mut self, launched: Launched) {
        let State::Launching(launch) = std::mem::replace(&mut self.state, State::Ended) else {
            return; // Ended while it was loading.
        };
        let (request, scratch) = launch.finish();
        self.scratch = scratch;
        match launched {
            Ok(debuggee) => {
                self.wire.respond(&request, Ok(Value::Null));
                self.wire.print(Category::Console, debuggee.debugger.program().notes());
                self.state = State::Standing(debuggee);
                self.wire.event(protocol::Event::Initialized);
            }
            Err(text) => {
                self.wire.respond(&request, Err(RequestError::launch(text)));
                self.wire.event(protocol::Event::Terminated);
            }
        }
    }

    /// Lets the program go on; a failed one is over.
    pub(crate) fn resume(&mut self, resume: Resume) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) if debuggee.failed => self.over(EXIT_UNFINISHED),
            State::Standing(mut debuggee) => {
                debuggee.started = true;
                debuggee.forget_stop();
                let interrupt = debuggee.debugger.interrupt_handle();
                self.runner.run(debuggee, resume);
                let waiting = Vec::new();
                self.state = State::Running(Running { interrupt, pause: false, waiting });
            }
            other => self.state = other,
        }
    }

    /// The program came back.
    fn ran(&mut self, ran: Ran) {
        let State::Running(running) = std::mem::replace(&mut self.state, State::Ended) else {
            return; // Ended while it was running.
        };
        let (mut debuggee, reason) = match ran {
            Ran::Stopped(debuggee, reason) => (debuggee, reason),
            Ran::Crashed(text) => {
                for (request, _) in running.waiting {
                    self.wire.respond(&request, Err(RequestError::internal("the debugger failed")));
                }
                self.wire.print(Category::Stderr, [format!("the debugger failed: {text}")]);
                return self.over(EXIT_UNFINISHED);
            }
        };
        for (request, handler) in running.waiting {
            let outcome = guarded(|client| handler(&mut debuggee, client, &request), &self.client);
            self.wire.respond(&request, outcome);
        }
        for breakpoint in debuggee.changed_breakpoints(&self.client) {
            let event = BreakpointEvent { reason: "changed", breakpoint };
            self.wire.event(protocol::Event::Breakpoint(event));
        }
        // An interrupt that nobody sees: for the requests above, or one that came late for a stop
        // that happened anyway.
        let unseen = matches!(reason, StopReason::Pause) && !running.pause;
        if unseen {
            self.state = State::Standing(debuggee);
            return self.resume(Resume::AsBefore);
        }
        self.report(debuggee, &reason);
    }

    /// Tells the client why the program stands still.
    fn report(&mut self, mut debuggee: Box<Debuggee>, reason: &StopReason) {
        match reason {
            StopReason::Completed(results) => {
                let name = debuggee.debugger.program().entry_name();
                let results = vm::text::format_values("result", results);
                self.wire.print(Category::Stdout, [format!("EXEC @{name}")]);
                self.wire.print(Category::Stdout, results.lines());
                return self.over(0);
            }
            StopReason::Failed(failure) => {
                debuggee.failed = true;
                self.wire.print(Category::Stderr, [failure.status.to_string()]);
                if debuggee.settings.no_debug {
                    return self.over(EXIT_UNFINISHED);
                }
            }
            _ => {}
        }
        if let Some(stopped) = to_dap::stopped(reason, &debuggee.debugger) {
            self.wire.event(protocol::Event::Stopped(stopped));
        }
        self.state = State::Standing(debuggee);
    }

    /// Begins the program, or shows that it has not begun.
    pub(crate) fn start(&mut self, request: &Request) {
        let State::Standing(debuggee) = &mut self.state else {
            let error = self.not_now(request);
            return self.wire.respond(request, Err(error));
        };
        if debuggee.started {
            let error = RequestError::state("`configurationDone` came twice: the program is on");
            return self.wire.respond(request, Err(error));
        }
        let stop = debuggee.settings.stop_on_entry && !debuggee.settings.no_debug;
        self.wire.respond(request, Ok(Value::Null));
        self.resume(if stop { Resume::ToEntry } else { Resume::Continue });
    }

    /// Asks a running program to stop for the client.
    pub(crate) fn pause(&mut self, request: &Request) {
        match &mut self.state {
            State::Running(running) => {
                running.pause = true;
                running.interrupt.interrupt();
                self.wire.respond(request, Ok(Value::Null));
            }
            _ => {
                let error = self.not_now(request);
                self.wire.respond(request, Err(error));
            }
        }
    }

    /// Ends the program, wherever it is.
    pub(crate) fn end(&mut self) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Unlaunched | State::Ended => {}
            State::Launching(launch) => {
                let error = RequestError::state("the launch was cancelled");
                self.wire.respond(&launch.cancel(), Err(error));
                self.wire.event(protocol::Event::Terminated);
            }
            State::Standing(_) => self.over(EXIT_UNFINISHED),
            State::Running(running) => {
                // It comes back to a session that has ended, and is dropped.
                running.interrupt.interrupt();
                for (request, _) in running.waiting {
                    let error = RequestError::state("the program was ended");
                    self.wire.respond(&request, Err(error));
                }
                self.over(EXIT_UNFINISHED);
            }
        }
    }

    /// Says that the program is over.
    fn over(&mut self, exit_code: i64) {
        self.state = State::Ended;
        self.wire.event(protocol::Event::Exited(Exited { exit_code }));
        self.wire.event(protocol::Event::Terminated);
    }
}

/// Calls a handler. A panic in it is a fault of ours that costs this request only.
fn guarded(
    call: impl FnOnce(&Client) -> Result<Value, RequestError>,
    client: &Client,
) -> Result<Value, RequestError> {
    catch_unwind(AssertUnwindSafe(|| call(client))).unwrap_or_else(|panic| {
        Err(RequestError::internal(format!("the debugger failed: {}", panic_text(&*panic))))
    })
}

/// The body that a handler returns.
pub(crate) fn body(body: impl serde::Serialize) -> Result<Value, RequestError> {
    serde_json::to_value(body).map_err(|error| RequestError::internal(error.to_string()))
}

/// The threads of a session: one while there is a program.
pub(crate) fn threads(state: &State) -> Value {
    let thread = json!({"id": to_dap::THREAD, "name": "main"});
    match state {
        State::Standing(_) | State::Running(_) => json!({ "threads": [thread] }),
        State::Unlaunched | State::Launching(_) | State::Ended => json!({ "threads": [] }),
    }
}
