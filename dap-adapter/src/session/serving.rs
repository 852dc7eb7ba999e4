//! Who answers a request, and when: at once, when the program stands still, or when it has been
//! interrupted for it.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::{Session, State, Waiter, Waiting};
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::door::not_begun;
use crate::error::RequestError;
use crate::events::{self, BreakpointEvent};
use crate::protocol::Request;
use crate::requests::{self, Handler};
use crate::runner::panic_text;

impl Session {
    pub(super) fn request(&mut self, request: Request) -> ControlFlow<()> {
        if self.cancelled.take(request.seq) {
            self.wire.respond(&request, Err(RequestError::cancelled()));
            return ControlFlow::Continue(());
        }
        if !self.initialized && request.command != "initialize" {
            let text = not_begun(&format!("`{}`", request.command));
            self.wire.respond(&request, Err(RequestError::state(text.as_str())));
            return self.abandon(text);
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
    pub(super) fn with_program(&mut self, request: Request, handler: requests::ProgramHandler) {
        match &mut self.state {
            State::Running(running) => {
                running.interrupt();
                running.waiting.push(Waiter::new(request, handler));
            }
            State::Launching(launch) if launch.is_restart() => {
                launch.waiting.push(Waiter::new(request, handler));
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

    /// Serves a request about a stop, whose values may come from a file that has changed since.
    pub(super) fn at_stop(&mut self, request: &Request, handler: requests::ProgramHandler) {
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(mut debuggee) => {
                self.tell_changed_files(&mut debuggee);
                State::Standing(debuggee)
            }
            other => other,
        };
        let outcome = match &mut self.state {
            State::Standing(debuggee) => {
                guarded(|client| handler(debuggee, client, request), &self.client)
            }
            _ => Err(self.not_now(request)),
        };
        self.served(request, outcome);
    }

    /// Answers a request, and says what it has changed.
    pub(super) fn served(&mut self, request: &Request, outcome: Result<Value, RequestError>) {
        self.wire.respond(request, outcome);
        if let State::Standing(debuggee) = &mut self.state {
            let said = std::mem::take(&mut debuggee.to_say);
            said.into_iter().for_each(|event| self.wire.event(event));
        }
    }

    /// Serves a request that ends a stop: the response first, then the program goes on.
    pub(super) fn resume_on_request(
        &mut self,
        request: &Request,
        handler: requests::ResumeHandler,
    ) {
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

    pub(super) fn serve_waiting(&mut self, debuggee: &mut Debuggee, waiting: &Waiting) {
        for waiter in waiting {
            self.serve_waiter(debuggee, waiter);
        }
        let said = std::mem::take(&mut debuggee.to_say);
        said.into_iter().for_each(|event| self.wire.event(event));
        for breakpoint in debuggee.changed_breakpoints(&self.client) {
            let event = BreakpointEvent { reason: "changed", breakpoint };
            self.wire.event(events::Event::Breakpoint(event));
        }
    }

    pub(super) fn refuse_waiting(&mut self, waiting: &Waiting) {
        for waiter in waiting.iter().filter(|waiter| !waiter.is_answered()) {
            let error = RequestError::state("the program was ended");
            self.wire.respond(&waiter.request, Err(error));
        }
    }
}

/// Calls a handler. A panic in it is a fault of ours that costs this request only.
pub(super) fn guarded(
    call: impl FnOnce(&Client) -> Result<Value, RequestError>,
    client: &Client,
) -> Result<Value, RequestError> {
    catch_unwind(AssertUnwindSafe(|| call(client))).unwrap_or_else(|panic| {
        Err(RequestError::internal(format!("the debugger failed: {}", panic_text(&*panic))))
    })
}
