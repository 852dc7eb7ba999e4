//! The thread that runs a program, one call after the other.
//!
//! The engine is the program's caller: the debugger shows it each stop first. What runs the
//! debugger (this thread, or a session of an editor) only sees a program that goes on and on.
//!
//! ```text
//! queue ──> [ call ]                  runs
//!           [ call ] waits: Python runs, and may call, which puts a call on top
//! ```

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dap_adapter::Beginning;
use debug::{
    BreakpointId, Caller, Debugger, InterruptHandle, Next, Resume, StopReason, TrapKind, Trapped,
};
use hal::Fence;
use serde_json::json;
use vm::{Failure, Status, StatusCode, Value};

use crate::imports::Mailbox;
use crate::messages::{Call, Command, Failed, Message, Serving, Ticket};
use crate::stops;

/// How deeply calls may nest, each made by Python code that a program has called.
const MAX_DEPTH: usize = 64;

/// What a call does.
enum Doing {
    Runs,
    /// Python code of the call runs.
    WaitsForPython,
    /// The same at a breakpoint; others of the same place are a client's.
    WaitsAt(Vec<BreakpointId>),
    /// It has failed, and a client looks at that.
    HasFailed(Failed),
}

struct Active {
    ticket: Ticket,
    to: Sender<Message>,
    /// Reached when the results of an asynchronous function are ready.
    fence: Option<Fence>,
    doing: Doing,
    is_new: bool,
}

/// What the engine's thread and the caller share.
#[derive(Clone, Default)]
struct Shared {
    serving: Arc<Mutex<Option<Box<Serving>>>>,
    is_closed: Arc<AtomicBool>,
    /// Whether clients are served.
    is_served: Arc<AtomicBool>,
}

/// The calls that have begun and are not over: others wait for them.
#[derive(Clone, Default)]
pub(crate) struct UnderWay(Arc<Mutex<Vec<Ticket>>>);

impl UnderWay {
    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        self.lock().contains(&ticket)
    }

    fn begin(&self, ticket: Ticket) {
        self.lock().push(ticket);
    }

    fn end(&self, ticket: Ticket) {
        self.lock().retain(|other| *other != ticket);
    }

    fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Ticket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Engine {
    commands: Receiver<Command>,
    mailbox: Mailbox,
    active: Vec<Active>,
    queue: VecDeque<Box<Call>>,
    /// Whether calls wait until a client has attached and set its breakpoints.
    holds: bool,
    /// Whether the program stood still for a client that has come.
    was_shown: bool,
    shared: Shared,
    interrupt: InterruptHandle,
    under_way: UnderWay,
}

/// Runs a program until it is closed. Its initialisers are the first call, with the ticket 0.
pub(crate) fn run(
    mut debugger: Debugger,
    commands: Receiver<Command>,
    mailbox: Mailbox,
    initialised: Sender<Message>,
    under_way: UnderWay,
) {
    let shared = Shared::default();
    let interrupt = debugger.interrupt_handle();
    let first =
        Active { ticket: 0, to: initialised, fence: None, doing: Doing::Runs, is_new: true };
    under_way.begin(0);
    debugger.set_caller(Engine {
        commands,
        mailbox,
        active: vec![first],
        queue: VecDeque::new(),
        holds: false,
        was_shown: false,
        shared: shared.clone(),
        interrupt: interrupt.clone(),
        under_way,
    });
    loop {
        debugger.resume(Resume::AsBefore);
        if shared.is_closed.load(Ordering::Acquire) {
            return;
        }
        let serving = shared.serving.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(serving) = serving else { continue };
        let Serving { server, options, ended, .. } = *serving;
        shared.is_served.store(true, Ordering::Release);
        let served = server.run_calls(debugger, Beginning::AtOnce, &options);
        shared.is_served.store(false, Ordering::Release);
        // Nothing shows the program any more.
        interrupt.hear();
        drop(ended);
        match served {
            Ok(Some(back)) => debugger = back,
            // The debugger is lost with the program: calls hear that their engine is gone.
            Ok(None) | Err(_) => return,
        }
    }
}

impl Caller for Engine {
    fn stopped(&mut self, debugger: &mut Debugger, reason: StopReason) -> Next {
        let was_shown = std::mem::take(&mut self.was_shown);
        if let Some(reason) = self.meet(debugger, reason) {
            // A call that was given up meanwhile is over, so there is nothing to be shown of it.
            let standing = self.active.last().map(|call| call.ticket);
            if let Some(next) = self.hear(debugger) {
                return next;
            }
            let is_over = standing.is_some_and(|ticket| !self.under_way.has(ticket));
            if !is_over || matches!(reason, StopReason::Pause) {
                return Next::Stop(reason);
            }
        }
        if was_shown {
            // The client has let the program go on.
            self.release(debugger);
        }
        self.serve(debugger)
    }

    fn runs(&mut self) {
        if let Some(call) = self.active.last_mut()
            && matches!(call.doing, Doing::HasFailed(_))
        {
            call.doing = Doing::Runs;
        }
    }
}

impl Engine {
    /// Takes notice of a stop. Returns one that is not for the engine.
    fn meet(&mut self, debugger: &mut Debugger, reason: StopReason) -> Option<StopReason> {
        match reason {
            StopReason::Completed(results) => {
                self.completed(debugger, results);
                None
            }
            StopReason::Failed(failure) => {
                let text = failure.status.to_string();
                let failed = failed(debugger, failure);
                let call = self.active.last_mut()?;
                if self.shared.is_served.load(Ordering::Acquire) {
                    call.doing = Doing::HasFailed(failed);
                    return Some(StopReason::Trap(Trapped { kind: TrapKind::Failure, text }));
                }
                self.finish(debugger, Message::Failed(failed));
                None
            }
            StopReason::Pause => {
                if let (Some(import), Some(call)) = (self.mailbox.take(), self.active.last_mut()) {
                    call.doing = Doing::WaitsForPython;
                    let (number, arguments, reply) =
                        (import.number, import.arguments, import.reply);
                    // A thread that has gone away cancels its call.
                    let _ = call.to.send(Message::Import { number, arguments, reply });
                }
                self.was_shown = debugger.interrupt_handle().was_requested();
                self.was_shown.then_some(StopReason::Pause)
            }
            StopReason::Breakpoint(ids) => self.at_breakpoints(debugger, ids),
            other => Some(other),
        }
    }

    fn at_breakpoints(
        &mut self,
        debugger: &Debugger,
        ids: Vec<BreakpointId>,
    ) -> Option<StopReason> {
        let (own, others): (Vec<_>, Vec<_>) =
            ids.into_iter().partition(|id| debugger.breakpoints().is_own(*id));
        let Some(call) = self.active.last_mut().filter(|_| !own.is_empty()) else {
            return Some(StopReason::Breakpoint(others));
        };
        let is_dispatch = |id: &BreakpointId| {
            let spec = debugger.breakpoints().get(*id).map(|it| &it.spec);
            matches!(spec, Some(debug::BreakpointSpec::Dispatch { .. }))
        };
        let mut said = match own.iter().any(is_dispatch) {
            true => stops::dispatch(debugger),
            false => crate::messages::Said { text: json!({}), tensors: Vec::new() },
        };
        said.text["breakpoints"] = own.iter().map(|id| id.0).collect();
        said.text["frames"] = stops::frames(debugger);
        call.doing = Doing::WaitsAt(others);
        let _ = call.to.send(Message::Stopped(said));
        None
    }

    fn completed(&mut self, debugger: &mut Debugger, results: Vec<Value>) {
        let Some(call) = self.active.last_mut() else { return };
        let message = match std::mem::replace(&mut call.doing, Doing::Runs) {
            Doing::HasFailed(failed) => Message::Failed(failed),
            _ => match call.fence.take().map_or(Ok(true), |fence| fence.is_reached()) {
                Ok(true) => Message::Done(results),
                Ok(false) => Message::Failed(outside(Status::failed_precondition(
                    "the function returned, but nothing that it has submitted will signal its \
                     fence",
                ))),
                Err(status) => Message::Failed(outside(status)),
            },
        };
        self.finish(debugger, message);
    }

    /// The call on top is over.
    fn finish(&mut self, debugger: &mut Debugger, message: Message) {
        let Some(call) = self.active.pop() else { return };
        self.under_way.end(call.ticket);
        debugger.end_call();
        let _ = call.to.send(message);
        self.begin_next(debugger);
    }

    /// Begins the next call that waits, if nothing is under way.
    fn begin_next(&mut self, debugger: &mut Debugger) {
        while self.active.is_empty()
            && !self.holds
            && let Some(next) = self.queue.pop_front()
        {
            self.begin(debugger, *next);
        }
    }

    /// Calls wait for no client any more.
    fn release(&mut self, debugger: &mut Debugger) {
        self.holds = false;
        self.begin_next(debugger);
    }

    /// Does what it is told until the program runs again.
    fn serve(&mut self, debugger: &mut Debugger) -> Next {
        loop {
            // What is waiting is done first: it may end the call.
            if let Some(next) = self.hear(debugger) {
                return next;
            }
            match self.active.last_mut() {
                Some(Active { doing: Doing::Runs, is_new, .. }) => {
                    return Next::Resume(match std::mem::take(is_new) {
                        true => Resume::Continue,
                        false => Resume::AsBefore,
                    });
                }
                // Python looks at what stands still.
                Some(Active { doing: Doing::WaitsAt(_), .. }) => {}
                _ if debugger.interrupt_handle().take() => {
                    self.was_shown = true;
                    return Next::Stop(StopReason::Pause);
                }
                _ => {}
            }
            let next = match self.commands.recv() {
                Ok(command) => self.perform(debugger, command),
                // Every handle to the program is gone.
                Err(_) => Some(self.close()),
            };
            if let Some(next) = next {
                return next;
            }
        }
    }

    /// Does what it was told meanwhile. Returns what is next for the program, if that is decided.
    fn hear(&mut self, debugger: &mut Debugger) -> Option<Next> {
        self.interrupt.hear();
        while let Ok(command) = self.commands.try_recv() {
            if let Some(next) = self.perform(debugger, command) {
                return Some(next);
            }
        }
        None
    }

    fn close(&mut self) -> Next {
        self.shared.is_closed.store(true, Ordering::Release);
        self.active.clear();
        self.under_way.clear();
        self.queue.clear();
        Next::Stop(StopReason::Completed(Vec::new()))
    }

    /// Does what it is told. Returns what is next for the program, if that is decided.
    fn perform(&mut self, debugger: &mut Debugger, command: Command) -> Option<Next> {
        match command {
            Command::Call(call) => {
                let top = self.active.last();
                let is_nested = top.is_some_and(|top| {
                    let waits = matches!(top.doing, Doing::WaitsForPython | Doing::WaitsAt(_));
                    call.parent == Some(top.ticket) && waits
                });
                if is_nested {
                    self.begin(debugger, *call);
                } else {
                    self.queue.push_back(call);
                    self.begin_next(debugger);
                }
                None
            }
            Command::Answered(ticket) => {
                let call = self.active.last_mut().filter(|call| call.ticket == ticket)?;
                match std::mem::replace(&mut call.doing, Doing::Runs) {
                    Doing::WaitsAt(others) if !others.is_empty() => {
                        Some(Next::Stop(StopReason::Breakpoint(others)))
                    }
                    Doing::WaitsForPython | Doing::WaitsAt(_) | Doing::Runs => None,
                    failed @ Doing::HasFailed(_) => {
                        call.doing = failed;
                        None
                    }
                }
            }
            Command::Cancel(ticket) => {
                self.queue.retain(|call| call.ticket != ticket);
                // Calls on top of it are made by its Python code, which is gone.
                while self.active.iter().any(|call| call.ticket == ticket) {
                    self.mailbox.take();
                    let status = Status::new(StatusCode::Cancelled, "the call was given up");
                    let failed = Failed { is_cancelled: true, ..outside(status) };
                    self.finish(debugger, Message::Failed(failed));
                }
                None
            }
            Command::Ask(ask) => {
                ask(debugger);
                None
            }
            Command::Serve(serving) => {
                if self.shared.is_served.load(Ordering::Acquire) {
                    return None;
                }
                self.holds = serving.waits;
                *self.shared.serving.lock().unwrap_or_else(PoisonError::into_inner) = Some(serving);
                Some(Next::Stop(StopReason::Pause))
            }
            Command::EndServing if self.shared.is_served.load(Ordering::Acquire) => {
                self.release(debugger);
                Some(Next::Stop(StopReason::Completed(Vec::new())))
            }
            Command::EndServing | Command::Wake => None,
            Command::Close => Some(self.close()),
        }
    }

    fn begin(&mut self, debugger: &mut Debugger, call: Call) {
        let Call { ticket, function, arguments, to, .. } = call;
        let begun = match self.active.len() < MAX_DEPTH {
            true => debugger.begin_call(function, arguments),
            false => Err(Status::resource_exhausted(format!(
                "calls nest {MAX_DEPTH} levels deep, by Python functions that the program calls"
            ))),
        };
        match begun {
            Ok(fence) => {
                let doing = Doing::Runs;
                self.under_way.begin(ticket);
                self.active.push(Active { ticket, to, fence, doing, is_new: true });
            }
            Err(status) => {
                let _ = to.send(Message::Failed(outside(status)));
            }
        }
    }
}

/// A failure with the frames that the program still has.
fn failed(debugger: &Debugger, failure: Failure) -> Failed {
    let mut frames = stops::frames(debugger);
    if !debugger.is_inspecting() {
        stops::leave_out_waiting(&mut frames);
    }
    Failed { status: failure.status, frames, is_cancelled: false }
}

/// A failure outside the program's code.
fn outside(status: Status) -> Failed {
    Failed { status, frames: json!([]), is_cancelled: false }
}
