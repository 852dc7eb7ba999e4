//! Running frames: the loop around the machine, whose handlers run instructions.
//!
//! One source, instantiated twice. With [`Free`] the machine runs until something ends it; with an
//! observer it returns here before every instruction to ask the observer. Either way it returns for
//! what handlers do not do: translating a function on its first call, and calling native functions,
//! which may do anything to context and invocation.

use super::invocation::{Invocation, Observer, Reaction};
use super::native_frame::NativeFrame;
use crate::code::{SYNTHETIC, plan_of_call};
use crate::context::Context;
use crate::errors::Status;
use crate::limits::SecondTier;
use crate::machine::{Dispatch, Exit, Free, Machine, Observed, Reason, gather, scatter};
use crate::modules::{LinkedKind, LinkedModule, Target};
use crate::native::{NativeCall, NativeReturn};
use crate::position::Position;
use crate::stack::WINDOW;

/// What distinguishes the two instances.
pub(crate) trait Hooks {
    /// How handlers lead to each other.
    type Dispatch: Dispatch;

    /// Called before every instruction, if something observes.
    fn before(&mut self, context: &Context, invocation: &Invocation, at: Position) -> Reaction;
}

impl Hooks for Free {
    type Dispatch = Free;

    fn before(&mut self, _: &Context, _: &Invocation, _: Position) -> Reaction {
        Reaction::Continue
    }
}

impl Hooks for &mut dyn Observer {
    type Dispatch = Observed;

    fn before(&mut self, context: &Context, invocation: &Invocation, at: Position) -> Reaction {
        self.before_instruction(context, invocation, at)
    }
}

/// Runs the innermost frame, and whatever it calls and returns to, until something ends the run.
///
/// `is_resuming`: the observer has already been asked about the first instruction.
pub(crate) fn run_loop<H: Hooks>(
    context: &mut Context,
    invocation: &mut Invocation,
    hooks: &mut H,
    mut is_resuming: bool,
) -> Exit {
    let mut budget = invocation.meter.take();
    let exit = loop {
        if H::Dispatch::OBSERVES
            && let Some(exit) = ask(context, invocation, hooks, std::mem::take(&mut is_resuming))
        {
            break exit;
        }
        match Machine::run::<H::Dispatch>(
            context.program(),
            &mut invocation.stack,
            &mut invocation.meter,
            &mut budget,
        ) {
            None => {}
            Some(Reason::Exit(exit)) => break exit,
            Some(Reason::Untranslated(slot)) => {
                context.code(slot);
                if !H::Dispatch::OBSERVES && context.limits.second_tier == SecondTier::Always {
                    context.compile(slot);
                }
                // The observer was asked about the call before it had to wait.
                is_resuming = true;
            }
            Some(Reason::Hot(slot)) => context.compile(slot),
            Some(Reason::Native) => {
                if let Some(exit) = call_out(context, invocation) {
                    break exit;
                }
                if invocation.meter.is_requested() {
                    // The function may have taken long, so a request to stop does not wait for the
                    // next poll.
                    if H::Dispatch::OBSERVES {
                        if let Some(exit) = ask(context, invocation, hooks, false) {
                            break exit;
                        }
                        is_resuming = true;
                    }
                    if !is_at_breakpoint(context, invocation) && invocation.meter.is_interrupted() {
                        break Exit::Interrupted;
                    }
                }
            }
        }
    };
    invocation.meter.give_back(budget);
    exit
}

/// Whether a breakpoint is on the next instruction.
fn is_at_breakpoint(context: &Context, invocation: &Invocation) -> bool {
    let frame = invocation.stack.frames.last();
    frame.is_some_and(|frame| context.functions[frame.slot as usize].is_armed(frame.index))
}

/// Asks the hooks about the next instruction; returns the exit if they or a breakpoint want one.
fn ask<H: Hooks>(
    context: &Context,
    invocation: &Invocation,
    hooks: &mut H,
    is_asked: bool,
) -> Option<Exit> {
    let frame = invocation.stack.frames.last()?;
    let (slot_index, index) = (frame.slot, frame.index);
    let code = context.code(slot_index);
    let is_real = code.offsets.get(index as usize).is_some_and(|at| *at != SYNTHETIC);
    if !is_real || is_asked {
        return None;
    }
    let slot = &context.functions[slot_index as usize];
    if slot.is_armed(index) {
        return Some(Exit::Breakpoint);
    }
    let at = Position { function: slot.id(), offset: code.offset_at(index) };
    (hooks.before(context, invocation, at) == Reaction::Stop).then_some(Exit::Observed)
}

/// Makes the call to a native function that the innermost frame is at; the exit if that ends the
/// run.
fn call_out(context: &mut Context, invocation: &mut Invocation) -> Option<Exit> {
    let failed = |what| Some(Exit::Failed(Status::internal(what)));
    let is_left_alone = !context.is_inspected() && invocation.meter.is_idle();
    let is_inspected = context.is_inspected();
    let Context { limits, modules, functions, .. } = context;
    let stack = &mut invocation.stack;
    let frame = stack.frames.last()?;
    let (slot, base, ref_count) =
        (&functions[frame.slot as usize], frame.base(), frame.ref_count as usize);
    let code = slot.code.get();
    let caller = code.filter(|_| is_inspected);
    let caller =
        caller.map(|code| Position { function: slot.id(), offset: code.offset_at(frame.index) });
    let plan = code.and_then(|code| plan_of_call(code, frame.index));
    let Some(plan) = plan else { return failed("a call without a plan") };
    let (module, function) = match plan.target {
        Target::Native(module, function) => (module, function),
        Target::Missing(import) => {
            let module = &modules[slot.module.index()];
            return Some(Exit::Failed(missing_import(module, import)));
        }
        Target::Bytecode(_) => return failed("a native call to bytecode"),
    };
    let LinkedKind::Native(native) = &modules[module as usize].kind else {
        return failed("a native call to bytecode");
    };
    let native = &native.functions[function as usize];
    let Some(pairs) = stack.words[base.word..].first_chunk_mut::<WINDOW>() else {
        return failed("the stack is shorter than its frames");
    };
    let refs = &mut stack.refs[base.reference..base.reference + ref_count];
    let mut arguments = std::mem::take(&mut invocation.native_arguments);
    gather(&mut arguments, plan, pairs, refs);
    let call = NativeCall::new(&arguments, native, limits, is_left_alone);
    invocation.meter.at_native(Some((module, function)));
    let returned = (native.body)(call.called_by(caller));
    invocation.meter.at_native(None);
    arguments.clear();
    invocation.native_arguments = arguments;
    let stored = match returned {
        Ok(NativeReturn::Result(result)) => scatter([result], plan, pairs, refs),
        Ok(NativeReturn::Results(results)) => scatter(results, plan, pairs, refs),
        Ok(returned) => {
            let depth = stack.frames.len();
            invocation.natives.extend(NativeFrame::new((module, function), depth, returned));
            stack.floor = depth;
            return Some(Exit::Suspended);
        }
        Err(status) => {
            invocation.failed_native = Some((module, function));
            return Some(Exit::Failed(status));
        }
    };
    if let Err(status) = stored {
        return Some(Exit::Failed(status));
    }
    stack.set_index(plan.next as usize);
    None
}

/// The error of a call to an optional import that no module provides.
#[cold]
fn missing_import(module: &LinkedModule, import: u32) -> Status {
    let name = match &module.kind {
        LinkedKind::Bytecode { module, .. } => {
            module.imports().get(import as usize).map_or("?", |import| &import.full_name)
        }
        LinkedKind::Native(_) => "?",
    };
    Status::not_found(format!("optional import `{name}` (ordinal {import}) not resolved"))
}
