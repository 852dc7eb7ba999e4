//! Each request to its handler: at once, at a stop, or after an interrupt.

use std::ops::ControlFlow;

use dap::requests::InitializeArguments;
use serde_json::{Value, json};

use super::early_answers::Waiter;
use super::state::{Session, State};
use crate::client::Client;
use crate::protocol::{Request, RequestError};
use crate::requests::{self, Action, Handler, ProgramHandler, ResumeHandler};
use crate::to_dap;

/// What a request matters for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// Its answer alone.
    Answer,
    /// Where the program stops, too.
    Run,
}

impl Session {
    /// Serves a request.
    pub(super) fn request(&mut self, request: Request) -> ControlFlow<()> {
        if self.cancelled.take(request.seq) {
            self.wire.respond(&request, Err(RequestError::cancelled()));
            return ControlFlow::Continue(());
        }
        if !self.initialized && request.command != "initialize" {
            let error = RequestError::not_initialized(&format!("`{}`", request.command));
            let fault = error.text.clone();
            self.wire.respond(&request, Err(error));
            return self.abandon(fault);
        }
        match requests::handler(&request.command) {
            Err(error) => self.wire.respond(&request, Err(error)),
            Ok(Handler::Session(handler)) => match handler(&request) {
                Ok(action) => return self.perform(&request, action),
                Err(error) => self.wire.respond(&request, Err(error)),
            },
            Ok(Handler::Program(handler)) => self.with_program(request, handler, For::Answer),
            Ok(Handler::Setting(handler)) => self.with_program(request, handler, For::Run),
            Ok(Handler::Stop(handler)) => self.at_stop(&request, handler),
            Ok(Handler::Console(handler)) => {
                self.print_changes();
                self.console(&request, handler);
            }
            Ok(Handler::Move(handler)) => self.move_program(&request, handler),
            Ok(Handler::Resume(handler)) => self.resume_on_request(&request, handler),
        }
        ControlFlow::Continue(())
    }

    /// Performs the action of a request about the session, and answers the request.
    fn perform(&mut self, request: &Request, action: Action) -> ControlFlow<()> {
        match action {
            Action::Initialize(arguments) => {
                let outcome = self.initialize(&arguments);
                self.wire.respond(request, outcome);
            }
            Action::Launch { token, arguments } => {
                return self.launch(request, token.as_deref(), arguments);
            }
            Action::Attach { token, arguments } => {
                return self.attach(request, token.as_deref(), arguments);
            }
            Action::Restart(configuration) => self.restart(request, configuration),
            Action::Cancel { request: seq, progress } => {
                self.cancel(seq, progress.as_deref());
                self.wire.respond(request, Ok(Value::Null));
            }
            Action::ConfigurationDone => self.start(request),
            Action::Threads => {
                let threads = self.threads();
                self.wire.respond(request, Ok(threads));
            }
            Action::Pause => self.pause(request),
            Action::Terminate => {
                self.wire.respond(request, Ok(Value::Null));
                self.end();
            }
            Action::Disconnect { terminate_debuggee } => {
                if self.is_attached && !terminate_debuggee {
                    return self.leave(Some(request));
                }
                self.end();
                self.wire.respond(request, Ok(Value::Null));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Learns the client's conventions. Returns the capabilities.
    fn initialize(&mut self, arguments: &InitializeArguments) -> Result<Value, RequestError> {
        if std::mem::replace(&mut self.initialized, true) {
            return Err(RequestError::state("`initialize` came twice"));
        }
        self.client = Client::new(arguments);
        requests::capabilities()
    }

    /// The threads: one while there is a program.
    fn threads(&self) -> Value {
        let thread = json!({"id": to_dap::THREAD, "name": "main"});
        match self.state {
            State::Standing(_) | State::Running(_) => json!({ "threads": [thread] }),
            State::Unlaunched | State::Launching(_) | State::Ended => json!({ "threads": [] }),
        }
    }

    /// Serves a request that needs the program but no stop. Interrupts a running program for it.
    /// One that goes to another moment would have to begin anew, so only what matters to the run
    /// interrupts that.
    fn with_program(&mut self, request: Request, handler: ProgramHandler, matters_for: For) {
        match &mut self.state {
            State::Running(running) => {
                if !running.goes_back || matters_for == For::Run {
                    running.interrupt();
                }
                running.waiting.push(Waiter::new(request, handler));
            }
            State::Launching(launching) if launching.restart_state.is_some() => {
                launching.waiting.push(Waiter::new(request, handler));
            }
            State::Standing(debuggee) => {
                let outcome = requests::serve(handler, debuggee, &self.client, &request);
                self.answer(&request, outcome);
            }
            State::Unlaunched | State::Launching(_) | State::Ended => {
                let error = self.wrong_state(&request);
                self.wire.respond(&request, Err(error));
            }
        }
    }

    /// Serves a request about a stop. Its values may come from a file that has changed meanwhile,
    /// so that is printed first.
    fn at_stop(&mut self, request: &Request, handler: ProgramHandler) {
        self.print_changes();
        let outcome = match &mut self.state {
            State::Standing(debuggee) => requests::serve(handler, debuggee, &self.client, request),
            _ => Err(self.wrong_state(request)),
        };
        self.answer(request, outcome);
    }

    /// Prints which files have changed, if the program stands still.
    fn print_changes(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(mut debuggee) => {
                self.print_changed_files(&mut debuggee);
                State::Standing(debuggee)
            }
            other => other,
        };
    }

    /// Answers a request, and sends the events about what it has changed.
    pub(super) fn answer(&mut self, request: &Request, outcome: Result<Value, RequestError>) {
        self.wire.respond(request, outcome);
        if let State::Standing(debuggee) = &mut self.state {
            let events = std::mem::take(&mut debuggee.pending_events);
            events.into_iter().for_each(|event| self.wire.event(event));
        }
    }

    /// Serves a request that ends a stop: sends the response first, then resumes the program.
    fn resume_on_request(&mut self, request: &Request, handler: ResumeHandler) {
        let resuming = match &mut self.state {
            State::Standing(debuggee) => handler(debuggee, request),
            _ => Err(self.wrong_state(request)),
        };
        match resuming {
            Ok((run, body)) => {
                self.wire.respond(request, Ok(body));
                // Clients know it only of requests that the protocol has.
                if request.command.starts_with("iree/") {
                    self.tell_continued();
                }
                self.run_program(run);
            }
            Err(error) => self.wire.respond(request, Err(error)),
        }
    }
}
