//! Calls of C functions whose parameter types are known only at run time.
//!
//! On the supported platforms, integers and floats take registers of their own kinds, in order, and
//! the remaining arguments go to the stack in words of 8 bytes. So one prototype with all
//! registers, and then words on the stack, fits any function of scalars and addresses: a function
//! ignores the registers that it does not use, and the caller cleans the stack.
//!
//! # Soundness
//!
//! [`call`] is unsafe: the caller vouches for the address, the types and the effects of the
//! function.

use std::ffi::c_void;

/// One argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Argument {
    /// An integer or an address, extended to 64 bits.
    Integer(u64),
    /// The bits of a float, in the low bits.
    Float(u64),
}

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// Nothing.
    Nothing,
    /// An integer or an address.
    Integer,
    /// A float.
    Float,
}

/// The most words on the stack of a call. They are passed as a struct by value, which lies there as
/// it is. 64-bit Arm passes large structs by address, so calls there have register arguments only.
#[cfg(target_arch = "x86_64")]
const STACK: usize = 48;
#[cfg(not(target_arch = "x86_64"))]
const STACK: usize = 0;

#[cfg(target_arch = "x86_64")]
const INTEGERS: usize = 6;
#[cfg(not(target_arch = "x86_64"))]
const INTEGERS: usize = 8;
const FLOATS: usize = 8;

/// Whether calls are supported here. The conventions of other platforms have not been tested.
pub(crate) const IS_SUPPORTED: bool =
    cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")));

#[cfg(target_arch = "x86_64")]
#[repr(C)]
#[derive(Clone, Copy)]
struct Stack([u64; STACK]);

/// Arguments sorted into registers and stack.
struct Sorted {
    integers: [u64; INTEGERS],
    floats: [f64; FLOATS],
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    stack: [u64; STACK],
}

impl Sorted {
    /// Sorts arguments; `None` if there are too many.
    fn new(arguments: &[Argument]) -> Option<Self> {
        let mut sorted = Self { integers: [0; INTEGERS], floats: [0.0; FLOATS], stack: [0; STACK] };
        let (mut integers, mut floats, mut stack) = (0, 0, 0);
        for argument in arguments {
            let word = match *argument {
                Argument::Integer(word) if integers < INTEGERS => {
                    sorted.integers[integers] = word;
                    integers += 1;
                    continue;
                }
                Argument::Float(bits) if floats < FLOATS => {
                    sorted.floats[floats] = f64::from_bits(bits);
                    floats += 1;
                    continue;
                }
                Argument::Integer(word) | Argument::Float(word) => word,
            };
            *sorted.stack.get_mut(stack)? = word;
            stack += 1;
        }
        Some(sorted)
    }
}

/// Whether [`call`] can pass these.
pub(crate) fn can_pass(arguments: &[Argument]) -> bool {
    IS_SUPPORTED && Sorted::new(arguments).is_some()
}

#[cfg(target_arch = "x86_64")]
macro_rules! universal {
    ($function:expr, $result:ty, $sorted:expr) => {{
        type Universal = unsafe extern "C" fn(
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
            Stack,
        ) -> $result;
        let Sorted { integers: [a, b, c, d, e, f], floats: [s, t, u, v, w, x, y, z], stack } =
            $sorted;
        // SAFETY: an address of code is a function pointer on this platform; the caller vouches for
        // it.
        let function = unsafe { std::mem::transmute::<*const c_void, Universal>($function) };
        // SAFETY: the prototype fits, see the top of the file; the caller vouches for the rest.
        unsafe { function(a, b, c, d, e, f, s, t, u, v, w, x, y, z, Stack(stack)) }
    }};
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! universal {
    ($function:expr, $result:ty, $sorted:expr) => {{
        type Universal = unsafe extern "C" fn(
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
        ) -> $result;
        let Sorted { integers: [a, b, c, d, e, f, g, h], floats: [s, t, u, v, w, x, y, z], .. } =
            $sorted;
        // SAFETY: an address of code is a function pointer on this platform; the caller vouches for
        // it.
        let function = unsafe { std::mem::transmute::<*const c_void, Universal>($function) };
        // SAFETY: the prototype fits, see the top of the file; the caller vouches for the rest.
        unsafe { function(a, b, c, d, e, f, g, h, s, t, u, v, w, x, y, z) }
    }};
}

/// Calls a function. Returns the bits of its result, 0 if it has none; `None` if there are too many
/// arguments.
///
/// # Safety
/// `function` is the address of a C function that takes these arguments and returns such a result,
/// and it may be called now.
pub(crate) unsafe fn call(
    function: *const c_void,
    arguments: &[Argument],
    returns: Returns,
) -> Option<u64> {
    let sorted = Sorted::new(arguments).filter(|_| IS_SUPPORTED)?;
    Some(match returns {
        Returns::Nothing => {
            universal!(function, (), sorted);
            0
        }
        Returns::Integer => universal!(function, u64, sorted),
        Returns::Float => universal!(function, f64, sorted).to_bits(),
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use super::{Argument, Returns, call};

    extern "C" fn mixed(
        a: i32,
        x: f32,
        b: i64,
        y: f64,
        c: u8,
        d: i64,
        e: i64,
        f: i64,
        g: i64,
        z: f32,
        h: i64,
    ) -> f64 {
        [i64::from(a), b, i64::from(c), d, e, f, g, h]
            .iter()
            .fold(0.0, |sum, part| sum * 2.0 + *part as f64)
            + f64::from(x)
            + y
            + f64::from(z)
    }

    #[test]
    fn arguments_arrive_in_registers_and_on_the_stack() {
        let integer = |value: i64| Argument::Integer(value.cast_unsigned());
        let f32 = |value: f32| Argument::Float(value.to_bits().into());
        let arguments = [
            integer(-1),
            f32(0.5),
            integer(2),
            Argument::Float(0.25_f64.to_bits()),
            integer(3),
            integer(4),
            integer(5),
            integer(6),
            integer(7),
            f32(0.125),
            integer(8),
        ];
        // SAFETY: the arguments have the types of the function.
        let bits = unsafe { call(mixed as *const c_void, &arguments, Returns::Float) };
        if cfg!(target_arch = "x86_64") {
            assert_eq!(
                bits.map(f64::from_bits),
                Some(mixed(-1, 0.5, 2, 0.25, 3, 4, 5, 6, 7, 0.125, 8))
            );
        }
        let many = vec![Argument::Integer(0); 100];
        // SAFETY: it is not called.
        assert_eq!(unsafe { call(mixed as *const c_void, &many, Returns::Nothing) }, None);
    }
}
