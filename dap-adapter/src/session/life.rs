//! A program comes and goes: it is launched, launched anew, left, given up, or over.

use std::ops::ControlFlow;

use debug::StopReason;
use serde_json::Value;

use super::{EXIT_UNFINISHED, Session, State, Then, Waiter, Waiting};
use crate::debuggee::{Debuggee, Kept};
use crate::error::RequestError;
use crate::events::{self, Category, Exited};
use crate::launch::{Launch, LaunchArguments, Launched};
use crate::protocol::Request;
use crate::to_dap;

impl Session {
    /// Begins to load a program.
    pub(crate) fn launching(&mut self, launch: Launch, arguments: LaunchArguments) {
        let said = self.progress.begin(arguments.what_happens(), Some(launch.request.seq));
        self.say(said);
        self.launched_with = Some(arguments);
        self.state = State::Launching(Box::new(launch));
    }

    /// The launch is through: the client hears of its breakpoints' chance, or of the failure.
    pub(super) fn launched(&mut self, launched: Launched) {
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
                self.restarted(debuggee, *kept, &finished.waiting);
            }
            (Err(text), kept) => {
                self.wire.respond(&finished.request, Err(RequestError::launch(text)));
                self.refuse_waiting(&finished.waiting);
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
    pub(super) fn connect(&mut self, debuggee: &mut Debuggee) {
        debuggee.debugger.set_log_sink(self.logs.sink(self.events.clone()));
        debuggee.cancelled = self.cancelled.clone();
    }

    /// Tells of modules and sources that the client has not heard of.
    pub(super) fn announce(&mut self, debuggee: &mut Debuggee) {
        for event in debuggee.news(&self.client) {
            self.wire.event(event);
        }
    }

    /// The program is there again, from its beginning.
    pub(super) fn restarted(&mut self, mut debuggee: Box<Debuggee>, kept: Kept, waiting: &Waiting) {
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

    /// Launches the program anew, as it was launched or with other arguments.
    pub(crate) fn restart(&mut self, request: &Request, arguments: LaunchArguments) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) => self.relaunch(*debuggee, request, arguments),
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
                let error = self.not_now(request);
                self.wire.respond(request, Err(error));
            }
        }
    }

    pub(super) fn relaunch(
        &mut self,
        debuggee: Debuggee,
        request: &Request,
        arguments: LaunchArguments,
    ) {
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

    pub(super) fn left(
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
            State::Running(mut running) => {
                // It comes back to a session that has ended, and is dropped.
                running.interrupt();
                self.refuse_waiting(&running.waiting);
                if let Then::Restart(request, _) = running.then {
                    self.wire.respond(&request, Err(RequestError::cancelled()));
                }
                self.over(EXIT_UNFINISHED);
            }
        }
    }

    pub(super) fn give_up(&mut self, launch: Launch, why: &str) {
        let said = self.progress.end();
        self.say(said);
        let is_restart = launch.is_restart();
        let finished = launch.cancel();
        self.wire.respond(&finished.request, Err(RequestError::cancelled_as(why)));
        self.refuse_waiting(&finished.waiting);
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
                running.interrupt();
            }
            State::Running(running) => {
                let waiting = &mut running.waiting;
                let is_it = |it: &Waiter| Some(it.request.seq) == request && !it.is_answered();
                if let Some(at) = waiting.iter().position(is_it) {
                    let Waiter { request, .. } = waiting.remove(at);
                    self.wire.respond(&request, Err(RequestError::cancelled()));
                }
            }
            _ => {}
        }
    }

    /// Says that the program is over.
    pub(super) fn over(&mut self, exit_code: i64) {
        self.state = State::Ended;
        let said = self.progress.end();
        self.say(said);
        self.tell_of_thread("exited");
        self.wire.event(events::Event::Exited(Exited { exit_code }));
        self.wire.event(events::Event::Terminated);
    }
}
