//! Functions that compiled code calls: what the host has no instruction for, and what the
//! interpreter does better.

use std::ffi::c_void;
use std::mem::offset_of;

use super::unit::Door;
use crate::code::Instr;
use crate::machine::{CheckedCode, Machine, Signal, State, call};
use crate::objects::{Numbers, Ref};
use crate::ops::{convert, float};
use crate::stack::{Refs, Registers};

/// What compiled code knows of the buffer in a ref register; all zero if there is none.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The address of the first byte.
    data: *mut u8,
    /// How many whole elements of 1, 2, 4 and 8 bytes may be read,
    readable: [u64; 4],
    /// and how many may be written.
    writable: [u64; 4],
}

impl View {
    pub(super) const NONE: Self =
        Self { data: std::ptr::null_mut(), readable: [0; 4], writable: [0; 4] };
    pub(super) const SIZE: i32 = size_of::<Self>() as i32;
    pub(super) const DATA: i32 = offset_of!(Self, data) as i32;

    /// Where the number of readable elements is, whose size has this logarithm.
    pub(super) fn readable(shift: u8) -> i32 {
        offset_of!(Self, readable) as i32 + 8 * i32::from(shift)
    }

    /// The same of writable ones.
    pub(super) fn writable(shift: u8) -> i32 {
        offset_of!(Self, writable) as i32 + 8 * i32::from(shift)
    }

    /// Looks at the ref at an offset in a frame.
    ///
    /// # Safety
    /// The offset comes from code that was checked for the frame of these refs.
    pub(super) unsafe fn of(refs: Refs, offset: u64) -> Self {
        // SAFETY: the caller's promise.
        let Ref::Buffer(buffer) = (unsafe { refs.get(offset) }) else { return Self::NONE };
        let whole = |bytes: usize| std::array::from_fn(|shift| bytes as u64 >> shift);
        let (readable, writable) = (whole(buffer.len()), whole(buffer.writable()));
        Self { data: buffer.address(), readable, writable }
    }
}

/// Looks again at a ref that has changed.
///
/// # Safety
/// The door is the one that compiled code was entered by, the offset one of its function, and the
/// view that of the register.
pub(super) unsafe extern "C" fn look(door: *mut Door, offset: u64, view: *mut View) {
    // SAFETY: the caller's promise.
    unsafe { view.write(View::of((*door).refs, offset)) };
}

/// Runs one instruction as the interpreter does it for observers; returns whether it has not
/// failed.
///
/// # Safety
/// The door is the one that compiled code was entered by, and `observed` the form for observers of
/// its function, which has the index.
pub(super) unsafe extern "C" fn step(
    door: *mut Door,
    observed: *const CheckedCode,
    index: u32,
    budget: u32,
) -> u32 {
    // SAFETY: the caller's promise. No other code uses the machine while compiled code runs.
    let (machine, registers, observed): (&mut Machine<'_>, Registers, _) =
        unsafe { (&mut *(*door).machine.cast(), (*door).registers, &*observed) };
    let Some(cursor) = observed.cursor(index as usize) else { return 0 };
    // The cursor is one of this form.
    let running = std::mem::replace(&mut machine.running, observed);
    let signal = call(cursor.handler().0, State::at(cursor, registers, budget), machine);
    machine.running = running;
    u32::from(signal == Signal::Next)
}

/// The machine as compiled code passes it on.
pub(super) fn opaque(machine: &mut Machine<'_>) -> *mut c_void {
    std::ptr::from_mut(machine).cast()
}

/// The numbers of the list that an instruction reads, the instruction, and the registers.
///
/// # Safety
/// The door is the one that compiled code was entered by, and the instruction one of its function
/// that reads a ref.
unsafe fn numbers<'a>(
    door: *mut Door,
    instr: *const Instr,
) -> (Option<&'a Numbers>, &'a Instr, Registers) {
    // SAFETY: the caller's promise; the code was checked for the frame of these refs.
    let (instr, reference, registers) =
        unsafe { (&*instr, (*door).refs.get((*instr).imm), (*door).registers) };
    let Ref::List(list) = reference else { return (None, instr, registers) };
    (list.numbers(), instr, registers)
}

/// What compiled code tries of a list before the interpreter: returns whether it was done.
macro_rules! list_functions {
    ($($name:ident = |$numbers:ident, $instr:ident, $registers:ident| $body:expr;)*) => {$(
        pub(super) unsafe extern "C" fn $name(door: *mut Door, instr: *const Instr) -> u32 {
            // SAFETY: compiled code keeps the promise.
            let ($numbers, $instr, $registers) = unsafe { numbers(door, instr) };
            let Some($numbers) = $numbers else { return 0 };
            u32::from($body)
        }
    )*};
}

/// Puts an element into a register.
macro_rules! get {
    (
        $numbers:ident, $instr:ident, $registers:ident,
        $get:ident, $set:ident, |$value:ident| $bits:expr
    ) => {{
        let value = $numbers.$get($registers.word($instr.b) as usize);
        value.map(|$value| $registers.$set($instr.c, $bits)).is_some()
    }};
}

list_functions! {
    list_size = |numbers, instr, registers| {
        registers.set_word(instr.b, numbers.len() as u32);
        true
    };
    list_resize = |numbers, instr, registers| {
        numbers.resize_within(registers.word(instr.b) as usize)
    };
    list_get_i32 = |numbers, instr, registers| {
        get!(numbers, instr, registers, get_i32, set_word, |it| it.cast_unsigned())
    };
    list_get_i64 = |numbers, instr, registers| {
        get!(numbers, instr, registers, get_i64, set_pair, |it| it.cast_unsigned())
    };
    list_get_f32 = |numbers, instr, registers| {
        get!(numbers, instr, registers, get_f32, set_word, |it| it.to_bits())
    };
    list_get_f64 = |numbers, instr, registers| {
        get!(numbers, instr, registers, get_f64, set_pair, |it| it.to_bits())
    };
    list_set_i32 = |numbers, instr, registers| {
        let (index, value) = (registers.word(instr.b), registers.word(instr.c));
        numbers.set_i32(index as usize, value.cast_signed())
    };
    list_set_i64 = |numbers, instr, registers| {
        let (index, value) = (registers.word(instr.b), registers.pair(instr.c));
        numbers.set_i64(index as usize, value.cast_signed())
    };
    list_set_f32 = |numbers, instr, registers| {
        let (index, value) = (registers.word(instr.b), registers.word(instr.c));
        numbers.set_f32(index as usize, f32::from_bits(value))
    };
    list_set_f64 = |numbers, instr, registers| {
        let (index, value) = (registers.word(instr.b), registers.pair(instr.c));
        numbers.set_f64(index as usize, f64::from_bits(value))
    };
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $to:ty = $body:expr;)*) => {$(
        pub(super) extern "C" fn $name($($argument: $type),*) -> $to {
            $body
        }
    )*};
}

functions! {
    cast_ui64_f32(a: i64) -> f32 = a.cast_unsigned() as f32;
    cast_f32_si32(a: f32) -> i32 = convert::f32_to_si32(a);
    cast_f32_ui32(a: f32) -> i32 = convert::f32_to_ui32(a);
    cast_f32_si64(a: f32) -> i64 = convert::f32_to_si64(a);
    cast_f32_ui64(a: f32) -> i64 = convert::f32_to_ui64(a);
    rem_f32(a: f32, b: f32) -> f32 = float::f32s::rem(a, b);
    ceil_f32(a: f32) -> f32 = float::f32s::ceil(a);
    floor_f32(a: f32) -> f32 = float::f32s::floor(a);
    round_f32(a: f32) -> f32 = a.round();
    round_even_f32(a: f32) -> f32 = float::f32s::round_even(a);
    atan_f32(a: f32) -> f32 = a.atan();
    atan2_f32(a: f32, b: f32) -> f32 = a.atan2(b);
    cos_f32(a: f32) -> f32 = a.cos();
    sin_f32(a: f32) -> f32 = a.sin();
    exp_f32(a: f32) -> f32 = a.exp();
    exp2_f32(a: f32) -> f32 = a.exp2();
    exp_m1_f32(a: f32) -> f32 = a.exp_m1();
    log_f32(a: f32) -> f32 = a.ln();
    log10_f32(a: f32) -> f32 = a.log10();
    log1p_f32(a: f32) -> f32 = a.ln_1p();
    log2_f32(a: f32) -> f32 = a.log2();
    pow_f32(a: f32, b: f32) -> f32 = a.powf(b);
    powi_f32(a: f32, b: i64) -> f32 = float::f32s::powi(a, b);
    tanh_f32(a: f32) -> f32 = a.tanh();
    erf_f32(a: f32) -> f32 = float::f32s::erf(a);
    cast_ui64_f64(a: i64) -> f64 = a.cast_unsigned() as f64;
    cast_f64_si32(a: f64) -> i32 = convert::f64_to_si32(a);
    cast_f64_ui32(a: f64) -> i32 = convert::f64_to_ui32(a);
    cast_f64_si64(a: f64) -> i64 = convert::f64_to_si64(a);
    cast_f64_ui64(a: f64) -> i64 = convert::f64_to_ui64(a);
    rem_f64(a: f64, b: f64) -> f64 = float::f64s::rem(a, b);
    ceil_f64(a: f64) -> f64 = float::f64s::ceil(a);
    floor_f64(a: f64) -> f64 = float::f64s::floor(a);
    round_f64(a: f64) -> f64 = a.round();
    round_even_f64(a: f64) -> f64 = float::f64s::round_even(a);
    atan_f64(a: f64) -> f64 = a.atan();
    atan2_f64(a: f64, b: f64) -> f64 = a.atan2(b);
    cos_f64(a: f64) -> f64 = a.cos();
    sin_f64(a: f64) -> f64 = a.sin();
    exp_f64(a: f64) -> f64 = a.exp();
    exp2_f64(a: f64) -> f64 = a.exp2();
    exp_m1_f64(a: f64) -> f64 = a.exp_m1();
    log_f64(a: f64) -> f64 = float::ln(a);
    log10_f64(a: f64) -> f64 = a.log10();
    log1p_f64(a: f64) -> f64 = a.ln_1p();
    log2_f64(a: f64) -> f64 = float::log2(a);
    pow_f64(a: f64, b: f64) -> f64 = a.powf(b);
    powi_f64(a: f64, b: i64) -> f64 = float::f64s::powi(a, b);
    tanh_f64(a: f64) -> f64 = a.tanh();
    erf_f64(a: f64) -> f64 = float::f64s::erf(a);
}
