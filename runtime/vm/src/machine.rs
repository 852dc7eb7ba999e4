//! The machine: handlers that run instructions, and how one leads to the next.
//!
//! Every instruction carries the function that runs it, its handler. A handler gets the state of the
//! running frame in its arguments, few enough to stay in registers of the host, and ends by calling the
//! next instruction's handler with what it makes of them. In optimised builds that call is a jump:
//! nothing is left to do after it, and both have the same signature. So the host predicts each
//! instruction's successor by itself, and no state is ever spilled for the sake of another instruction.
//!
//! The language promises no such jumps. So where optimisation does not make them (`cfg(threaded)` is
//! off: debug builds, other processors, Miri), and in builds with debug assertions, a handler puts the
//! state into [`Machine::saved`] and returns to a loop, which calls the next: the same handlers,
//! another [`Dispatch`]. Observers use that form always. `handlers::tests` runs every handler so often
//! that one that lost its jump would end on the stack at once; what a handler must not do for that is
//! hold values that are dropped, or pass the address of a local variable: such work is in functions
//! of its own, which are not inlined.
//!
//! # The accumulator
//!
//! A value that one instruction writes and the next one reads would go through memory, and wait
//! there for some seven cycles. So each handler also leaves its result in an argument of the next
//! (`word`, `single`, `double`, as the type may be), and there are variants of handlers that take an
//! operand from there. `fusion` chooses them where an instruction is reached only from the one before
//! it; who comes from elsewhere, as after a stop, first loads what [`Machine::accumulated`] says.

use crate::code::FunctionCode;
use crate::context::{Context, FunctionSlot, LinkedModule, ModuleIndex};
use crate::cursor::{CheckedCode, Cursor};
use crate::globals::{GlobalBytes, Globals};
use crate::handlers::{Bank, shape};
use crate::interpreter::Exit;
use crate::invocation::Invocation;
use crate::limits::ExecutionLimits;
use crate::meter::Meter;
use crate::registers::{Refs, Registers};
use crate::stack::{Stack, WINDOW};
use crate::status::Status;

/// What runs an instruction.
pub(crate) type Handler =
    fn(Cursor, Registers, Refs, &mut Machine<'_>, u64, u32, f32, f64) -> Signal;

/// What a handler says to the loop that called it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    /// Call the handler of [`Machine::saved`].
    Next,
    /// [`Machine::reason`] says why.
    Leave,
}

/// Why the handlers were left. The frame's index says where.
#[derive(Debug)]
pub(crate) enum Reason {
    /// The run is at its end.
    Exit(Exit),
    /// A native function is called by the instruction at the index.
    Native,
    /// The callee of the instruction at the index has to be translated first.
    Untranslated(u32),
}

/// What handlers pass on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The instruction that runs.
    pub(crate) cursor: Cursor,
    pub(crate) registers: Registers,
    pub(crate) refs: Refs,
    /// The last result, if it was an i32 (zero-extended) or i64,
    pub(crate) word: u64,
    /// backward branches and calls until fuel and interrupts are looked at,
    pub(crate) budget: u32,
    /// the last result, if it was an f32,
    pub(crate) single: f32,
    /// and if it was an f64.
    pub(crate) double: f64,
}

impl State {
    /// Goes on with the next instruction.
    ///
    /// # Safety
    /// The running one is one that control falls through.
    #[inline(always)]
    pub(crate) unsafe fn next<D: Dispatch>(mut self, machine: &mut Machine<'_>) -> Signal {
        // SAFETY: the caller's promise.
        self.cursor = unsafe { self.cursor.next() };
        D::go(self, machine)
    }

    /// Goes on so many bytes away.
    ///
    /// # Safety
    /// The distance is one of the two in the running instruction.
    #[inline(always)]
    pub(crate) unsafe fn jump<D: Dispatch>(
        mut self,
        machine: &mut Machine<'_>,
        distance: usize,
    ) -> Signal {
        // SAFETY: the caller's promise.
        self.cursor = unsafe { self.cursor.jump(distance) };
        D::go(self, machine)
    }
}

/// How one handler leads to the next, and which form of functions runs.
pub(crate) trait Dispatch: 'static {
    /// Whether somebody is asked before every instruction.
    const OBSERVES: bool;

    /// Runs the instruction at the state's cursor, or has it run.
    fn go(state: State, machine: &mut Machine<'_>) -> Signal;

    /// What runs of a function, if it was translated.
    fn code(slot: &FunctionSlot) -> Option<(&FunctionCode, &CheckedCode)>;
}

/// Runs without looking.
pub(crate) struct Free;

impl Dispatch for Free {
    const OBSERVES: bool = false;

    #[cfg(all(threaded, not(debug_assertions)))]
    #[inline(always)]
    fn go(state: State, machine: &mut Machine<'_>) -> Signal {
        call(state, machine)
    }

    #[cfg(not(all(threaded, not(debug_assertions))))]
    fn go(state: State, machine: &mut Machine<'_>) -> Signal {
        machine.saved = state;
        Signal::Next
    }

    #[inline(always)]
    fn code(slot: &FunctionSlot) -> Option<(&FunctionCode, &CheckedCode)> {
        let code = slot.code.get()?;
        Some((code, slot.armed.as_ref().map_or(&code.free, |armed| &armed.free)))
    }
}

/// Returns to the loop after every instruction.
pub(crate) struct Observed;

impl Dispatch for Observed {
    const OBSERVES: bool = true;

    fn go(state: State, machine: &mut Machine<'_>) -> Signal {
        machine.saved = state;
        Signal::Next
    }

    fn code(slot: &FunctionSlot) -> Option<(&FunctionCode, &CheckedCode)> {
        let code = slot.code.get()?;
        let observed = code.observed.get_or_init(|| CheckedCode::observed(&code.instructions));
        Some((code, observed))
    }
}

/// Calls the handler of an instruction.
#[inline(always)]
fn call(state: State, machine: &mut Machine<'_>) -> Signal {
    let State { cursor, registers, refs, word, budget, single, double } = state;
    (cursor.handler())(cursor, registers, refs, machine, word, budget, single, double)
}

/// What handlers share and need now and then.
pub(crate) struct Machine<'a> {
    pub(crate) limits: &'a ExecutionLimits,
    pub(crate) modules: &'a [LinkedModule],
    pub(crate) functions: &'a [FunctionSlot],
    pub(crate) globals: &'a mut [Globals],
    pub(crate) stack: &'a mut Stack,
    pub(crate) meter: &'a mut Meter,
    /// The running function.
    pub(crate) code: &'a FunctionCode,
    /// The form of it that runs.
    pub(crate) running: &'a CheckedCode,
    /// Its module,
    pub(crate) module: ModuleIndex,
    /// and the primitive globals of that.
    pub(crate) global_bytes: GlobalBytes,
    /// What runs next, where handlers return to a loop.
    pub(crate) saved: State,
    /// Why they were left.
    pub(crate) reason: Reason,
}

impl<'a> Machine<'a> {
    /// Runs the innermost frame and what it calls and returns to: until there is a reason to leave, or,
    /// if somebody observes, for one instruction. `budget` is brought up to date.
    ///
    /// The frame's function has been translated.
    pub(crate) fn run<D: Dispatch>(
        context: &'a mut Context,
        invocation: &'a mut Invocation,
        budget: &mut u32,
    ) -> Option<Reason> {
        let broken = |what| Some(Reason::Exit(Exit::Failed(Status::internal(what))));
        let Context { limits, modules, functions, globals, .. } = context;
        let Invocation { stack, meter, .. } = invocation;
        let Some(frame) = stack.frames.last() else {
            return Some(Reason::Exit(Exit::Completed(Vec::new())));
        };
        let (index, base, ref_count) = (frame.index as usize, frame.base(), frame.ref_count);
        let slot = &functions[frame.slot as usize];
        let Some((code, running)) = D::code(slot) else {
            return Some(Reason::Untranslated(frame.slot));
        };
        let Some(cursor) = running.cursor(index) else {
            return broken("a frame outside of its function");
        };
        let Some(window) = stack.words[base.word..].first_chunk_mut::<WINDOW>() else {
            // `Stack::push` keeps a window behind every frame.
            return broken("the stack is shorter than its frames");
        };
        let refs = &mut stack.refs[base.reference..base.reference + ref_count as usize];
        // SAFETY: whoever moves the stack, which is calls and returns, makes both anew.
        let (registers, refs) = unsafe { (Registers::new(window), Refs::new(refs)) };
        let saved =
            State { cursor, registers, refs, word: 0, budget: *budget, single: 0.0, double: 0.0 };
        let module = slot.module;
        let global_bytes = GlobalBytes::of(&mut globals[module.index()]);
        let mut machine = Machine {
            limits,
            modules,
            functions,
            globals,
            stack,
            meter,
            code,
            running,
            module,
            global_bytes,
            saved: accumulated(saved, code, index),
            reason: Reason::Native,
        };
        loop {
            let state = machine.saved;
            if call(state, &mut machine) == Signal::Leave {
                *budget = machine.saved.budget;
                return Some(machine.reason);
            }
            if D::OBSERVES {
                let next = machine.running.index(machine.saved.cursor);
                machine.stack.set_index(next);
                *budget = machine.saved.budget;
                return None;
            }
        }
    }

    /// Says why the handlers are left, and where: so many instructions behind the cursor.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, cursor: Cursor, budget: u32, reason: Reason) -> Signal {
        let index = self.running.index(cursor);
        self.stack.set_index(index);
        self.saved.budget = budget;
        self.reason = reason;
        Signal::Leave
    }

    /// Another budget; `None` to leave at the cursor.
    pub(crate) fn refill(&mut self, cursor: Cursor) -> Option<u32> {
        match self.meter.refill() {
            Ok(budget) => Some(budget),
            Err(exit) => {
                self.leave(cursor, 0, Reason::Exit(exit));
                None
            }
        }
    }

    /// Makes the globals those of another module.
    #[inline(always)]
    pub(crate) fn enter_module(&mut self, module: ModuleIndex) {
        if self.module != module {
            self.module = module;
            self.global_bytes = GlobalBytes::of(&mut self.globals[module.index()]);
        }
    }
}

/// A state as the handler of the instruction before `index` would have left it.
fn accumulated(mut state: State, code: &FunctionCode, index: usize) -> State {
    let Some(before) = index.checked_sub(1).and_then(|index| code.instructions.get(index)) else {
        return state;
    };
    if let Some((field, bank)) = shape(before.code).writes {
        let register = field.of(before);
        match bank {
            Bank::Word => state.word = state.registers.word(register).into(),
            Bank::Pair => state.word = state.registers.pair(register),
            Bank::Single => state.single = f32::from_bits(state.registers.word(register)),
            Bank::Double => state.double = f64::from_bits(state.registers.pair(register)),
        }
    }
    state
}
