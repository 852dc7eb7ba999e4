//! Programs whose functions are called from outside, one call after the other: from a host language
//! for one. There is a [`Caller`] then, which sees each stop before any other.
//!
//! ```text
//!   initialisers ──> idle ── begin_call ──> running ──> Completed, Failed ── end_call ──> idle
//!                                              │  ^
//!                          the program waits   v  │ answered
//!                          for its host      Pause ── begin_call (a nested call) ──> running …
//! ```
//!
//! What runs the debugger (a terminal, an editor's session) does not notice: to it, the program
//! is one that runs on and on.

use abi::cconv::Signature;
use hal::append_fences;
use vm::{FunctionId, Invocation, Status, Value};

use super::Debugger;
use crate::control::stop::{Resume, StopReason};
use crate::machine::Phase;

/// Calls functions of a program, and answers what the program asks of its host.
pub trait Caller: Send {
    /// The program stands still, for this reason. Says what is next.
    fn stopped(&mut self, debugger: &mut Debugger, reason: StopReason) -> Next;

    /// The program has stood still since the last stop. Says what is next.
    fn next(&mut self, debugger: &mut Debugger) -> Next;

    /// What runs the debugger lets the program run, which is not over, perhaps because it went back
    /// to before its failure.
    fn runs(&mut self) {}
}

/// What is next for a program that stands still.
#[derive(Debug)]
pub enum Next {
    /// It resumes.
    Resume(Resume),
    /// It stands still for what runs the debugger.
    Stop(StopReason),
}

impl Debugger {
    /// Gives the program a caller.
    pub fn set_caller(&mut self, caller: impl Caller + 'static) {
        self.caller = Some(Box::new(caller));
    }

    /// Runs until something stops the program for what runs the debugger. A program that has
    /// failed or completed does not run again, unless it has a [`Caller`].
    pub fn resume(&mut self, how: Resume) -> StopReason {
        let reason = self.run(how);
        self.offer(reason)
    }

    /// Does what the caller says now. Without a caller, the program stands still.
    pub fn go_on(&mut self) -> StopReason {
        let Some(mut caller) = self.caller.take() else { return StopReason::Pause };
        let next = caller.next(self);
        self.caller = Some(caller);
        match next {
            Next::Resume(how) => self.resume(how),
            Next::Stop(reason) => reason,
        }
    }

    fn run(&mut self, how: Resume) -> StopReason {
        self.timed(|runner| {
            let reason = runner.resume(how);
            runner.checked(reason)
        })
    }

    /// Lets the caller look at a stop, and goes on if it says so.
    pub(super) fn offer(&mut self, mut reason: StopReason) -> StopReason {
        while let Some(mut caller) = self.caller.take() {
            let next = caller.stopped(self, reason);
            self.caller = Some(caller);
            match next {
                Next::Resume(how) => reason = self.run(how),
                Next::Stop(reason) => return reason,
            }
        }
        reason
    }

    /// A function that can be called from outside, by its export name, with its calling convention.
    #[must_use]
    pub fn export(&self, name: &str) -> Option<(FunctionId, Signature)> {
        let machine = &self.runner.machine;
        let main = machine.program.main_module()?;
        let (_, export) = main.module.export_named(name)?;
        let function = FunctionId { module: main.index, function: export.function };
        Some((function, machine.context.signature(function)?))
    }

    /// Begins a call. A call that waits for its host stays as it is until this one has ended.
    /// The fence is reached when the results of an asynchronous function are ready.
    ///
    /// # Errors
    /// There is no such function, or the arguments do not fit it.
    pub fn begin_call(
        &mut self,
        function: FunctionId,
        mut arguments: Vec<Value>,
    ) -> Result<Option<hal::Fence>, Status> {
        let machine = &mut self.runner.machine;
        let declared = machine.program.module(function.module);
        let declared = declared.and_then(|it| it.module.function(function.function));
        let shown = arguments.clone();
        let fence = declared.and_then(|declared| append_fences(declared, &mut arguments));
        let invocation = Invocation::new(&machine.context, function, arguments)?;
        self.runner.interrupt.attach(invocation.interrupt());
        let phase = std::mem::replace(&mut machine.phase, Phase::Running(invocation));
        let called = machine.program.set_call(function, shown);
        self.runner.suspend(phase, called);
        Ok(fence)
    }

    /// Ends the latest call, wherever it stands, and goes back to the call that waits for it, if
    /// there is one.
    pub fn end_call(&mut self) {
        self.runner.unsuspend();
    }

    /// Whether it does so: see [`Self::set_inspecting`].
    #[must_use]
    pub fn is_inspecting(&self) -> bool {
        self.runner.machine.context.is_inspected()
    }

    /// Looks at what the program does closely, or leaves it alone: only then there is a history of
    /// its commands. Modules that were loaded meanwhile are not missed.
    pub fn set_inspecting(&mut self, inspects: bool) {
        let machine = &mut self.runner.machine;
        machine.context.set_inspected(inspects);
        self.runner.meet_modules();
    }
}
