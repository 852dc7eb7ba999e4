//! The program is let go, comes back, and its client is told why it stands still.

use std::ops::ControlFlow;

use debug::{Resume, StopReason};
use serde_json::Value;

use super::{Asked, EXIT_UNFINISHED, Moved, Running, Session, State, Then};
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::events::{self, Category};
use crate::logs::Lines;
use crate::protocol::Request;
use crate::runner::Ran;
use crate::sources;
use crate::to_dap;

impl Running {
    /// Asks the program to come back.
    pub(super) fn interrupt(&mut self) {
        self.asked.ask();
        self.interrupt.interrupt();
    }
}

impl Session {
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
                let asked = Asked::default();
                let running = Running { interrupt, pause: false, waiting, then, asked };
                self.state = State::Running(Box::new(running));
            }
            other => self.state = other,
        }
    }

    /// The program came back.
    pub(super) fn ran(&mut self, ran: Ran) -> ControlFlow<()> {
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
                for waiter in running.waiting.iter().filter(|waiter| !waiter.is_answered()) {
                    let error = RequestError::internal("the debugger failed");
                    self.wire.respond(&waiter.request, Err(error));
                }
                self.wire.print(Category::Stderr, [format!("the debugger failed: {text}")]);
                self.over(EXIT_UNFINISHED);
                return ControlFlow::Continue(());
            }
        };
        self.print_logs();
        self.serve_waiting(&mut debuggee, &running.waiting);
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

    /// Tells the client why the program stands still.
    pub(super) fn report(&mut self, mut debuggee: Box<Debuggee>, reason: StopReason) {
        let said = self.progress.end();
        self.say(said);
        self.tell_changed_files(&mut debuggee);
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

    /// Begins the program, or shows that it has not begun. One that had begun before its client
    /// came goes on.
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
                running.interrupt();
                Ok(Value::Null)
            }
            _ => Err(self.not_now(request)),
        };
        self.wire.respond(request, outcome);
    }

    /// Says which files are others now than those that the program was loaded from.
    pub(super) fn tell_changed_files(&mut self, debuggee: &mut Debuggee) {
        let files = debuggee.debugger.newly_changed_files();
        let how = if self.is_attached { "start the program again" } else { "restart" };
        let lines = files.iter().map(|file| format!("{file}; {how} to load it anew"));
        self.wire.print(Category::Important, lines);
    }

    /// Prints what breakpoints had to say, each place in one event.
    pub(super) fn print_logs(&mut self) {
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
}
