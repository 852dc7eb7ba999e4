//! What runs a program, one call after the other.
//!
//! The engine is the program's caller: the debugger shows it each stop first. What runs the
//! debugger (the thread of a call or that of the engine, [`crate::seat`], or a session of an
//! editor) only sees a program that goes on and on.
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
use crate::seat::Seat;
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

/// What the engine and the threads that run it share.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    seat: Arc<Seat>,
    serving: Arc<Mutex<Option<Box<Serving>>>>,
    is_closed: Arc<AtomicBool>,
    /// Whether clients are served.
    is_served: Arc<AtomicBool>,
    /// Whether there is something to do that is not for the thread that runs the program now.
    goes_on: Arc<AtomicBool>,
}

impl Shared {
    /// The engine's thread has something to do.
    pub(crate) fn want(&self) {
        self.seat.want();
    }

    /// Runs the program on the thread of a call, until the call is over, waits for Python, or takes
    /// too long. Does nothing if another thread runs the program.
    pub(crate) fn drive(&self, ticket: Ticket) {
        let Some(debugger) = self.seat.take(ticket) else { return };
        // A panic loses the debugger; the others hear of it.
        let mut lost = Lost(Some(&self.seat));
        self.run(debugger);
        lost.0 = None;
    }

    /// Does what there is to do, and gives the debugger back.
    fn run(&self, mut debugger: Debugger) {
        debugger.go_on();
        if self.is_closed.load(Ordering::Acquire) {
            self.seat.end();
            return;
        }
        let goes_on = self.goes_on.swap(false, Ordering::AcqRel);
        self.seat.put(debugger, goes_on);
    }

    fn serving(&self) -> Option<Box<Serving>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Ends the program, unless it is emptied.
struct Lost<'a>(Option<&'a Seat>);

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        if let Some(seat) = self.0 {
            seat.end();
        }
    }
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

/// Gives a program its engine. Its initialisers are the first call, with the ticket 0. What is
/// returned runs it, on a thread of its own, until it is closed.
pub(crate) fn begin(
    mut debugger: Debugger,
    commands: Receiver<Command>,
    mailbox: Mailbox,
    initialised: Sender<Message>,
    under_way: UnderWay,
) -> (Shared, impl FnOnce() + Send + 'static) {
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
    shared.seat.put(debugger, true);
    (shared.clone(), move || run(&shared, &interrupt))
}

/// Does what no thread of a call does.
fn run(shared: &Shared, interrupt: &InterruptHandle) {
    let _lost = Lost(Some(&shared.seat));
    while let Some(debugger) = shared.seat.next(interrupt) {
        let Some(serving) = shared.serving() else {
            shared.run(debugger);
            continue;
        };
        let Serving { server, options, ended, .. } = *serving;
        shared.is_served.store(true, Ordering::Release);
        let served = server.run_calls(debugger, Beginning::AtOnce, &options);
        shared.is_served.store(false, Ordering::Release);
        // Nothing shows the program any more.
        interrupt.hear();
        drop(ended);
        match served {
            Ok(Some(back)) => shared.seat.put(back, true),
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

    fn next(&mut self, debugger: &mut Debugger) -> Next {
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
            if self.is_for_another_thread() {
                self.shared.goes_on.store(true, Ordering::Release);
                return Next::Stop(StopReason::Pause);
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
            if !self.shared.is_served.load(Ordering::Acquire) {
                return Next::Stop(StopReason::Pause);
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

    /// Whether what is next is not for the thread that runs the program: its call is over, or has
    /// had its time.
    fn is_for_another_thread(&self) -> bool {
        let is_runnable = matches!(self.active.last(), Some(Active { doing: Doing::Runs, .. }));
        let Some(driver) = self.shared.seat.driver().filter(|_| is_runnable) else { return false };
        self.shared.seat.hands_over() || !self.under_way.has(driver)
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
                self.shared.goes_on.store(true, Ordering::Release);
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
