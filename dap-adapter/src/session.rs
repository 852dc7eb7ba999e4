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
//! Everything that can wake the loop is in [`Event`]. The loop never blocks on the program: while
//! it runs, the [`Debuggee`] is on the runner's thread. A request that needs the program then
//! interrupts it, waits in [`Running::waiting`], is served when the program comes back, and the
//! program goes on, in the middle of a step if need be, without the client seeing a stop.
//!
//! The session never ends without an `exited` and a `terminated` event, if there was a program that
//! it started. One that it was attached to goes on when the client leaves: see [`Ending`].
//!
//! Here are the states and the loop. What happens in them: `life` (a program comes and goes),
//! `running` (it is let go and comes back), `serving` (who answers a request, and when), `early`
//! (what cannot wait for it).

mod early;
mod life;
mod running;
mod serving;

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::{Duration, Instant};

use debug::{InterruptHandle, StopReason};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use self::early::Waiter;
use self::early::{Asked, EarlyNumbers};
use crate::backlog::Ticket;
use crate::cancel::Cancelled;
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::door::Token;
use crate::error::RequestError;
use crate::events::{self, Category, ThreadEvent};
use crate::framing::Fault;
use crate::launch::{Launch, LaunchArguments, Launched};
use crate::log::Log;
use crate::logs::Logs;
use crate::progress::Progress;
use crate::protocol::{Incoming, Request};
use crate::runner::{Ran, Runner, panic_text};
use crate::to_dap;
use crate::wire::Wire;

/// The exit code of a program that has failed or was ended before it was done.
const EXIT_UNFINISHED: i64 = 1;

/// For how long the loop looks for the next event before it sleeps: a step is over within less, and
/// a client that asks for one thing after the other is back within about as much. To be woken up
/// costs more than all that is done for a request, on machines whose processors sleep when they
/// may.
const ALERT: Duration = Duration::from_micros(200);

/// For how long a client may be there without the token that it has to give.
const ADMISSION: Duration = Duration::from_secs(60);

/// Waits for an event, or until a time.
fn next_event(
    inbox: &Receiver<Event>,
    deadline: Option<Instant>,
) -> Result<Event, RecvTimeoutError> {
    let alert_until = Instant::now() + ALERT;
    loop {
        match inbox.try_recv() {
            Ok(event) => return Ok(event),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if Instant::now() >= alert_until => break,
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
    match deadline {
        None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
    }
}

/// Everything that wakes the loop.
pub(crate) enum Event {
    /// The client said something. It waits until it is served.
    Message(Value, Ticket),
    /// The client said something unreadable.
    Fault(Fault),
    /// The client speaks something else; what it looks like.
    Lost(String),
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
    /// Since when it is to come back.
    asked: Asked,
}

/// Requests that wait for a program.
pub(crate) type Waiting = Vec<Waiter>;

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

/// A session that is over.
pub(crate) struct Ended {
    pub(crate) ending: Ending,
    /// What the client did that nobody goes on with.
    pub(crate) fault: Option<String>,
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
    /// What a client has to give before it gets a program, and until when.
    token: Option<(Token, Instant)>,
    /// What the session ends for, if that is not what the client wants.
    fault: Option<String>,
    outcome: Option<StopReason>,
    detached: Option<Box<Debuggee>>,
    runner: Runner,
    early_numbers: EarlyNumbers,
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
            token: None,
            fault: None,
            outcome: None,
            detached: None,
            runner,
            early_numbers: EarlyNumbers::default(),
            scratch: None,
        }
    }

    /// Serves the client until it leaves.
    pub(crate) fn run(mut self, inbox: &Receiver<Event>) -> Ended {
        loop {
            let admission = self.token.as_ref().map(|(_, until)| *until);
            let deadlines =
                [self.progress.deadline(), self.logs.deadline(), self.early_deadline(), admission];
            let event = next_event(inbox, deadlines.into_iter().flatten().min());
            let flow = match event {
                Ok(event) => self.handle_guarded(event),
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let said = self.progress.tick(now);
                    self.say(said);
                    if self.logs.deadline().is_some_and(|at| at <= now) {
                        self.print_logs();
                    }
                    if self.early_deadline().is_some_and(|at| at <= now) {
                        self.answer_early(now);
                    }
                    match admission {
                        Some(until) if until <= now => self.abandon("it gave no token".to_owned()),
                        _ => ControlFlow::Continue(()),
                    }
                }
                Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
            };
            if flow.is_break() {
                break;
            }
        }
        let ending = match self.detached.or(self.offered) {
            Some(debuggee) => Ending::Detached(debuggee),
            None => Ending::Over(self.outcome),
        };
        Ended { ending, fault: self.fault }
    }

    /// Has clients give a token before they get a program.
    pub(crate) fn ask_for(&mut self, token: Option<Token>) {
        self.token = token.map(|token| (token, Instant::now() + ADMISSION));
    }

    /// Whether a client may have a program; asked once.
    pub(crate) fn admit(&mut self, given: Option<&str>) -> Result<(), RequestError> {
        match (self.token.take(), given) {
            (None, _) => Ok(()),
            (Some((token, _)), Some(given)) if token.is(given) => Ok(()),
            (Some(_), given) => {
                let what = given.map_or("is missing", |_| "is wrong");
                self.fault = Some(format!("its token {what}"));
                Err(RequestError::launch(format!(
                    "the `token` of the launch configuration {what}: it is the text that iree-dbg has \
                     printed where it was started with --listen"
                )))
            }
        }
    }

    /// Ends the session for what the client did.
    fn abandon(&mut self, fault: String) -> ControlFlow<()> {
        self.fault = Some(fault);
        if self.is_attached {
            return self.leave(None);
        }
        self.end();
        ControlFlow::Break(())
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
            Event::Message(message, _ticket) => return self.message(message),
            Event::Fault(fault) => {
                let seq = match &fault {
                    Fault::NotJson { seq, .. } => *seq,
                    Fault::NoContentLength | Fault::TooLong(_) | Fault::TooMany(_) => None,
                };
                let error = RequestError::malformed(fault.to_string());
                self.wire.answer(seq.unwrap_or(0), "", Err(error));
            }
            Event::Lost(why) => {
                self.wire.answer(0, "", Err(RequestError::malformed(why.as_str())));
                return self.abandon(why);
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
