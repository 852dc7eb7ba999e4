//! The program resumes, stops, and the client hears why it stands still.

use std::time::Instant;

use commands::{Action, Performance, Run};
use debug::{BreakpointId, Resume, StopReason};
use serde_json::{Value, json};

use super::early_answers::Interruption;
use super::state::{EXIT_UNFINISHED, LEAVING, Running, Session, State, Then};
use crate::debuggee::{Debuggee, Verdict};
use crate::panics;
use crate::protocol::events::{self, CapabilitiesEvent, Category};
use crate::protocol::{Answer, Event, Request, RequestError, Variable, body};
use crate::references::file_source;
use crate::requests::{self, Answered, ConsoleHandler, MoveHandler, Moved, Performed};
use crate::to_dap;
use crate::workers::Lines;

/// The most elements of a result that are printed. The console is no place for more.
const MAX_RESULT_ELEMENTS: usize = 64;

/// The text of results, with one mark for all rows that are left out beside each other.
fn brief(text: &str) -> String {
    const LEFT_OUT: &str = "[...]";
    let mut text = text.to_owned();
    loop {
        let length = text.len();
        text = text.replace("[...][...]", LEFT_OUT).replace("[[...]]", LEFT_OUT);
        if text.len() == length {
            return text;
        }
    }
}

/// The reason of a stop without the breakpoint of `until` and `iree/runTo`, which is none of the
/// user's: alone, it is the end of a step.
fn without_hidden(reason: StopReason, hidden: Option<BreakpointId>) -> StopReason {
    let StopReason::Breakpoint(mut hit) = reason else { return reason };
    let before = hit.len();
    hit.retain(|id| Some(*id) != hidden);
    let is_alone = hit.is_empty() && before > 0;
    if is_alone { StopReason::Step } else { StopReason::Breakpoint(hit) }
}

impl Session {
    /// Resumes the program. A program that has failed is over.
    pub(super) fn resume(&mut self, resume: Resume) {
        self.run_program(Run::Resume(resume, 1));
    }

    /// Runs the program. A program that has failed is over.
    pub(super) fn run_program(&mut self, run: Run) {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) if debuggee.failure.is_some() && !run.goes_back() => {
                self.outcome = debuggee.failure.map(StopReason::Failed);
                self.over(EXIT_UNFINISHED);
            }
            State::Standing(mut debuggee) => {
                debuggee.started = true;
                debuggee.forget_stop();
                debuggee.failure = None;
                debuggee.ran_from = debuggee.debugger.line_moment();
                if self.progress.deadline().is_none() {
                    let name = debuggee.debugger.program().entry_name();
                    let compiles = match &run {
                        Run::Resume(how, _) => debuggee.debugger.dispatch_to_compile(*how),
                        _ => None,
                    };
                    let title = match compiles {
                        Some(dispatch) => format!("Compiling @{dispatch} to bytecode"),
                        None if run.goes_back() => "Going back".to_owned(),
                        None => format!("Running {name}"),
                    };
                    self.begin_progress(title, None);
                }
                self.go_on(debuggee, run.into());
            }
            other => self.state = other,
        }
    }

    /// Lets the program run on: what it performs has not begun, or was interrupted.
    pub(super) fn go_on(&mut self, debuggee: Box<Debuggee>, run: Performance) {
        let interrupt = debuggee.debugger.interrupt_handle();
        let goes_back = run.run().goes_back();
        self.runner.run(debuggee, run);
        let (waiting, then) = (Vec::new(), Then::Nothing);
        let interruption = Interruption::default();
        let running = Running { interrupt, goes_back, pause: false, waiting, then, interruption };
        self.state = State::Running(Box::new(running));
    }

    /// The program's caller wants it back: has ended its call, or closes the program. So it does
    /// not stand still any longer, once the client has set its breakpoints.
    pub(super) fn recalled(&mut self) {
        let State::Standing(debuggee) = &mut self.state else { return };
        if !debuggee.configured || !debuggee.debugger.interrupt_handle().is_recalled() {
            return;
        }
        let text = "the program's caller has ended what stood still here";
        self.wire.print(Category::Important, [text.to_owned()]);
        self.tell_continued();
        self.resume(Resume::AsBefore);
    }

    /// Tells the client why the program stands still.
    pub(super) fn report(&mut self, mut debuggee: Box<Debuggee>, reason: StopReason) {
        if let StopReason::Entry = reason
            && let Some(moment) = debuggee.opens_at.take()
        {
            self.state = State::Standing(debuggee);
            return self.run_program(Run::ToMoment(moment));
        }
        self.end_progress();
        self.print_changed_files(&mut debuggee);
        // Expectations of `check` modules, since the last stop.
        let unmet = debuggee.debugger.program().host().expectations().take();
        debuggee.unmet += unmet.len();
        self.wire.print(Category::Stderr, unmet.iter().map(|note| format!("check: {note}")));
        self.tell_of_recording(&debuggee);
        let until = debuggee.console.hidden_breakpoint();
        self.show_in_console(&mut debuggee, &reason);
        let reason = without_hidden(reason, until);
        if debuggee.tells_run_map {
            let map = requests::run_map_of(&debuggee.debugger, 0);
            self.wire.event(Event::RunMap(map));
        }
        match &reason {
            StopReason::Completed(_) => return self.completed(debuggee, reason),
            StopReason::Failed(failure) => {
                debuggee.failure = Some(failure.clone());
                self.wire.print(Category::Stderr, [failure.status.to_string()]);
                if debuggee.settings.no_debug || !debuggee.exception_filters.stops_for(failure) {
                    self.outcome = Some(reason);
                    return self.over(EXIT_UNFINISHED);
                }
            }
            _ => {}
        }
        if debuggee.debugger.line_moment() != debuggee.end {
            // Who comes there again has not yet been told that it is the end.
            debuggee.end = None;
        }
        if let Some(stopped) = to_dap::stopped(&reason, &debuggee.debugger) {
            self.wire.event(Event::Stopped(stopped));
        }
        debuggee.stopped_for = Some(reason);
        self.state = State::Standing(debuggee);
        self.perform_waiting_lines();
    }

    /// The program is over. If it is recorded, it may stay at its end.
    fn completed(&mut self, mut debuggee: Box<Debuggee>, reason: StopReason) {
        let StopReason::Completed(results) = &reason else { return };
        let name = debuggee.debugger.program().entry_name();
        let text = vm::value_text::format_values_up_to("result", results, MAX_RESULT_ELEMENTS);
        self.wire.print(Category::Stdout, [format!("EXEC @{name}")]);
        self.wire.print(Category::Stdout, brief(&text).lines());
        let verdict = Verdict::of(results, debuggee.expected.as_ref());
        let is_told = debuggee.has_run_from_end();
        if let Some(verdict) = verdict.as_ref().filter(|_| !is_told) {
            self.wire.print(Category::Stderr, verdict.details.lines());
        }
        let stays = debuggee.go_back_to_end(verdict.is_some());
        if stays {
            // For the console, too, it stands still.
            debuggee.console.looked_at(&mut debuggee.debugger, &StopReason::Step);
            self.wire.event(Event::Stopped(to_dap::stopped_at_end()));
            debuggee.stopped_for = Some(StopReason::Step);
        }
        let is_unexpected = verdict.is_some() && debuggee.expected.is_some();
        if let Some(Verdict { of, text, .. }) = verdict.filter(|_| !is_told) {
            let verdict = json!({ "of": of, "text": text, "canGoBack": stays });
            self.wire.event(Event::Verdict(verdict));
        }
        if stays {
            self.state = State::Standing(debuggee);
            return;
        }
        if debuggee.debugger.program().is_called_from_outside() {
            // The program goes on without the client.
            self.leaves_by = Some(Instant::now() + LEAVING);
        }
        let is_right = debuggee.unmet == 0 && !is_unexpected;
        self.outcome = Some(reason);
        self.completed = Some(debuggee);
        self.over(if is_right { 0 } else { EXIT_UNFINISHED });
    }

    /// The program runs without a request that says so.
    pub(super) fn tell_continued(&mut self) {
        let (thread_id, all_threads_continued) = (to_dap::THREAD, true);
        let continued = events::Continued { thread_id, all_threads_continued };
        self.wire.event(Event::Continued(continued));
    }

    /// The client shows its buttons for going back only if it was told that they work.
    pub(super) fn tell_of_recording(&mut self, debuggee: &Debuggee) {
        let is_recorded = debuggee.debugger.record_state().is_some();
        if std::mem::replace(&mut self.tells_recorded, is_recorded) != is_recorded {
            let capabilities = json!({ "supportsStepBack": is_recorded });
            self.wire.event(Event::Capabilities(CapabilitiesEvent { capabilities }));
        }
    }

    /// Serves a line of the console: sends the response first, then does what the line asks for.
    pub(super) fn console(&mut self, request: &Request, handler: ConsoleHandler) {
        let outcome = match &mut self.state {
            State::Standing(debuggee) => {
                panics::caught(|| handler(debuggee, &self.client, request))
                    .unwrap_or_else(|panicked| Err(RequestError::internal(panicked.to_string())))
            }
            State::Running(running) if requests::asks_to_interrupt(request) => {
                running.pause = true;
                running.interrupt();
                body(Answer::result(Variable::default())).map(Answered::from)
            }
            State::Running(_) if requests::is_typed(request) => {
                Err(RequestError::not_stopped("the program runs; `interrupt` stops it".to_owned()))
            }
            _ => Err(self.wrong_state(request)),
        };
        let (outcome, action) = match outcome {
            Ok(answered) => (Ok(answered.body), answered.action),
            Err(error) => (Err(error), None),
        };
        self.answer(request, outcome);
        self.console_request = Some(request.clone());
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) => {
                self.tell_of_recording(&debuggee);
                State::Standing(debuggee)
            }
            other => other,
        };
        self.act(action);
    }

    /// Does what a line of the console asks for.
    fn act(&mut self, action: Option<Action>) {
        match action {
            // `shell` is refused where it is performed.
            None | Some(Action::Shell(_)) => {}
            Some(Action::Run(run)) => {
                self.console_runs = true;
                self.tell_continued();
                self.run_program(run);
            }
            Some(Action::Moved(reason)) => {
                self.console_runs = true;
                if let State::Standing(mut debuggee) =
                    std::mem::replace(&mut self.state, State::Ended)
                {
                    debuggee.forget_stop();
                    self.report(debuggee, reason);
                }
            }
            Some(Action::Launch(how, inputs)) => self.restart_from_console(how, inputs),
            Some(Action::Kill | Action::Quit) => self.end(),
        }
    }

    /// Shows a stop in the console: all of it if a command has run the program, otherwise what
    /// `display` asks for.
    fn show_in_console(&mut self, debuggee: &mut Debuggee, reason: &StopReason) {
        let shows_all = std::mem::take(&mut self.console_runs) && !reason.is_final();
        let answer = match shows_all {
            true => debuggee.console.stopped(&mut debuggee.debugger, reason),
            false => debuggee.console.looked_at(&mut debuggee.debugger, reason),
        };
        self.wire.print(Category::Console, answer.text.lines());
        if let Some(rerun) = answer.data.get("rerun") {
            self.wire.event(Event::Rerun(rerun.clone()));
        }
        debuggee.sync_breakpoints(&self.client);
        self.send_pending_events(debuggee);
    }

    /// Performs the lines of the console that wait for this stop.
    fn perform_waiting_lines(&mut self) {
        let State::Standing(debuggee) = &mut self.state else { return };
        let client = &self.client;
        let performed = panics::caught(|| requests::perform_waiting(debuggee, client));
        let Performed { text, error, action } = performed.unwrap_or_else(|panicked| Performed {
            text: String::new(),
            error: Some(panicked.to_string()),
            action: None,
        });
        let events = std::mem::take(&mut debuggee.pending_events);
        self.wire.print(Category::Console, text.lines());
        self.wire.print(Category::Stderr, error);
        events.into_iter().for_each(|event| self.wire.event(event));
        self.act(action);
    }

    /// Begins the program after `configurationDone`, or shows that it has not begun. A program that
    /// had begun before its client attached resumes.
    pub(super) fn start(&mut self, request: &Request) {
        let State::Standing(debuggee) = &mut self.state else {
            let error = self.wrong_state(request);
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
        let is_recalled = debuggee.debugger.interrupt_handle().is_recalled();
        let show = debuggee.started && debuggee.settings.stop_on_entry && !is_recalled;
        self.wire.respond(request, Ok(Value::Null));
        if !show {
            return self.resume(resume);
        }
        if let State::Standing(debuggee) = std::mem::replace(&mut self.state, State::Ended) {
            self.report(debuggee, StopReason::Pause);
        }
    }

    /// Moves the program, which then stands still elsewhere: for the client, a new stop.
    pub(super) fn move_program(&mut self, request: &Request, handler: MoveHandler) {
        let mut debuggee = match std::mem::replace(&mut self.state, State::Ended) {
            State::Standing(debuggee) => debuggee,
            other => {
                self.state = other;
                let error = self.wrong_state(request);
                return self.wire.respond(request, Err(error));
            }
        };
        match handler(&mut debuggee, request) {
            Ok(moved) => {
                self.wire.respond(request, Ok(Value::Null));
                debuggee.forget_stop();
                match moved {
                    Moved::Elsewhere => {
                        debuggee.console.looked_at(&mut debuggee.debugger, &StopReason::Step);
                        self.wire.event(Event::Stopped(to_dap::stopped_after_jump()));
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

    /// Interrupts a running program, which then stops for the client.
    pub(super) fn pause(&mut self, request: &Request) {
        let outcome = match &mut self.state {
            State::Running(running) => {
                running.pause = true;
                running.interrupt();
                Ok(Value::Null)
            }
            _ => Err(self.wrong_state(request)),
        };
        self.wire.respond(request, outcome);
    }

    /// Prints which files have changed since the program was loaded from them.
    pub(super) fn print_changed_files(&mut self, debuggee: &mut Debuggee) {
        let files = debuggee.debugger.newly_changed_files();
        let how = if self.is_attached { "start the program again" } else { "restart" };
        let lines = files.iter().map(|file| format!("{file}; {how} to load it again"));
        self.wire.print(Category::Important, lines);
    }

    /// Prints the messages of logpoints, one event per place.
    pub(super) fn print_log_messages(&mut self) {
        let (lines, dropped) = self.log_messages.take();
        for Lines { text, source } in lines {
            let place = source.and_then(|at| {
                let path = at.path?;
                let source = file_source(&path, &self.client);
                let (line, column) = (self.client.line(at.line), self.client.column(at.column));
                Some(events::Place { source, line, column })
            });
            let category = Category::Console;
            let output = events::Output { category, output: text, place };
            self.wire.event(Event::Output(output));
        }
        if dropped > 0 {
            let text = format!("… {dropped} more messages came too fast to be shown");
            self.wire.print(Category::Console, [text]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn rows_that_are_left_out_have_one_mark() {
        assert_eq!(brief("2x2xf32=[1 2][3 4]"), "2x2xf32=[1 2][3 4]");
        assert_eq!(brief("9x2xf32=[1 2][3 ...][...][...][...]"), "9x2xf32=[1 2][3 ...][...]");
        assert_eq!(brief("[[1 ...][...][...]][[...][...][...]][[...]]"), "[[1 ...][...]][...]");
    }
}
