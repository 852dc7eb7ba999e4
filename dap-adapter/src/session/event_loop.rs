//! The loop: it waits for the next event or deadline and handles it.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::loop_event::LoopEvent;
use super::state::{EXIT_UNFINISHED, Ended, Session};
use crate::panics;
use crate::protocol::events::Category;
use crate::protocol::{Incoming, RequestError};
use crate::transport::Fault;
use crate::workers::Report;

/// How long the loop polls for the next event before it sleeps. A step takes less, and so does a
/// client that sends one request after the other. On machines whose processors sleep when idle,
/// waking up costs more than serving a request.
const POLLING: Duration = Duration::from_micros(200);

/// Waits for an event, or until a time.
fn next_event(
    inbox: &Receiver<LoopEvent>,
    deadline: Option<Instant>,
) -> Result<LoopEvent, RecvTimeoutError> {
    let polling_ends = Instant::now() + POLLING;
    loop {
        match inbox.try_recv() {
            Ok(event) => return Ok(event),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if Instant::now() >= polling_ends => break,
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
    match deadline {
        None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
    }
}

impl Session {
    /// Serves the client until it leaves.
    pub(crate) fn run(mut self, inbox: &Receiver<LoopEvent>) -> Ended {
        loop {
            let flow = match next_event(inbox, self.deadline()) {
                Ok(event) => self.handle_guarded(event),
                Err(RecvTimeoutError::Timeout) => self.deadline_passed(Instant::now()),
                Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
            };
            if flow.is_break() {
                break;
            }
        }
        self.into_ended()
    }

    fn token_deadline(&self) -> Option<Instant> {
        self.token.as_ref().map(|(_, until)| *until)
    }

    /// The first of all deadlines.
    fn deadline(&self) -> Option<Instant> {
        let progress = self.progress.deadline();
        let messages = self.log_messages.deadline();
        let of_client = [self.early_deadline(), self.token_deadline(), self.leaves_by];
        let deadlines = [progress, messages].into_iter().chain(of_client);
        deadlines.flatten().min()
    }

    /// Does whatever is due.
    fn deadline_passed(&mut self, now: Instant) -> ControlFlow<()> {
        let is_due = |deadline: Option<Instant>| deadline.is_some_and(|at| at <= now);
        let event = self.progress.tick(now);
        self.send_progress(event);
        if is_due(self.log_messages.deadline()) {
            self.print_log_messages();
        }
        if is_due(self.early_deadline()) {
            self.answer_early(now);
        }
        if is_due(self.token_deadline()) {
            return self.abandon("it gave no token".to_owned());
        }
        if is_due(self.leaves_by) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Handles an event. A panic ends the program, whose state is unknown then. The client is told,
    /// and the session continues.
    fn handle_guarded(&mut self, event: LoopEvent) -> ControlFlow<()> {
        panics::caught(|| self.handle(event)).unwrap_or_else(|panicked| {
            self.wire.print(Category::Stderr, [panicked.to_string()]);
            self.over(EXIT_UNFINISHED);
            ControlFlow::Continue(())
        })
    }

    fn handle(&mut self, event: LoopEvent) -> ControlFlow<()> {
        match event {
            LoopEvent::Message(message, _ticket) => return self.message(message),
            LoopEvent::Fault(fault) => {
                let seq = match &fault {
                    Fault::NotJson { seq, .. } => *seq,
                    Fault::NoContentLength | Fault::TooLong(_) | Fault::TooMany(_) => None,
                };
                let error = RequestError::malformed(fault.to_string());
                self.wire.answer(seq.unwrap_or(0), "", Err(error));
            }
            LoopEvent::Lost(why) => {
                self.wire.answer(0, "", Err(RequestError::malformed(why.as_str())));
                return self.abandon(why);
            }
            LoopEvent::ClientGone if self.is_attached => return self.leave(None),
            LoopEvent::ClientGone => {
                self.end();
                return ControlFlow::Break(());
            }
            LoopEvent::Launch(Report::CompilerLine(line)) => {
                self.wire.print(Category::Stderr, [line]);
            }
            LoopEvent::Launch(Report::Launched(launched)) => self.launched(launched),
            LoopEvent::Logged => self.log_messages.notify(),
            LoopEvent::Ran(ran) => return self.ran(ran),
            LoopEvent::Recalled => self.recalled(),
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
}
