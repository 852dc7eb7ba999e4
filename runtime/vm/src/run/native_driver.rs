//! Driving native frames: resuming the innermost one, doing what its activity wants, returning its
//! results.

use super::invocation::{Invocation, Mode, Reaction, check_arguments};
use super::native_frame::NativeFrame;
use super::outcome::{Outcome, Stop};
use crate::code::plan_of_call;
use crate::context::Context;
use crate::errors::Status;
use crate::machine::{Exit, pass, scatter};
use crate::native::{Boundary, BoundaryKind, Host, Next, Watch};
use crate::objects::Value;
use crate::position::FunctionId;
use crate::stack::WINDOW;

impl Invocation {
    /// Whether a native function is the innermost frame and runs next.
    pub(crate) fn is_in_native(&self) -> bool {
        self.natives.last().is_some_and(|native| native.depth == self.stack.frames.len())
    }

    /// A native function did not return at once, and its frame is now on the stack. Returns the
    /// outcome if the invocation stops there for now.
    pub(crate) fn suspended(&mut self, context: &Context, mode: &mut Mode<'_>) -> Option<Outcome> {
        self.enter_native();
        if self.natives.last().is_some_and(NativeFrame::is_polling) {
            return Some(Outcome::Yielded);
        }
        let Mode::Observe(observer) = mode else { return None };
        match observer.before_activity(context, self) {
            Reaction::Continue => None,
            Reaction::Stop => Some(self.stopped(context, Stop::Step)),
        }
    }

    /// Resumes the innermost native function. `None`: continue with the innermost frame.
    pub(crate) fn drive(&mut self, context: &mut Context, mode: &mut Mode<'_>) -> Option<Outcome> {
        if self.meter.is_interrupted() {
            return Some(self.stopped(context, Stop::Interrupted));
        }
        let watch = match mode {
            Mode::Free => context.watch(),
            Mode::Step => Watch::Parts,
            Mode::Observe(observer) => observer.watch(),
        };
        let control = self.meter.control();
        let native = self.natives.last_mut()?;
        let module_count = context.modules.len();
        self.meter.at_native(Some((native.module, native.function)));
        let next = native.resume(&mut Host::new(context, watch, control));
        self.meter.at_native(None);
        let outcome = self.carry_out(next, context, mode);
        let has_attached = context.is_inspected() && context.modules.len() > module_count;
        outcome.or_else(|| has_attached.then_some(Outcome::Stopped(Stop::Attached)))
    }

    /// Does what an activity asks for.
    fn carry_out(
        &mut self,
        next: Result<Next, Status>,
        context: &mut Context,
        mode: &mut Mode<'_>,
    ) -> Option<Outcome> {
        match next {
            Err(status) => Some(self.fail(context, status)),
            Ok(Next::Wait) => Some(Outcome::Yielded),
            Ok(Next::Again) => match self.meter.tick() {
                Ok(()) => None,
                Err(halt) => self.conclude(context, halt.into()),
            },
            Ok(Next::Boundary(boundary)) => self.at_boundary(context, mode, boundary),
            Ok(Next::Call { function, arguments }) => {
                let paid = self.meter.spend();
                let called = paid.and_then(|()| self.call(context, function, arguments));
                called.err().map(|status| self.fail(context, status))
            }
            Ok(Next::Adopt { module, frames }) => {
                let adopted = self.adopt(context, module, frames);
                adopted.err().map(|status| self.fail(context, status))
            }
            Ok(Next::Return(results)) => self.native_returned(context, results),
        }
    }

    fn at_boundary(
        &mut self,
        context: &Context,
        mode: &mut Mode<'_>,
        boundary: Boundary,
    ) -> Option<Outcome> {
        let kind = boundary.kind;
        if let Some(native) = self.natives.last_mut() {
            native.boundary = Some(boundary);
        }
        if kind == BoundaryKind::BeforeStep {
            self.record_step(context);
        }
        let stops = match mode {
            Mode::Free => context.watch().includes(kind),
            Mode::Step => true,
            // What is recorded comes to more boundaries than what is watched.
            Mode::Observe(observer) => {
                observer.watch().includes(kind)
                    && observer.at_boundary(context, self) == Reaction::Stop
            }
        };
        stops.then_some(Outcome::Stopped(Stop::Boundary))
    }

    /// Pushes the frame of a function that an activity calls.
    fn call(
        &mut self,
        context: &Context,
        function: FunctionId,
        arguments: Vec<Value>,
    ) -> Result<(), Status> {
        check_arguments(context, function, &arguments)?;
        let slot = context.slot_index(function);
        let slot = slot.ok_or_else(|| Status::internal("an activity calls a native function"))?;
        self.note_call();
        self.push(context, slot, arguments)
    }

    /// Pushes a frame with arguments from outside.
    pub(crate) fn push(
        &mut self,
        context: &Context,
        slot: u32,
        arguments: Vec<Value>,
    ) -> Result<(), Status> {
        let function = &context.functions[slot as usize];
        let (words, refs) = (function.word_count, function.ref_count);
        let frame = self.stack.push(slot, words, refs, &context.limits)?;
        pass(&mut self.stack, frame, arguments, context.signature_of(function.id()))
    }

    /// A bytecode function that an activity called has returned.
    pub(crate) fn returned_to_native(&mut self, results: Vec<Value>) {
        if let Some(native) = self.natives.last_mut() {
            native.results = results;
        }
    }

    /// The innermost native function is done: its caller resumes.
    fn native_returned(&mut self, context: &Context, results: Vec<Value>) -> Option<Outcome> {
        let Some(frame) = self.stack.frames.last() else {
            self.natives.pop();
            return self.conclude(context, Exit::Completed(results));
        };
        let stored = match plan_of_call(context.code(frame.slot), frame.index) {
            Some(plan) => {
                let words = &mut self.stack.words[frame.first_word as usize..];
                let refs = &mut self.stack.refs[frame.first_ref as usize..];
                let stored = words.first_chunk_mut::<WINDOW>().map_or_else(
                    || Err(Status::internal("the stack is shorter than its frames")),
                    |pairs| scatter(results, plan, pairs, refs),
                );
                stored.map(|()| plan.next)
            }
            None => Err(Status::internal("a native function returns to no call")),
        };
        match stored {
            Ok(next) => {
                self.natives.pop();
                self.stack.floor = self.natives.last().map_or(0, |native| native.depth);
                self.stack.set_index(next as usize);
                self.leave_native();
                None
            }
            Err(status) => Some(self.fail(context, status)),
        }
    }
}
