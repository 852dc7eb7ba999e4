//! Work that is out of line: safe code on a view of the frame, which may fail.

use bytemuck::{must_cast_mut, must_cast_ref};

use super::allocation;
use super::operation::{Operation, cold_handler};
use crate::code::{Handle, Instr};
use crate::errors::Status;
use crate::limits::ExecutionLimits;
use crate::machine::{
    Cursor, Dispatch, Exit, FunctionCode, Handler, Machine, Reason, Signal, State, call,
};
use crate::modules::Globals;
use crate::objects::{Buffer, List, Makes, Ref, Type};
use crate::stack::{Registers, WINDOW, read_checked_ref, ref_index};

/// What slow instructions work on.
pub(crate) struct Frame<'a> {
    pub(crate) pairs: &'a mut [u64; WINDOW],
    pub(crate) refs: &'a mut [Ref],
    pub(crate) globals: &'a mut Globals,
    pub(crate) types: &'a [Type],
    pub(crate) rodata: &'a [Ref],
    pub(crate) code: &'a FunctionCode,
    pub(crate) limits: &'a ExecutionLimits,
    pub(crate) makes: &'a Makes,
}

/// A number type in a frame's registers.
pub(crate) trait Number: Copy {
    fn get(pairs: &[u64; WINDOW], register: u16) -> Self;
    fn set(self, pairs: &mut [u64; WINDOW], register: u16);
}

macro_rules! numbers {
    ($($type:ident $view:ty, |$bits:ident| $read:expr, |$value:ident| $written:expr;)*) => {$(
        impl Number for $type {
            fn get(pairs: &[u64; WINDOW], register: u16) -> Self {
                let $bits = must_cast_ref::<[u64; WINDOW], $view>(pairs)[usize::from(register)];
                $read
            }

            fn set(self, pairs: &mut [u64; WINDOW], register: u16) {
                let $value = self;
                must_cast_mut::<[u64; WINDOW], $view>(pairs)[usize::from(register)] = $written;
            }
        }
    )*};
}

numbers! {
    i32 [u32; 2 * WINDOW], |bits| bits.cast_signed(), |value| value.cast_unsigned();
    i64 [u64; WINDOW], |bits| bits.cast_signed(), |value| value.cast_unsigned();
    f32 [u32; 2 * WINDOW], |bits| f32::from_bits(bits), |value| value.to_bits();
    f64 [u64; WINDOW], |bits| f64::from_bits(bits), |value| value.to_bits();
}

impl Frame<'_> {
    /// A number in a register.
    pub(crate) fn get<T: Number>(&self, register: u16) -> T {
        T::get(self.pairs, register)
    }

    /// Puts a number into a register.
    pub(crate) fn set<T: Number>(&mut self, register: u16, value: T) {
        value.set(self.pairs, register);
    }

    /// How much memory the program may have, and what it has made.
    pub(crate) fn memory(&self) -> (&ExecutionLimits, &Makes) {
        (self.limits, self.makes)
    }

    /// A size, an offset or an index in an i32 register.
    pub(crate) fn size(&self, register: u16) -> usize {
        self.get::<i32>(register).cast_unsigned() as usize
    }

    /// A size or an offset in an i64 register.
    pub(crate) fn wide(&self, register: u16) -> u64 {
        self.get::<i64>(register).cast_unsigned()
    }

    /// A ref register.
    pub(crate) fn reference(&mut self, register: u16) -> &mut Ref {
        &mut self.refs[ref_index(register)]
    }

    /// The buffer in a ref register.
    pub(crate) fn buffer(&self, register: u16, role: &str) -> Result<&Buffer, Status> {
        allocation::buffer(&self.refs[ref_index(register)], role)
    }

    /// The list in a ref register.
    pub(crate) fn list(&self, register: u16) -> Result<&List, Status> {
        allocation::list(&self.refs[ref_index(register)])
    }

    /// The register that a `switch` chooses.
    pub(crate) fn switched(&self, instr: &Instr) -> u16 {
        let index = usize::try_from(self.get::<i32>(instr.a)).ok();
        let values = &self.code.lists[instr.low()];
        *index.and_then(|index| values.get(index)).unwrap_or(&instr.b)
    }

    /// `vm.buffer.fill`, with the bytes of an element.
    pub(crate) fn fill<T: Number, const N: usize>(
        &self,
        instr: &Instr,
        bytes: fn(T) -> [u8; N],
    ) -> Result<(), Status> {
        let pattern = bytes(self.get(instr.lane(0)));
        let buffer = self.buffer(instr.a, "buffer")?;
        buffer.fill(self.wide(instr.b), self.wide(instr.c), pattern)
    }

    /// The ref in a register, if it is of the type; taken out if the operand has the move bit.
    pub(crate) fn take(&mut self, register: u16, type_index: usize) -> Result<Ref, Status> {
        read_checked_ref(self.refs, register, &self.types[type_index])
    }
}

/// A slow instruction. It falls through.
pub(crate) trait Slow: 'static {
    fn run(frame: &mut Frame<'_>, instr: &Instr) -> Result<(), Status>;
}

/// A slow instruction as an operation.
pub(crate) struct OutOfLine<S>(std::marker::PhantomData<S>);

impl<S: Slow> Operation for OutOfLine<S> {
    #[inline(always)]
    fn run<D: Dispatch>(state: State, machine: &mut Machine<'_>) -> Signal {
        if !attempt::<S>(state.cursor, state.registers, machine, state.budget) {
            return Signal::Leave;
        }
        // SAFETY: slow instructions fall through.
        unsafe { state.next::<D>(machine) }
    }
}

/// A slow instruction in the place of a fast one: leaves its result where that would have.
struct Instead<S>(std::marker::PhantomData<S>);

impl<S: Slow> Operation for Instead<S> {
    #[inline(always)]
    fn run<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Signal {
        if !attempt::<S>(state.cursor, state.registers, machine, state.budget) {
            return Signal::Leave;
        }
        let instr = state.cursor.instr();
        if let Some((field, bank)) = Handler::shape(instr.code).writes {
            state.load(bank, field.of(instr));
        }
        // SAFETY: slow instructions fall through.
        unsafe { state.next::<D>(machine) }
    }
}

/// Runs the slow form of an instruction whose fast form does not apply, or has to report an error.
#[inline(always)]
pub(crate) fn instead<D: Dispatch, S: Slow>(state: State, machine: &mut Machine<'_>) -> Signal {
    call(cold_handler::<D, Instead<S>>, state, machine)
}

/// Runs a slow instruction; false if the machine has to be left.
#[inline(never)]
fn attempt<S: Slow>(
    cursor: Cursor,
    registers: Registers,
    machine: &mut Machine<'_>,
    budget: u32,
) -> bool {
    let ref_count = machine.stack.frames.last().map_or(0, |frame| frame.ref_count as usize);
    let module = &machine.modules[machine.module.index()];
    let mut frame = Frame {
        // SAFETY: nothing else uses the registers until this function returns.
        pairs: unsafe { registers.window() },
        // SAFETY: nothing else uses the refs either, and they belong to the innermost frame.
        refs: unsafe { machine.refs.slice(ref_count) },
        globals: &mut machine.globals[machine.module.index()],
        types: module.types(),
        rodata: module.rodata(),
        code: machine.code,
        limits: machine.limits,
        makes: machine.makes,
    };
    match S::run(&mut frame, cursor.instr()) {
        Ok(()) => true,
        Err(status) => {
            machine.leave(cursor, budget, Reason::Exit(Exit::Failed(status)));
            false
        }
    }
}
