//! The session's states and data, and how it ends.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use debug::{InterruptHandle, Resume, StopReason};

use super::early_answers::{EarlyNumbers, Interruption, Waiter};
use super::loop_event::LoopEvent;
use super::progress::Progress;
use crate::access::Token;
use crate::cancellation::CancelledRequests;
use crate::client::Client;
use crate::configuration::LaunchArguments;
use crate::debuggee::{Debuggee, RestartState};
use crate::protocol::events::{Exited, ThreadEvent};
use crate::protocol::{Event, Request, RequestError};
use crate::to_dap;
use crate::transport::{ProtocolLog, Wire};
use crate::workers::{Launch, LogMessages, Runner};

/// The exit code of a program that failed or did not run to its end.
pub(super) const EXIT_UNFINISHED: i64 = 1;

/// How long a client may stay without giving the token that it is asked for.
const TOKEN_WAIT: Duration = Duration::from_secs(60);

/// How long a client may stay after it was told that its program is over, if others wait for that.
pub(super) const LEAVING: Duration = Duration::from_secs(1);

/// The state of the session.
pub(super) enum State {
    /// There was no `launch` or `attach` yet.
    Unlaunched,
    /// The program is being compiled and loaded.
    Launching(Box<Launching>),
    /// The program stands still.
    Standing(Box<Debuggee>),
    /// The program runs.
    Running(Box<Running>),
    /// The program is over.
    Ended,
}

/// A launch in progress.
pub(super) struct Launching {
    pub(super) launch: Launch,
    /// Waits for its response.
    pub(super) request: Request,
    /// Requests that wait for the program of a restart.
    pub(super) waiting: Vec<Waiter>,
    /// The state of the earlier run, if this is a restart.
    pub(super) restart_state: Option<RestartState>,
    /// How the program begins, if a command of the console restarts it; the request is answered.
    pub(super) console: Option<Resume>,
}

/// A program that runs.
pub(super) struct Running {
    pub(super) interrupt: InterruptHandle,
    /// Whether it goes to another moment. When it is interrupted, it has to begin again.
    pub(super) goes_back: bool,
    /// Whether the client asked for a stop.
    pub(super) pause: bool,
    /// Requests that wait for the program to stop.
    pub(super) waiting: Vec<Waiter>,
    pub(super) then: Then,
    pub(super) interruption: Interruption,
}

impl Running {
    /// Interrupts the program.
    pub(super) fn interrupt(&mut self) {
        self.interruption.begin();
        self.interrupt.interrupt();
    }
}

/// What happens when an interrupted program has stopped.
pub(super) enum Then {
    /// It resumes, unless it has stopped for the client too.
    Nothing,
    /// It restarts.
    Restart(Request, Box<LaunchArguments>),
    /// The client leaves it; with its request, if it sent one.
    Leave(Option<Request>),
}

/// How a session ended.
pub(crate) enum Ending {
    /// The program is over: why, unless the client ended it, and what was left of it.
    Over(Option<StopReason>, Option<Box<Debuggee>>),
    /// The client has left the program that it had attached to.
    Detached(Box<Debuggee>),
}

/// A session that is over.
pub(crate) struct Ended {
    pub(crate) ending: Ending,
    /// The client's fault that ended the session, if one did.
    pub(crate) fault: Option<String>,
}

/// A session. See the module documentation.
pub(crate) struct Session {
    pub(super) wire: Wire,
    pub(super) client: Client,
    pub(super) state: State,
    pub(super) log: ProtocolLog,
    pub(super) events: Sender<LoopEvent>,
    pub(super) initialized: bool,
    pub(super) progress: Progress,
    pub(super) log_messages: LogMessages,
    pub(super) cancelled: CancelledRequests,
    /// The arguments of the launch, for a restart.
    pub(super) launched_with: Option<LaunchArguments>,
    /// A program that the client may attach to.
    pub(super) offered: Option<Box<Debuggee>>,
    /// Whether the client has attached to its program.
    pub(super) is_attached: bool,
    /// The token that the client has to give before it gets a program, and until when.
    pub(super) token: Option<(Token, Instant)>,
    /// Until when a client may stay whose program's caller wants it back.
    pub(super) leaves_by: Option<Instant>,
    /// The client's fault that ends the session.
    pub(super) fault: Option<String>,
    /// Why the program is over.
    pub(super) outcome: Option<StopReason>,
    /// The program that the client has left.
    pub(super) detached: Option<Box<Debuggee>>,
    /// The program, if it has run to its end.
    pub(super) completed: Option<Box<Debuggee>>,
    pub(super) runner: Runner,
    pub(super) early_numbers: EarlyNumbers,
    /// Whether a command of the console has made the program run.
    pub(super) console_runs: bool,
    /// Whether the client knows that the program is recorded.
    pub(super) tells_recorded: bool,
    /// The last line of the console.
    pub(super) console_request: Option<Request>,
    /// The directory with the module that was compiled for this session.
    pub(super) scratch: Option<compile::Scratch>,
}

impl Session {
    pub(crate) fn new(
        wire: Wire,
        log: ProtocolLog,
        events: Sender<LoopEvent>,
        cancelled: CancelledRequests,
    ) -> Self {
        let ran = events.clone();
        Self {
            wire,
            client: Client::default(),
            state: State::Unlaunched,
            log,
            events,
            initialized: false,
            progress: Progress::default(),
            log_messages: LogMessages::default(),
            cancelled,
            launched_with: None,
            offered: None,
            is_attached: false,
            token: None,
            leaves_by: None,
            fault: None,
            outcome: None,
            detached: None,
            completed: None,
            // What ran when the session ends goes with it.
            runner: Runner::new(move |it| ran.send(LoopEvent::Ran(it)).is_ok()),
            early_numbers: EarlyNumbers::default(),
            console_runs: false,
            tells_recorded: false,
            console_request: None,
            scratch: None,
        }
    }

    /// A session whose client may attach to a program.
    pub(crate) fn offering(self, program: Option<Box<Debuggee>>) -> Self {
        Self { offered: program, ..self }
    }

    /// A session whose client has to give a token before it gets a program.
    pub(crate) fn asking_for(self, token: Option<Token>) -> Self {
        Self { token: token.map(|token| (token, Instant::now() + TOKEN_WAIT)), ..self }
    }

    /// The session is over.
    pub(super) fn into_ended(self) -> Ended {
        let ending = match self.detached.or(self.offered) {
            Some(debuggee) => Ending::Detached(debuggee),
            None => Ending::Over(self.outcome, self.completed),
        };
        Ended { ending, fault: self.fault }
    }

    /// Why a request cannot be served in this state.
    pub(super) fn wrong_state(&self, request: &Request) -> RequestError {
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

    pub(super) fn send_thread_event(&mut self, reason: &'static str) {
        let thread_id = to_dap::THREAD;
        self.wire.event(Event::Thread(ThreadEvent { reason, thread_id }));
    }

    /// Sends an event about progress, to clients that show it.
    pub(super) fn send_progress(&mut self, event: Option<Event>) {
        if let Some(event) = event.filter(|_| self.client.shows_progress) {
            self.wire.event(event);
        }
    }

    pub(super) fn begin_progress(&mut self, title: String, request: Option<i64>) {
        let event = self.progress.begin(title, request);
        self.send_progress(event);
    }

    pub(super) fn end_progress(&mut self) {
        let event = self.progress.end();
        self.send_progress(event);
    }

    /// The program is over: tells the client.
    pub(super) fn over(&mut self, exit_code: i64) {
        self.state = State::Ended;
        self.end_progress();
        self.send_thread_event("exited");
        self.wire.event(Event::Exited(Exited { exit_code }));
        self.wire.event(Event::Terminated);
    }
}
