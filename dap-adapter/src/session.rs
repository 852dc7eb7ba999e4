//! A session: one client, one program, and the loop between them.
//!
//! ```text
//!             launch           loaded               configurationDone
//!  Unlaunched ─────> Launching ──────> Standing ───────────────> Running
//!      │             ^   │               │  ^                     │   │
//!      │ attach      │   │ failed        │  └──────── stopped ────┘   │ completed
//!      │             │   v               v  terminate                 v
//!      │             │ Ended <─────────Ended<───────────────────────Ended ── disconnect ─> (gone)
//!      └──> Standing └── restart, from Standing or Running
//! ```
//!
//! Everything that can wake the loop is in [`Event`]. The loop never blocks on the program: while it
//! runs, the [`Debuggee`] is on the runner's thread. A request that needs the program then
//! interrupts it, waits in [`Running::waiting`], is served when the program comes back, and the
//! program goes on, in the middle of a step if need be, without the client seeing a stop.
//!
//! The session never ends without an `exited` and a `terminated` event, if there was a program that
//! it started. One that it was attached to goes on when the client leaves: see [`Ending`].

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use debug::{InterruptHandle, Resume, StopReason};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cancel::Cancelled;
use crate::client::Client;
use crate::debuggee::{Debuggee, Kept};
use crate::error::RequestError;
use crate::events::{self, BreakpointEvent, Category, Exited, ThreadEvent};
use crate::framing::Fault;
use crate::launch::{Launch, LaunchArguments, Launched};
use crate::log::Log;
use crate::logs::{Lines, Logs};
use crate::progress::Progress;
use crate::protocol::{Incoming, Request};
use crate::requests::{self, Handler};
use crate::runner::{Ran, Runner, panic_text};
use crate::sources;
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
    /// A breakpoint had something to say.
    Logged,
    /// The program came back.
    Ran(Ran),
}

/// Where the session is.
pub(crate) enum State {
    /// Nothing was launched yet.
    Unlaunched,
    /// The program is being compiled and loaded.
    Launching(Box<Launch>),
    /// The program stands still.
    Standing(Box<Debuggee>),
    /// The program runs.
    Running(Box<Running>),
    /// The program is over.
    Ended,
}

/// What is known of a program that runs.
pub(crate) struct Running {
    interrupt: InterruptHandle,
    /// Whether the client asked for a stop.
    pause: bool,
    /// Requests for when the program comes back.
    waiting: Waiting,
    /// What is to happen then instead of going on.
    then: Then,
}

/// Requests that wait for a program.
pub(crate) type Waiting = Vec<(Request, requests::ProgramHandler)>;

/// What happens when a program comes back that was interrupted.
enum Then {
    /// It goes on, or is seen to have stopped.
    Nothing,
    /// It is launched anew.
    Restart(Request, Box<LaunchArguments>),
    /// The client leaves it, with this request if it said so.
    Leave(Option<Request>),
}

/// How the program was moved.
pub(crate) enum Moved {
    /// It goes on elsewhere.
    Elsewhere,
    /// It ran until it stood still.
    Ran(StopReason),
}

/// How a session ended.
pub(crate) enum Ending {
    /// There is no program any more; why it came to its end, unless the client ended it.
    Over(Option<StopReason>),
    /// The client has left a program that it was attached to.
    Detached(Box<Debuggee>),
}

/// See the module.
pub(crate) struct Session {
    pub(crate) wire: Wire,
    pub(crate) client: Client,
    pub(crate) state: State,
    pub(crate) log: Log,
    pub(crate) events: Sender<Event>,
    pub(crate) initialized: bool,
    pub(crate) progress: Progress,
    logs: Logs,
    pub(crate) cancelled: Cancelled,
    /// What the program was launched with, to launch it anew.
    pub(crate) launched_with: Option<LaunchArguments>,
    /// A program that is there before its client.
    pub(crate) offered: Option<Box<Debuggee>>,
    /// Whether the program was there before its client.
    pub(crate) is_attached: bool,
    outcome: Option<StopReason>,
    detached: Option<Box<Debuggee>>,
    runner: Runner,
    /// Holds the module that was compiled for this session.
    scratch: Option<TempDir>,
}

impl Session {
    pub(crate) fn new(wire: Wire, log: Log, events: Sender<Event>, cancelled: Cancelled) -> Self {
        let runner = Runner::new(events.clone());
        Self {
            wire,
            client: Client::default(),
            state: State::Unlaunched,
            log,
            events,
            initialized: false,
            progress: Progress::default(),
            logs: Logs::default(),
            cancelled,
            launched_with: None,
            offered: None,
            is_attached: false,
            outcome: None,
            detached: None,
            runner,
            scratch: None,
        }
    }

    /// Serves the client until it leaves.
    pub(crate) fn run(mut self, inbox: &Receiver<Event>) -> Ending {
        loop {
            let deadlines = [self.progress.deadline(), self.logs.deadline()];
            let event = match deadlines.into_iter().flatten().min() {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            let flow = match event {
                Ok(event) => self.handle_guarded(event),
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let said = self.progress.tick(now);
                    self.say(said);
                    if self.logs.deadline().is_some_and(|at| at <= now) {
                        self.print_logs();
                    }
                    ControlFlow::Continue(())
                }
                Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
            };
            if flow.is_break() {
                break;
            }
        }
        match self.detached.or(self.offered) {
            Some(debuggee) => Ending::Detached(debuggee),
            None => Ending::Over(self.outcome),
        }
    }

    /// A panic is a fault of ours; it ends the program, as nobody knows what state it left, but the
    /// client is told, and the session goes on.
    fn handle_guarded(&mut self, event: Event) -> ControlFlow<()> {
        catch_unwind(AssertUnwindSafe(|| self.handle(event))).unwrap_or_else(|panic| {
            let text = format!("the debugger failed: {}", panic_text(&*panic));
            self.wire.print(Category::Stderr, [text]);
            self.over(EXIT_UNFINISHED);
            ControlFlow::Continue(())
        })
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
            Event::ClientGone if self.is_attached => return self.leave(None),
            Event::ClientGone => {
                self.end();
                return ControlFlow::Break(());
            }
            Event::CompilerLine(line) => self.wire.print(Category::Stderr, [line]),
            Event::Launched(launched) => self.launched(launched),
            Event::Logged => self.logs.came(),
            Event::Ran(ran) => return self.ran(ran),
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
        if self.cancelled.take(request.seq) {
            self.wire.respond(&request, Err(RequestError::cancelled()));
            return ControlFlow::Continue(());
        }
        match requests::handler(&request.command) {
            Err(error) => self.wire.respond(&request, Err(error)),
            Ok(Handler::Session(handler)) => return handler(self, &request),
            Ok(Handler::Program(handler)) => self.with_program(request, handler),
            Ok(Handler::Stop(handler)) => self.at_stop(&request, handler),
            Ok(Handler::Resume(handler)) => self.resume_on_request(&request, handler),
        }
        ControlFlow::Continue(())
    }

    /// Serves a request that needs the program but no stop.
    fn with_program(&mut self, request: Request, handler: requests::ProgramHandler) {
        match &mut self.state {
            State::Running(running) => {
                running.interrupt.interrupt();
                running.waiting.push((request, handler));
            }
            State::Launching(launch) if launch.is_restart() => {
                launch.waiting.push((request, handler));
            }
            State::Standing(debuggee) => {
                let outcome = guarded(|client| handler(debuggee, client, &request), &self.client);
                self.served(&request, outcome);
            }
            State::Unlaunched | State::Launching(_) | State::Ended => {
                let error = self.not_now(&request);
                self.wire.respond(&request, Err(error));
            }
        }
    }

    /// Serves a request about a stop.
    fn at_stop(&mut self, request: &Request, handler: requests::ProgramHandler) {
        let outcome = match &mut self.state {
            State::Standing(debuggee) => {
                guarded(|client| handler(debuggee, client, request), &self.client)
            }
            _ => Err(self.not_now(request)),
        };
        self.served(request, outcome);
    }

    /// Answers a request, and says what it has changed.
    fn served(&mut self, request: &Request, outcome: Result<Value, RequestError>) {
        self.wire.respond(request, outcome);
        if let State::Standing(debuggee) = &mut self.state {
            let said = std::mem::take(&mut debuggee.to_say);
            said.into_iter().for_each(|event| self.wire.event(event));
        }
    }

    /// Serves a request that ends a stop: the response first, then the program goes on.
    fn resume_on_request(&mut self, request: &Request, handler: requests::ResumeHandler) {
        let resuming = match &mut self.state {
            State::Standing(debuggee) => handler(debuggee, request),
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
                return RequestError::not_stopped(format!(
                    "`{command}` needs a program that stands still; send `pause` first"
                ));
            }
            State::Ended => format!("`{command}` came too late: the program has ended"),
        })
    }

    /// Begins to load a program.
    pub(crate) fn launching(&mut self, launch: Launch, arguments: LaunchArguments) {
        let said = self.progress.begin(arguments.what_happens(), Some(launch.request.seq));
        self.say(said);
        self.launched_with = Some(arguments);
        self.state = State::Launching(Box::new(launch));
    }

    /// The launch is through: the client hears of its breakpoints' chance, or of the failure.
    fn launched(&mut self, launched: Launched) {
        let said = self.progress.end();
        self.say(said);
        let launch = match std::mem::replace(&mut self.state, State::Ended) {
            State::Launching(launch) => launch,
            other => {
                self.state = other; // Ended while it was loading.
                return;
            }
        };
        let finished = launch.finish();
        self.scratch = finished.scratch;
        match (launched, finished.kept) {
            (Ok(debuggee), None) => {
                self.wire.respond(&finished.request, Ok(Value::Null));
                self.stand(debuggee, "launch");
            }
            (Ok(debuggee), Some(kept)) => {
                self.wire.respond(&finished.request, Ok(Value::Null));
                self.restarted(debuggee, *kept, finished.waiting);
            }
            (Err(text), kept) => {
                self.wire.respond(&finished.request, Err(RequestError::launch(text)));
                self.refuse_waiting(finished.waiting);
                match kept {
                    Some(_) => self.over(EXIT_UNFINISHED),
                    None => self.wire.event(events::Event::Terminated),
                }
            }
        }
    }

    /// There is a program, and the client may set its breakpoints.
    pub(crate) fn stand(&mut self, mut debuggee: Box<Debuggee>, start_method: &'static str) {
        self.connect(&mut debuggee);
        let process = to_dap::process(debuggee.debugger.program(), start_method);
        self.wire.event(events::Event::Process(process));
        self.wire.print(Category::Console, debuggee.debugger.program().notes());
        self.announce(&mut debuggee);
        self.tell_of_thread("started");
        self.state = State::Standing(debuggee);
        self.wire.event(events::Event::Initialized);
    }

    /// Lets the program and what is evaluated in it reach the client.
    fn connect(&mut self, debuggee: &mut Debuggee) {
        debuggee.debugger.set_log_sink(self.logs.sink(self.events.clone()));
        debuggee.cancelled = self.cancelled.clone();
    }

    /// Tells of modules and sources that the client has not heard of.
    fn announce(&mut self, debuggee: &mut Debuggee) {
        for event in debuggee.news(&self.client) {
            self.wire.event(event);
        }
    }

    /// The program is there again, from its beginning.
    fn restarted(&mut self, mut debuggee: Box<Debuggee>, kept: Kept, waiting: Waiting) {
        self.connect(&mut debuggee);
        self.wire.print(Category::Console, debuggee.debugger.program().notes());
        debuggee.adopt(kept);
        self.announce(&mut debuggee);
        self.serve_waiting(&mut debuggee, waiting);
        let (thread_id, all_threads_continued) = (to_dap::THREAD, true);
        let continued = events::Continued { thread_id, all_threads_continued };
        self.wire.event(events::Event::Continued(continued));
        let resume = debuggee.settings.first_resume();
        self.state = State::Standing(debuggee);
        self.resume(resume);
    }

    /// Lets the program go on; a failed one is over.
    pub(crate) fn resume(&mut self, resume: Resume) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) if debuggee.failure.is_some() => {
                self.outcome = debuggee.failure.map(StopReason::Failed);
                self.over(EXIT_UNFINISHED);
            }
            State::Standing(mut debuggee) => {
                debuggee.started = true;
                debuggee.forget_stop();
                let interrupt = debuggee.debugger.interrupt_handle();
                if self.progress.deadline().is_none() {
                    let name = debuggee.debugger.program().entry_name();
                    let said = self.progress.begin(format!("Running {name}"), None);
                    self.say(said);
                }
                self.runner.run(debuggee, resume);
                let (waiting, then) = (Vec::new(), Then::Nothing);
                let running = Running { interrupt, pause: false, waiting, then };
                self.state = State::Running(Box::new(running));
            }
            other => self.state = other,
        }
    }

    /// The program came back.
    fn ran(&mut self, ran: Ran) -> ControlFlow<()> {
        let running = match std::mem::replace(&mut self.state, State::Ended) {
            State::Running(running) => running,
            other => {
                self.state = other; // Ended while it was running.
                return ControlFlow::Continue(());
            }
        };
        let (mut debuggee, reason) = match ran {
            Ran::Stopped(debuggee, reason) => (debuggee, reason),
            Ran::Crashed(text) => {
                for (request, _) in running.waiting {
                    self.wire.respond(&request, Err(RequestError::internal("the debugger failed")));
                }
                self.wire.print(Category::Stderr, [format!("the debugger failed: {text}")]);
                self.over(EXIT_UNFINISHED);
                return ControlFlow::Continue(());
            }
        };
        self.print_logs();
        self.serve_waiting(&mut debuggee, running.waiting);
        self.announce(&mut debuggee);
        match running.then {
            Then::Nothing => {}
            Then::Restart(request, arguments) => {
                self.relaunch(*debuggee, &request, *arguments);
                return ControlFlow::Continue(());
            }
            Then::Leave(request) => {
                self.left(debuggee, &reason, request.as_ref());
                return ControlFlow::Break(());
            }
        }
        // An interrupt that nobody sees: for the requests above, or one that came late for a stop
        // that happened anyway.
        if matches!(reason, StopReason::Pause) && !running.pause {
            self.state = State::Standing(debuggee);
            self.resume(Resume::AsBefore);
        } else {
            self.report(debuggee, reason);
        }
        ControlFlow::Continue(())
    }

    /// Prints what breakpoints had to say, each place in one event.
    fn print_logs(&mut self) {
        let (lines, left_out) = self.logs.take();
        for Lines { text, source } in lines {
            let place = source.and_then(|at| {
                let path = at.path?;
                let source = sources::file(&path, &self.client);
                let (line, column) = (self.client.line(at.line), self.client.column(at.column));
                Some(events::Place { source, line, column })
            });
            let category = Category::Console;
            let output = events::Output { category, output: text, place };
            self.wire.event(events::Event::Output(output));
        }
        if left_out > 0 {
            let text = format!("… {left_out} more messages came too fast to be shown");
            self.wire.print(Category::Console, [text]);
        }
    }

    fn serve_waiting(&mut self, debuggee: &mut Debuggee, waiting: Waiting) {
        for (request, handler) in waiting {
            let outcome = guarded(|client| handler(debuggee, client, &request), &self.client);
            self.wire.respond(&request, outcome);
        }
        let said = std::mem::take(&mut debuggee.to_say);
        said.into_iter().for_each(|event| self.wire.event(event));
        for breakpoint in debuggee.changed_breakpoints(&self.client) {
            let event = BreakpointEvent { reason: "changed", breakpoint };
            self.wire.event(events::Event::Breakpoint(event));
        }
    }

    fn refuse_waiting(&mut self, waiting: Waiting) {
        for (request, _) in waiting {
            let error = RequestError::state("the program was ended");
            self.wire.respond(&request, Err(error));
        }
    }

    /// Tells the client why the program stands still.
    fn report(&mut self, mut debuggee: Box<Debuggee>, reason: StopReason) {
        let said = self.progress.end();
        self.say(said);
        match &reason {
            StopReason::Completed(results) => {
                let name = debuggee.debugger.program().entry_name();
                let results = vm::text::format_values("result", results);
                self.wire.print(Category::Stdout, [format!("EXEC @{name}")]);
                self.wire.print(Category::Stdout, results.lines());
                self.outcome = Some(reason);
                return self.over(0);
            }
            StopReason::Failed(failure) => {
                debuggee.failure = Some(failure.clone());
                self.wire.print(Category::Stderr, [failure.status.to_string()]);
                if debuggee.settings.no_debug || !debuggee.exceptions.stops_for(failure) {
                    self.outcome = Some(reason);
                    return self.over(EXIT_UNFINISHED);
                }
            }
            _ => {}
        }
        if let Some(stopped) = to_dap::stopped(&reason, &debuggee.debugger) {
            self.wire.event(events::Event::Stopped(stopped));
        }
        debuggee.stopped_for = Some(reason);
        self.state = State::Standing(debuggee);
    }

    /// Begins the program, or shows that it has not begun. One that had begun before its client came
    /// goes on.
    pub(crate) fn start(&mut self, request: &Request) {
        let State::Standing(debuggee) = &mut self.state else {
            let error = self.not_now(request);
            return self.wire.respond(request, Err(error));
        };
        if debuggee.configured {
            let error = RequestError::state("`configurationDone` came twice: the program is on");
            return self.wire.respond(request, Err(error));
        }
        debuggee.configured = true;
        debuggee.configured_once = true;
        let resume =
            if debuggee.started { Resume::AsBefore } else { debuggee.settings.first_resume() };
        let show = debuggee.started && debuggee.settings.stop_on_entry;
        self.wire.respond(request, Ok(Value::Null));
        if !show {
            return self.resume(resume);
        }
        if let State::Standing(debuggee) = std::mem::replace(&mut self.state, State::Ended) {
            self.report(debuggee, StopReason::Pause);
        }
    }

    /// Moves the program, which then stands still elsewhere: for the client, a new stop.
    pub(crate) fn move_program(
        &mut self,
        request: &Request,
        how: impl FnOnce(&mut Debuggee) -> Result<Moved, RequestError>,
    ) {
        let mut debuggee = match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) => debuggee,
            other => {
                self.state = other;
                let error = self.not_now(request);
                return self.wire.respond(request, Err(error));
            }
        };
        match how(&mut debuggee) {
            Ok(moved) => {
                self.wire.respond(request, Ok(Value::Null));
                debuggee.forget_stop();
                match moved {
                    Moved::Elsewhere => {
                        self.wire.event(events::Event::Stopped(to_dap::arrived()));
                        self.state = State::Standing(debuggee);
                    }
                    Moved::Ran(reason) => self.report(debuggee, reason),
                }
            }
            Err(error) => {
                self.wire.respond(request, Err(error));
                self.state = State::Standing(debuggee);
            }
        }
    }

    /// Asks a running program to stop for the client.
    pub(crate) fn pause(&mut self, request: &Request) {
        let outcome = match &mut self.state {
            State::Running(running) => {
                running.pause = true;
                running.interrupt.interrupt();
                Ok(Value::Null)
            }
            _ => Err(self.not_now(request)),
        };
        self.wire.respond(request, outcome);
    }

    /// Launches the program anew, as it was launched or with other arguments.
    pub(crate) fn restart(&mut self, request: &Request, arguments: LaunchArguments) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) => self.relaunch(*debuggee, request, arguments),
            State::Running(mut running) => {
                running.interrupt.interrupt();
                if let Then::Nothing = running.then {
                    running.then = Then::Restart(request.clone(), Box::new(arguments));
                } else {
                    let error = RequestError::state("the program is being restarted already");
                    self.wire.respond(request, Err(error));
                }
                self.state = State::Running(running);
            }
            other => {
                self.state = other;
                let error = self.not_now(request);
                self.wire.respond(request, Err(error));
            }
        }
    }

    fn relaunch(&mut self, debuggee: Debuggee, request: &Request, arguments: LaunchArguments) {
        let kept = debuggee.into_kept();
        match Launch::begin(&arguments, request.clone(), self.events.clone(), Some(kept)) {
            Ok(launch) => self.launching(launch, arguments),
            Err(text) => {
                self.wire.respond(request, Err(RequestError::launch(text)));
                self.over(EXIT_UNFINISHED);
            }
        }
    }

    /// Leaves a program that goes on without its client.
    pub(crate) fn leave(&mut self, request: Option<&Request>) -> ControlFlow<()> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Running(mut running) => {
                running.interrupt.interrupt();
                running.then = Then::Leave(request.cloned());
                self.state = State::Running(running);
                return ControlFlow::Continue(());
            }
            State::Standing(debuggee) => self.left(debuggee, &StopReason::Pause, request),
            other => {
                self.state = other;
                self.end();
                if let Some(request) = request {
                    self.wire.respond(request, Ok(Value::Null));
                }
            }
        }
        ControlFlow::Break(())
    }

    fn left(
        &mut self,
        mut debuggee: Box<Debuggee>,
        reason: &StopReason,
        request: Option<&Request>,
    ) {
        let said = self.progress.end();
        self.say(said);
        if let Some(failure) = debuggee.failure.take() {
            self.outcome = Some(StopReason::Failed(failure));
        } else if reason.is_final() {
            self.outcome = Some(reason.clone());
        } else {
            debuggee.forget_client();
            self.detached = Some(debuggee);
        }
        self.wire.event(events::Event::Terminated);
        if let Some(request) = request {
            self.wire.respond(request, Ok(Value::Null));
        }
    }

    /// Ends the program, wherever it is.
    pub(crate) fn end(&mut self) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Unlaunched | State::Ended => {}
            State::Launching(launch) => self.give_up(*launch, "the launch was cancelled"),
            State::Standing(_) => self.over(EXIT_UNFINISHED),
            State::Running(running) => {
                // It comes back to a session that has ended, and is dropped.
                running.interrupt.interrupt();
                self.refuse_waiting(running.waiting);
                if let Then::Restart(request, _) = running.then {
                    self.wire.respond(&request, Err(RequestError::cancelled()));
                }
                self.over(EXIT_UNFINISHED);
            }
        }
    }

    fn give_up(&mut self, launch: Launch, why: &str) {
        let said = self.progress.end();
        self.say(said);
        let is_restart = launch.is_restart();
        let finished = launch.cancel();
        self.wire.respond(&finished.request, Err(RequestError::cancelled_as(why)));
        self.refuse_waiting(finished.waiting);
        if is_restart {
            self.over(EXIT_UNFINISHED);
        } else {
            self.wire.event(events::Event::Terminated);
        }
    }

    /// Gives up what is under way for a request, or by its name in progress events. Tells whether
    /// there was such a thing.
    pub(crate) fn cancel(&mut self, request: Option<i64>, progress: Option<&str>) {
        let by_progress = progress.is_some_and(|id| self.progress.is(id));
        match &mut self.state {
            State::Launching(launch) if by_progress || request == Some(launch.request.seq) => {
                if let State::Launching(launch) = std::mem::replace(&mut self.state, State::Ended) {
                    self.give_up(*launch, "cancelled");
                }
            }
            State::Running(running) if by_progress => {
                running.pause = true;
                running.interrupt.interrupt();
            }
            State::Running(running) => {
                let waiting = &mut running.waiting;
                if let Some(at) = waiting.iter().position(|(it, _)| Some(it.seq) == request) {
                    let (request, _) = waiting.remove(at);
                    self.wire.respond(&request, Err(RequestError::cancelled()));
                }
            }
            _ => {}
        }
    }

    /// Says that the program is over.
    fn over(&mut self, exit_code: i64) {
        self.state = State::Ended;
        let said = self.progress.end();
        self.say(said);
        self.tell_of_thread("exited");
        self.wire.event(events::Event::Exited(Exited { exit_code }));
        self.wire.event(events::Event::Terminated);
    }

    fn tell_of_thread(&mut self, reason: &'static str) {
        let thread_id = to_dap::THREAD;
        self.wire.event(events::Event::Thread(ThreadEvent { reason, thread_id }));
    }

    /// Says what there is to say of progress, to clients that show it.
    fn say(&mut self, progress: Option<events::Event>) {
        if let Some(event) = progress.filter(|_| self.client.shows_progress) {
            self.wire.event(event);
        }
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
