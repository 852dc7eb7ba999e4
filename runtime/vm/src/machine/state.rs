//! What handlers are, get and leave.

use crate::errors::Status;
use crate::limits::{ExecutionLimits, Halt, Meter};
use crate::modules::{GlobalBytes, Globals, LinkedModule};
use crate::objects::{Makes, Value};
use crate::position::ModuleIndex;
use crate::stack::{Refs, Registers, Stack};

/// A function that runs an instruction.
pub(crate) type HandlerFunction =
    fn(Cursor, Registers, &mut Machine<'_>, u64, u64, u32, f32, f32, f64, f64) -> Signal;

/// Runs an instruction. A separate type, because code holds handlers and handlers take code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler(pub(crate) HandlerFunction);

/// A place in code that handlers run.
pub(crate) type Cursor = crate::code::Cursor<Handler>;

/// Code that handlers run.
pub(crate) type CheckedCode = crate::code::CheckedCode<Handler>;

/// A function that handlers run, in its executable form.
pub(crate) type FunctionCode = crate::code::FunctionCode<Handler>;

/// A function that handlers run, in the table of its context.
pub(crate) type FunctionSlot = crate::code::FunctionSlot<Handler>;

/// What a handler returns to the loop that called it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    /// Call the handler of [`Machine::saved`].
    Next,
    /// Leave the machine; [`Machine::reason`] says why.
    Leave,
}

/// Why the loop ended.
#[derive(Debug)]
pub(crate) enum Exit {
    Completed(Vec<Value>),
    Yielded,
    Breakpoint,
    Requested,
    Interrupted,
    /// The run has made as many turns as were asked for.
    Due,
    Observed,
    /// A native function runs in steps, or waits.
    Suspended,
    Failed(Status),
}

impl From<Halt> for Exit {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Due => Self::Due,
            Halt::Interrupted => Self::Interrupted,
            Halt::Failed(status) => Self::Failed(status),
        }
    }
}

/// Why handlers leave the machine. The frame's index says where.
#[derive(Debug)]
pub(crate) enum Reason {
    /// The run is at its end.
    Exit(Exit),
    /// A native function is called by the instruction at the index.
    Native,
    /// The callee of the instruction at the index has to be translated first.
    Untranslated(u32),
    /// A function has made enough turns to be compiled.
    Hot(u32),
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
    /// Before the instruction at a cursor, where nothing is at hand.
    #[inline(always)]
    pub(crate) fn at(cursor: Cursor, registers: Registers, budget: u32) -> Self {
        let (words, singles, doubles) = ([0; 2], [0.0; 2], [0.0; 2]);
        Self { cursor, registers, budget, words, singles, doubles }
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

    /// Continues `distance` bytes away.
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

    /// Like [`Self::jump`], on one of two paths with separate host code: if the target were
    /// selected without a branch, the host would wait for the condition before it fetches the next
    /// instruction.
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
    /// Whether an observer is asked before every instruction.
    const OBSERVES: bool;

    /// Runs the instruction at the state's cursor, or saves the state for the loop to run it.
    fn go(state: State, machine: &mut Machine<'_>) -> Signal;

    /// The same, in host code that is not shared with another way.
    #[inline(always)]
    fn go_apart(state: State, machine: &mut Machine<'_>) -> Signal {
        Self::go(state, machine)
    }

    /// The code of a function that runs in this form, if the function was translated.
    fn code(slot: &FunctionSlot) -> Option<(&FunctionCode, &CheckedCode)>;
}

/// Runs without looking.
pub(crate) struct Free;

impl Dispatch for Free {
    const OBSERVES: bool = false;

    #[cfg(all(threaded, not(debug_assertions)))]
    #[inline(always)]
    fn go(state: State, machine: &mut Machine<'_>) -> Signal {
        call(state.cursor.handler().0, state, machine)
    }

    #[cfg(all(threaded, not(debug_assertions)))]
    #[inline(always)]
    fn go_apart(state: State, machine: &mut Machine<'_>) -> Signal {
        let handler = state.cursor.handler().0;
        // Keeps the compiler from merging this path with the other one.
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
        Some((code, slot.armed.as_ref().map_or_else(|| code.unarmed(), |armed| &armed.free)))
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
pub(crate) fn call(handler: HandlerFunction, state: State, machine: &mut Machine<'_>) -> Signal {
    let State { cursor, registers, budget, words, singles, doubles } = state;
    handler(
        cursor, registers, machine, words[0], words[1], budget, singles[0], singles[1], doubles[0],
        doubles[1],
    )
}

/// What handlers share and need now and then.
pub(crate) struct Machine<'a> {
    pub(crate) limits: &'a ExecutionLimits,
    pub(crate) makes: &'a Makes,
    pub(crate) modules: &'a [LinkedModule],
    pub(crate) functions: &'a [FunctionSlot],
    pub(crate) globals: &'a mut [Globals],
    pub(crate) stack: &'a mut Stack,
    pub(crate) meter: &'a mut Meter,
    /// The running function.
    pub(crate) code: &'a FunctionCode,
    /// The form of its code that runs.
    pub(crate) running: &'a CheckedCode,
    /// Its refs.
    pub(crate) refs: Refs,
    /// Its module,
    pub(crate) module: ModuleIndex,
    /// and the primitive globals of that.
    pub(crate) global_bytes: GlobalBytes,
    /// What runs next, where handlers return to a loop.
    pub(crate) saved: State,
    /// The handler that goes on after machine code, where that is not its cursor's.
    pub(crate) handler: Handler,
    /// Why the handlers were left.
    pub(crate) reason: Reason,
}
