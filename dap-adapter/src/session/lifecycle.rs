//! A program is launched, attached to, restarted, left or ended.

use std::ops::ControlFlow;
use std::path::PathBuf;

use commands::Inputs;
use debug::{Resume, StopReason};
use serde_json::{Value, json};

use super::early_answers::Waiter;
use super::loop_event::LoopEvent;
use super::state::{EXIT_UNFINISHED, Launching, Session, State, Then};
use crate::configuration::{AttachArguments, LaunchArguments};
use crate::debuggee::{Debuggee, RestartState};
use crate::protocol::events::{CapabilitiesEvent, Category};
use crate::protocol::{Event, Request, RequestError};
use crate::to_dap;
use crate::workers::{Launch, LaunchFailure, Launched, Ran};

impl Session {
    /// Serves `launch`: begins to load a program. The response follows when that is done.
    pub(super) fn launch(
        &mut self,
        request: &Request,
        token: Option<&str>,
        arguments: Result<Box<LaunchArguments>, RequestError>,
    ) -> ControlFlow<()> {
        if let Err(error) = self.admit(token) {
            return self.turn_away(request, error);
        }
        let begun = arguments.and_then(|arguments| {
            if self.offered.is_some() {
                return Err(RequestError::launch(
                    "a program is running here already; use a configuration with `\"request\": \
                     \"attach\"`",
                ));
            }
            self.check_beginning("launch", arguments.log())?;
            let launch =
                self.begin_launch(&arguments).map_err(|why| arguments.failure(why.to_string()))?;
            Ok((launch, arguments))
        });
        match begun {
            Ok((launch, arguments)) => {
                self.launching(launch, request.clone(), *arguments, None);
            }
            Err(error) => self.fail_to_begin(request, error),
        }
        ControlFlow::Continue(())
    }

    /// Serves `attach`: takes over the program that is offered.
    pub(super) fn attach(
        &mut self,
        request: &Request,
        token: Option<&str>,
        arguments: Result<Box<AttachArguments>, RequestError>,
    ) -> ControlFlow<()> {
        if let Err(error) = self.admit(token) {
            return self.turn_away(request, error);
        }
        let taken = arguments.and_then(|arguments| {
            self.check_beginning("attach", arguments.log())?;
            let settings =
                arguments.settings().map_err(|why| RequestError::launch(why.to_string()))?;
            let mut debuggee = self.offered.take().ok_or_else(|| {
                RequestError::launch(
                    "there is no program here to attach to; start one with `iree-dbg run \
                     --listen=HOST:PORT --wait-for-debugger …` and connect to that address",
                )
            })?;
            let level = settings.level.unwrap_or(debuggee.debugger.program().own_level());
            if let Err(error) = debuggee.debugger.set_level(level) {
                self.offered = Some(debuggee);
                return Err(RequestError::launch(format!("`level`: {error}")));
            }
            debuggee.settings = settings;
            Ok(debuggee)
        });
        match taken {
            Ok(debuggee) => {
                self.is_attached = true;
                self.wire.respond(request, Ok(Value::Null));
                // The program belongs to the one who started it.
                let capabilities = json!({ "supportsRestartRequest": false });
                self.wire.event(Event::Capabilities(CapabilitiesEvent { capabilities }));
                self.stand(debuggee, "attach");
            }
            Err(error) => self.fail_to_begin(request, error),
        }
        ControlFlow::Continue(())
    }

    /// Checks the token, once.
    fn admit(&mut self, given: Option<&str>) -> Result<(), RequestError> {
        match (self.token.take(), given) {
            (None, _) => Ok(()),
            (Some((token, _)), Some(given)) if token.matches(given) => Ok(()),
            (Some(_), given) => {
                let what = given.map_or("is missing", |_| "is wrong");
                self.fault = Some(format!("its token {what}"));
                Err(RequestError::launch(format!(
                    "the `token` of the launch configuration {what}: it is the text that iree-dbg \
                     has printed where it was started with --listen"
                )))
            }
        }
    }

    /// Ends the session of a client without the token: each guess costs a connection.
    fn turn_away(&mut self, request: &Request, error: RequestError) -> ControlFlow<()> {
        self.wire.respond(request, Err(error));
        self.wire.event(Event::Terminated);
        ControlFlow::Break(())
    }

    /// Checks what `launch` and `attach` have in common, and opens the protocol log.
    fn check_beginning(&self, command: &str, log: Option<PathBuf>) -> Result<(), RequestError> {
        if !matches!(self.state, State::Unlaunched) {
            return Err(RequestError::state(format!(
                "`{command}` came twice; one session has one program"
            )));
        }
        self.log.decide(log.as_deref()).map_err(|error| {
            let path = log.unwrap_or_default();
            RequestError::launch(format!("the log {} cannot be written: {error}", path.display()))
        })
    }

    /// Fails a `launch` or an `attach`. Its client cannot tell otherwise that the session is over.
    fn fail_to_begin(&mut self, request: &Request, error: RequestError) {
        self.wire.respond(request, Err(error));
        if matches!(self.state, State::Unlaunched) {
            self.state = State::Ended;
            self.wire.event(Event::Terminated);
        }
    }

    /// Begins to load a program on a thread of its own.
    fn begin_launch(&self, arguments: &LaunchArguments) -> Result<Launch, LaunchFailure> {
        let events = self.events.clone();
        Launch::begin(arguments.clone(), move |report| {
            // The receiver is gone when the session is over.
            let _ = events.send(LoopEvent::Launch(report));
        })
    }

    /// The program is loading from now on.
    fn launching(
        &mut self,
        launch: Launch,
        request: Request,
        arguments: LaunchArguments,
        restart_state: Option<RestartState>,
    ) {
        self.begin_progress(arguments.progress_title(), Some(request.seq));
        self.launched_with = Some(arguments);
        let waiting = Vec::new();
        let launching = Launching { launch, request, waiting, restart_state, console: None };
        self.state = State::Launching(Box::new(launching));
    }

    /// The launch has ended: the client may set its breakpoints, or hears of the failure.
    pub(super) fn launched(&mut self, launched: Launched) {
        self.end_progress();
        let launching = match std::mem::replace(&mut self.state, State::Ended) {
            State::Launching(launching) => *launching,
            other => {
                self.state = other; // The session ended while the program was loading.
                return;
            }
        };
        let Launching { launch, request, waiting, restart_state, console } = launching;
        self.scratch = launch.finish();
        match (launched, restart_state) {
            (Ok(debuggee), None) => {
                self.wire.respond(&request, Ok(Value::Null));
                self.stand(debuggee, "launch");
            }
            (Ok(debuggee), Some(restart_state)) => {
                if console.is_none() {
                    self.wire.respond(&request, Ok(Value::Null));
                }
                self.restarted(debuggee, restart_state, &waiting, console);
            }
            (Err(why), restart_state) => {
                let text = why.to_string();
                match console {
                    None => {
                        let known = self.launched_with.as_ref();
                        let error = known.map_or_else(
                            || RequestError::launch(text.clone()),
                            |arguments| arguments.failure(&text),
                        );
                        self.wire.respond(&request, Err(error));
                    }
                    Some(_) => self.wire.print(Category::Stderr, [text]),
                }
                self.refuse_waiting(&waiting, &program_ended());
                match restart_state {
                    Some(_) => self.over(EXIT_UNFINISHED),
                    None => self.wire.event(Event::Terminated),
                }
            }
        }
    }

    /// There is a program that stands still, and the client may set its breakpoints.
    fn stand(&mut self, mut debuggee: Box<Debuggee>, start_method: &'static str) {
        self.connect(&mut debuggee);
        let process = to_dap::process(debuggee.debugger.program(), start_method);
        self.wire.event(Event::Process(process));
        self.wire.print(Category::Console, debuggee.debugger.program().notes());
        self.announce(&mut debuggee);
        self.send_thread_event("started");
        self.state = State::Standing(debuggee);
        self.wire.event(Event::Initialized);
    }

    /// Connects the program to this session: its log messages, and the cancelling of evaluations.
    fn connect(&mut self, debuggee: &mut Debuggee) {
        let events = self.events.clone();
        debuggee.debugger.set_log_sink(self.log_messages.sink(move || {
            // The receiver is gone when the session is over.
            let _ = events.send(LoopEvent::Logged);
        }));
        debuggee.cancelled = self.cancelled.clone();
        let events = self.events.clone();
        debuggee.debugger.interrupt_handle().recall_by(move || {
            let _ = events.send(LoopEvent::Recalled);
        });
    }

    /// Announces modules and sources that the client has not heard of.
    fn announce(&mut self, debuggee: &mut Debuggee) {
        for event in debuggee.announcements(&self.client) {
            self.wire.event(event);
        }
    }

    /// The program has restarted.
    fn restarted(
        &mut self,
        mut debuggee: Box<Debuggee>,
        restart_state: RestartState,
        waiting: &[Waiter],
        console: Option<Resume>,
    ) {
        self.connect(&mut debuggee);
        self.wire.print(Category::Console, debuggee.debugger.program().notes());
        debuggee.restore(restart_state);
        self.announce(&mut debuggee);
        self.serve_waiting(&mut debuggee, waiting);
        self.tell_continued();
        let resume = console.unwrap_or(debuggee.settings.first_resume());
        self.state = State::Standing(debuggee);
        self.console_runs = console.is_some();
        self.resume(resume);
    }

    /// Performs `run` or `start` of the console: restarts the program, and begins it as the command
    /// says. The request is answered already.
    pub(super) fn restart_from_console(&mut self, how: Resume, inputs: Option<Inputs>) {
        let known = (!self.is_attached, self.launched_with.clone(), self.console_request.take());
        let (true, Some(arguments), Some(request)) = known else {
            let text = "the program was started elsewhere; start it again there";
            return self.wire.print(Category::Stderr, [text]);
        };
        let arguments = match inputs {
            Some(inputs) => arguments.called_with(inputs),
            None => arguments,
        };
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) => {
                self.relaunch(*debuggee, &request, arguments, Some(how));
            }
            other => self.state = other,
        }
    }

    /// Serves `restart`: launches the program again, with the configuration that the request has or
    /// with that of the launch. A source is compiled again, a module is read again. Breakpoints
    /// stay.
    pub(super) fn restart(
        &mut self,
        request: &Request,
        configuration: Result<Option<Box<LaunchArguments>>, RequestError>,
    ) {
        if self.is_attached {
            let why = "the program was started elsewhere; start it again there";
            let error = RequestError::unsupported("restart", why);
            return self.wire.respond(request, Err(error));
        }
        let arguments = configuration.and_then(|given| match given {
            Some(given) => Ok(*given),
            None => self.launched_with.clone().ok_or_else(|| self.wrong_state(request)),
        });
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return self.wire.respond(request, Err(error)),
        };
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) => self.relaunch(*debuggee, request, arguments, None),
            State::Running(mut running) => {
                running.interrupt();
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
                let error = self.wrong_state(request);
                self.wire.respond(request, Err(error));
            }
        }
    }

    /// Loads the program again. `console`: a command asks for it, and says how it begins.
    fn relaunch(
        &mut self,
        debuggee: Debuggee,
        request: &Request,
        arguments: LaunchArguments,
        console: Option<Resume>,
    ) {
        let restart_state = debuggee.into_restart_state();
        match self.begin_launch(&arguments) {
            Ok(launch) => {
                self.launching(launch, request.clone(), arguments, Some(restart_state));
                if let State::Launching(launching) = &mut self.state {
                    launching.console = console;
                }
            }
            Err(why) => {
                let text = why.to_string();
                match console {
                    None => self.wire.respond(request, Err(RequestError::launch(text))),
                    Some(_) => self.wire.print(Category::Stderr, [text]),
                }
                self.over(EXIT_UNFINISHED);
            }
        }
    }

    /// The client leaves its program, which keeps running if it is not over.
    pub(super) fn leave(&mut self, request: Option<&Request>) -> ControlFlow<()> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Running(mut running) => {
                running.interrupt();
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
        self.end_progress();
        if let Some(failure) = debuggee.failure.take() {
            self.outcome = Some(StopReason::Failed(failure));
        } else if reason.is_final() {
            self.outcome = Some(reason.clone());
            self.completed = Some(debuggee);
        } else {
            debuggee.forget_client();
            self.detached = Some(debuggee);
        }
        self.wire.event(Event::Terminated);
        if let Some(request) = request {
            self.wire.respond(request, Ok(Value::Null));
        }
    }

    /// Ends the program, in any state.
    pub(super) fn end(&mut self) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Unlaunched | State::Ended => {}
            State::Launching(launching) => {
                self.cancel_launch(*launching, "the launch was cancelled");
            }
            State::Standing(debuggee) => {
                self.completed = Some(debuggee).filter(|_| self.is_attached);
                self.over(EXIT_UNFINISHED);
            }
            State::Running(mut running) => {
                // When it stops, the session has ended and drops it.
                running.interrupt();
                self.refuse_waiting(&running.waiting, &program_ended());
                if let Then::Restart(request, _) = running.then {
                    self.wire.respond(&request, Err(RequestError::cancelled()));
                }
                self.over(EXIT_UNFINISHED);
            }
        }
    }

    fn cancel_launch(&mut self, launching: Launching, why: &str) {
        self.end_progress();
        let Launching { launch, request, waiting, restart_state, console } = launching;
        launch.cancel();
        if console.is_none() {
            self.wire.respond(&request, Err(RequestError::cancelled_as(why)));
        }
        self.refuse_waiting(&waiting, &program_ended());
        if restart_state.is_some() {
            self.over(EXIT_UNFINISHED);
        } else {
            self.wire.event(Event::Terminated);
        }
    }

    /// Serves `cancel`: of a request by its number, or of progress by its name. Cancelling what is
    /// over does nothing.
    pub(super) fn cancel(&mut self, request: Option<i64>, progress: Option<&str>) {
        if let Some(seq) = request {
            self.cancelled.take(seq);
        }
        let by_progress = progress.is_some_and(|id| self.progress.is(id));
        match &mut self.state {
            State::Launching(it) if by_progress || request == Some(it.request.seq) => {
                if let State::Launching(it) = std::mem::replace(&mut self.state, State::Ended) {
                    self.cancel_launch(*it, "cancelled");
                }
            }
            State::Running(running) if by_progress => {
                running.pause = true;
                running.interrupt();
            }
            State::Running(running) => {
                let waiting = &mut running.waiting;
                let is_meant = |it: &Waiter| Some(it.request.seq) == request && !it.is_answered();
                if let Some(at) = waiting.iter().position(is_meant) {
                    let Waiter { request, .. } = waiting.remove(at);
                    self.wire.respond(&request, Err(RequestError::cancelled()));
                }
            }
            _ => {}
        }
    }

    /// Ends the session because of the client's fault.
    pub(super) fn abandon(&mut self, fault: String) -> ControlFlow<()> {
        self.fault = Some(fault);
        if self.is_attached {
            return self.leave(None);
        }
        self.end();
        ControlFlow::Break(())
    }

    /// The program has stopped.
    pub(super) fn ran(&mut self, ran: Ran) -> ControlFlow<()> {
        let running = match std::mem::replace(&mut self.state, State::Ended) {
            State::Running(running) => running,
            other => {
                self.state = other; // The session ended while the program ran.
                return ControlFlow::Continue(());
            }
        };
        // None came in time that comes now.
        running.interrupt.withdraw();
        let (mut debuggee, reason, interrupted) = match ran {
            Ran::Stopped(debuggee, reason) => (debuggee, reason, None),
            Ran::Interrupted(debuggee, run) => (debuggee, StopReason::Pause, Some(run)),
            Ran::Refused(debuggee, text) => {
                self.wire.print(Category::Important, [text]);
                (debuggee, StopReason::Step, None)
            }
            Ran::Crashed(text) => {
                let error = RequestError::internal("the debugger failed");
                self.refuse_waiting(&running.waiting, &error);
                self.wire.print(Category::Stderr, [text]);
                self.over(EXIT_UNFINISHED);
                return ControlFlow::Continue(());
            }
        };
        self.print_log_messages();
        self.serve_waiting(&mut debuggee, &running.waiting);
        self.announce(&mut debuggee);
        match running.then {
            Then::Nothing => {}
            Then::Restart(request, arguments) => {
                self.relaunch(*debuggee, &request, *arguments, None);
                return ControlFlow::Continue(());
            }
            Then::Leave(request) => {
                self.left(debuggee, &reason, request.as_ref());
                return ControlFlow::Break(());
            }
        }
        // The client does not see an interrupt that was for the requests above, nor a stop that the
        // program's caller has ended meanwhile. What was interrupted goes on.
        let is_recalled = !reason.is_final() && debuggee.debugger.interrupt_handle().is_recalled();
        match interrupted.filter(|_| !running.pause || is_recalled) {
            Some(run) => self.go_on(debuggee, *run),
            None if is_recalled => {
                self.state = State::Standing(debuggee);
                self.resume(Resume::AsBefore);
            }
            None => self.report(debuggee, reason),
        }
        ControlFlow::Continue(())
    }
}

/// The error of requests whose program is over before they were served.
fn program_ended() -> RequestError {
    RequestError::state("the program was ended")
}
