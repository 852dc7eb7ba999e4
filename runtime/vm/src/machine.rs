//! The machine: handlers that run instructions, and how one leads to the next.
//!
//! Every instruction carries the function that runs it, its handler. A handler gets the state of
//! the running frame in its arguments, few enough to stay in registers of the host, and ends by
//! calling the next instruction's handler with what it makes of them. In optimised builds that call
//! is a jump: nothing is left to do after it, and both have the same signature. So the host
//! predicts each instruction's successor by itself, and no state is ever spilled for the sake of
//! another instruction.
//!
//! The language promises no such jumps. So where optimisation does not make them (`cfg(threaded)`
//! is off: debug builds, other processors, Miri), and in builds with debug assertions, a handler
//! puts the state into [`Machine::saved`] and returns to a loop, which calls the next: the same
//! handlers, another [`Dispatch`]. Observers use that form always. `handlers::tests` runs every
//! handler so often that one that lost its jump would end on the stack at once; what a handler must
//! not do for that is hold values that are dropped, or pass the address of a local variable: such
//! work is in functions of its own, which are not inlined.
//!
//! # Results at hand
//!
//! A value that one instruction writes and another one reads soon goes through memory, and would
//! wait there for some seven cycles. So handlers also pass the last two results of each kind on
//! (`words`, `singles`, `doubles`), and there are variants of handlers that take operands from
//! there. `fusion` chooses them where it knows which registers these results belong to; who comes
//! from elsewhere, as after a stop, first loads them ([`Machine::run`]).

use crate::code::FunctionCode;
use crate::context::{Context, FunctionSlot, LinkedModule, ModuleIndex};
use crate::cursor::{CheckedCode, Cursor};
use crate::fusion::{Known, known_at};
use crate::globals::{GlobalBytes, Globals};
use crate::handlers::{Bank, Operand};
use crate::interpreter::Exit;
use crate::invocation::Invocation;
use crate::limits::ExecutionLimits;
use crate::meter::Meter;
use crate::registers::{Refs, Registers};
use crate::stack::{Stack, WINDOW};
use crate::status::Status;

/// What runs an instruction.
pub(crate) type Handler =
    fn(Cursor, Registers, &mut Machine<'_>, u64, u64, u32, f32, f32, f64, f64) -> Signal;

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
    /// Backward branches and calls until fuel and interrupts are looked at.
    pub(crate) budget: u32,
    /// The last two results of type i32 (zero-extended) or i64, the last one first,
    pub(crate) words: [u64; 2],
    /// of type f32,
    pub(crate) singles: [f32; 2],
    /// and of type f64.
    pub(crate) doubles: [f64; 2],
}

impl State {
    /// Makes the value of a register the last result of its type.
    pub(crate) fn load(&mut self, bank: Bank, register: u16) {
        match bank {
            Bank::Word => i32::read(*self, register).write(self, register),
            Bank::Pair => i64::read(*self, register).write(self, register),
            Bank::Single => f32::read(*self, register).write(self, register),
            Bank::Double => f64::read(*self, register).write(self, register),
        }
    }

    /// Puts the result of a comparison into a register.
    #[inline(always)]
    pub(crate) fn set_test(self, register: u16, holds: bool) {
        self.registers.set_word(register, holds.into());
    }

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

    /// The same on one of two ways, with host code of its own: a target selected without a branch
    /// would make the host wait for the condition before it fetches the next instruction.
    ///
    /// # Safety
    /// As for [`Self::jump`].
    #[inline(always)]
    pub(crate) unsafe fn jump_apart<D: Dispatch>(
        mut self,
        machine: &mut Machine<'_>,
        distance: usize,
    ) -> Signal {
        // SAFETY: the caller's promise.
        self.cursor = unsafe { self.cursor.jump(distance) };
        D::go_apart(self, machine)
    }
}

/// How one handler leads to the next, and which form of functions runs.
pub(crate) trait Dispatch: 'static {
    /// Whether somebody is asked before every instruction.
    const OBSERVES: bool;

    /// Runs the instruction at the state's cursor, or has it run.
    fn go(state: State, machine: &mut Machine<'_>) -> Signal;

    /// The same, in host code that is not shared with another way.
    #[inline(always)]
    fn go_apart(state: State, machine: &mut Machine<'_>) -> Signal {
        Self::go(state, machine)
    }

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
        call(state.cursor.handler(), state, machine)
    }

    #[cfg(all(threaded, not(debug_assertions)))]
    #[inline(always)]
    fn go_apart(state: State, machine: &mut Machine<'_>) -> Signal {
        let handler = state.cursor.handler();
        // What is on one of the two ways only is not merged with the other's.
        std::hint::black_box(());
        call(handler, state, machine)
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

/// Calls a handler.
#[inline(always)]
pub(crate) fn call(handler: Handler, state: State, machine: &mut Machine<'_>) -> Signal {
    let State { cursor, registers, budget, words, singles, doubles } = state;
    handler(
        cursor, registers, machine, words[0], words[1], budget, singles[0], singles[1], doubles[0],
        doubles[1],
    )
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
    /// Its refs.
    pub(crate) refs: Refs,
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
    /// Runs the innermost frame and what it calls and returns to: until there is a reason to leave,
    /// or, if somebody observes, for one instruction. `budget` is brought up to date.
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
        let known =
            if D::OBSERVES { Known::default() } else { known_at(&code.instructions, index) };
        let saved = at_hand(cursor, registers, *budget, known);
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
            saved,
            refs,
            reason: Reason::Native,
        };
        loop {
            let state = machine.saved;
            if call(state.cursor.handler(), state, &mut machine) == Signal::Leave {
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

    /// The instruction at the cursor is run again: if it is guarded, its guard has let it pass.
    #[cold]
    pub(crate) fn run_again(&mut self, cursor: Cursor) {
        let Some(slot) = self.stack.frames.last().map(|frame| frame.slot) else { return };
        let index = self.running.index(cursor) as u32;
        let armed = self.functions.get(slot as usize).and_then(|slot| slot.armed.as_ref());
        if armed.is_some_and(|armed| armed.guards.contains_key(&index)) {
            self.stack.passed = Some((slot, index));
        }
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

/// A state as handlers would have left it of whose results so much is known.
#[inline]
fn at_hand(cursor: Cursor, registers: Registers, budget: u32, known: Known) -> State {
    let (words, singles, doubles) = ([0; 2], [0.0; 2], [0.0; 2]);
    let mut state = State { cursor, registers, budget, words, singles, doubles };
    if known.is_empty() {
        return state;
    }
    for results in [known.words, known.singles, known.doubles] {
        // The last one last.
        let [last, previous] = results;
        for (bank, register) in [previous, last].into_iter().flatten() {
            state.load(bank, register);
        }
        if let (None, Some((bank, register))) = (last, previous) {
            // As if something else had come behind it.
            state.load(bank, register);
        }
    }
    state
}
