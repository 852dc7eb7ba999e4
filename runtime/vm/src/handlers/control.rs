//! Instructions that lead elsewhere: jumps, calls, returns, stops.

use super::control;
use super::operation::{Operation, cold_handler};
use crate::errors::{Status, StatusCode};
use crate::machine::{
    Cursor, Dispatch, Exit, Handler, Machine, Operand, Reason, Signal, Source, State, call, enter,
    give_back,
};
use crate::second_tier::enter_compiled;
use crate::stack::{GuardFrame, Registers};

/// Goes on along one of the two distances in the running instruction.
///
/// # Safety
/// It has two.
#[inline(always)]
pub(crate) unsafe fn branch<D: Dispatch>(
    state: State,
    machine: &mut Machine<'_>,
    holds: bool,
) -> Signal {
    let instr = state.cursor.instr();
    if holds {
        // SAFETY: the caller's promise.
        return unsafe { state.jump_apart::<D>(machine, instr.low()) };
    }
    // SAFETY: the caller's promise.
    unsafe { state.jump::<D>(machine, instr.high()) }
}

/// Checks fuel and interrupts; continues with the instruction `AFTER` after the running one, which
/// counts itself once more.
#[inline(always)]
pub(crate) fn refill<D: Dispatch, const AFTER: usize>(
    state: State,
    machine: &mut Machine<'_>,
) -> Signal {
    call(cold_handler::<D, Refill<AFTER>>, state, machine)
}

struct Refill<const AFTER: usize>;

impl<const AFTER: usize> Operation for Refill<AFTER> {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        for _ in 0..AFTER {
            // SAFETY: an instruction that does the jump of the instruction after it falls through
            // on its own.
            state.cursor = unsafe { state.cursor.next() };
        }
        let Some(budget) = machine.refill(state.cursor) else { return Signal::Leave };
        state.budget = budget + 1;
        if !D::OBSERVES
            && let Some(slot) = machine.hot()
        {
            return machine.leave(state.cursor, state.budget, Reason::Hot(slot));
        }
        machine.run_again(state.cursor);
        // Not by way of `D`: observers were asked about this instruction.
        call(state.cursor.handler().0, state, machine)
    }
}

/// Leaves the machine at the running instruction.
macro_rules! leaves {
    ($name:ident, |$machine:ident, $cursor:ident| $reason:expr) => {
        pub(crate) struct $name;

        impl Operation for $name {
            #[inline(always)]
            fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
                #[cold]
                #[inline(never)]
                fn leave($machine: &mut Machine<'_>, $cursor: Cursor, budget: u32) -> Signal {
                    let reason = $reason;
                    $machine.leave($cursor, budget, reason)
                }
                leave(machine, state.cursor, state.budget)
            }
        }
    };
}

leaves!(Breakpoint, |machine, cursor| Reason::Exit(Exit::Breakpoint));
leaves!(EndOfFunction, |machine, cursor| Reason::Exit(Exit::Failed(Status::failed_precondition(
    "control ran past the last instruction of the function"
))));

/// A breakpoint with a guard: leaves the machine, or runs the instruction under the breakpoint.
pub(crate) struct Guarded;

impl Operation for Guarded {
    #[inline(always)]
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
        /// The handler of the instruction, if the guard lets it pass.
        #[inline(never)]
        fn consult(
            machine: &mut Machine<'_>,
            cursor: Cursor,
            registers: Registers,
        ) -> Option<Handler> {
            let slot = machine.stack.frames.last()?.slot;
            let armed = machine.functions.get(slot as usize)?.armed.as_ref()?;
            let index = machine.running.index(cursor) as u32;
            let guarded = armed.guards.get(&index)?;
            let has_passed = machine.stack.passed.take() == Some((slot, index));
            let stops = !has_passed && (guarded.guard)(&GuardFrame::new(registers));
            (!stops).then_some(guarded.handler)
        }
        match consult(machine, state.cursor, state.registers) {
            Some(handler) => call(handler.0, state, machine),
            None => Breakpoint::run::<D>(state, machine),
        }
    }
}

/// Enters machine code, and goes on where that hands over.
pub(crate) struct Enter;

impl Operation for Enter {
    #[inline(always)]
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
        match enter_compiled(machine, state.cursor, state.registers, state.budget) {
            Some(handler) => {
                let state = machine.saved;
                call(handler.0, state, machine)
            }
            None => Signal::Leave,
        }
    }
}

/// Leaves the machine for good, to resume at a target when it runs again.
macro_rules! leaves_to_target {
    ($name:ident, $exit:expr) => {
        pub(crate) struct $name;

        impl Operation for $name {
            #[inline(always)]
            fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
                #[cold]
                #[inline(never)]
                fn leave(machine: &mut Machine<'_>, cursor: Cursor, budget: u32) -> Signal {
                    machine.leave(cursor, budget, Reason::Exit($exit));
                    machine.stack.set_index(cursor.instr().low());
                    Signal::Leave
                }
                leave(machine, state.cursor, state.budget)
            }
        }
    };
}

leaves_to_target!(Yield, Exit::Yielded);
leaves_to_target!(Stop, Exit::Requested);

/// Stops if `a` is not zero.
pub(crate) struct CondStop;

impl Operation for CondStop {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        let instr = state.cursor.instr();
        if i32::read(state, instr.a) != 0 {
            return Stop::run::<D>(state, machine);
        }
        match machine.running.cursor(instr.low()) {
            Some(cursor) => {
                state.cursor = cursor;
                D::go(state, machine)
            }
            None => EndOfFunction::run::<D>(state, machine),
        }
    }
}

/// Fails with status `a` and text `imm` unless `a` is zero.
pub(crate) struct Fail;

impl Operation for Fail {
    #[inline(always)]
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
        #[cold]
        #[inline(never)]
        fn fail(
            machine: &mut Machine<'_>,
            cursor: Cursor,
            budget: u32,
            status: StatusCode,
        ) -> Signal {
            let message = machine.code.texts.get(cursor.instr().low()).map_or("", |text| text);
            let status = Status::new(status, message);
            machine.leave(cursor, budget, Reason::Exit(Exit::Failed(status)))
        }
        let number = i32::read(state, state.cursor.instr().a);
        if number != 0 {
            // The reference keeps five bits of the number, of which some are no code.
            let status = StatusCode::from_number(number.cast_unsigned() & 0x1F);
            let status = status.unwrap_or(StatusCode::Unknown);
            return fail(machine, state.cursor, state.budget, status);
        }
        // SAFETY: the instruction falls through.
        unsafe { state.next::<D>(machine) }
    }
}

/// Looks at fuel and interrupts.
pub(crate) struct Poll;

impl Operation for Poll {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        poll!(state, machine, 0);
        // SAFETY: the instruction falls through.
        unsafe { state.next::<D>(machine) }
    }
}

/// A block's marker.
pub(crate) struct Block;

impl Operation for Block {
    #[inline(always)]
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
        // SAFETY: the instruction falls through.
        unsafe { state.next::<D>(machine) }
    }
}

/// A jump; checks fuel and interrupts if it goes back.
pub(crate) struct Jump<const BACK: bool>;

impl<const BACK: bool> Operation for Jump<BACK> {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        if BACK {
            poll!(state, machine, 0);
        }
        // SAFETY: the low distance is its target's.
        unsafe { state.jump::<D>(machine, state.cursor.instr().low()) }
    }
}

/// A conditional jump; checks fuel and interrupts if it may go back.
pub(crate) struct CondJump<A, const BACK: bool>(std::marker::PhantomData<A>);

impl<A: Source, const BACK: bool> Operation for CondJump<A, BACK> {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        if BACK {
            poll!(state, machine, 0);
        }
        let condition: i32 = A::read(state, state.cursor.instr().a);
        // SAFETY: the instruction has two distances.
        unsafe { branch::<D>(state, machine, condition != 0) }
    }
}

/// Continues where table `imm` says for index `a`.
pub(crate) struct JumpTable<A>(std::marker::PhantomData<A>);

impl<A: Source> Operation for JumpTable<A> {
    #[inline(always)]
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
        let index: i32 = A::read(state, state.cursor.instr().a);
        // SAFETY: `handler_choice` gave the instruction its own table, whose distances count from
        // here.
        unsafe {
            let distance = state.cursor.table_distance(index.cast_unsigned());
            state.jump::<D>(machine, distance)
        }
    }
}

/// Calls bytecode.
pub(crate) struct Call;

impl Operation for Call {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        poll!(state, machine, 0);
        match enter::<D>(state, machine) {
            Some(state) => D::go(state, machine),
            None => Signal::Leave,
        }
    }
}

leaves!(Native, |machine, cursor| Reason::Native);

/// Calls a native function or a missing import, which handlers cannot.
pub(crate) struct CallOut;

impl Operation for CallOut {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        poll!(state, machine, 0);
        Native::run::<D>(state, machine)
    }
}

/// Returns.
pub(crate) struct Return;

impl Operation for Return {
    #[inline(always)]
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
        match give_back::<D>(state, machine) {
            Some(state) => D::go(state, machine),
            None => Signal::Leave,
        }
    }
}
