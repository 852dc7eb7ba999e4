//! Calls on the thread's own stack, for systems that this crate does not know: the same interface,
//! without pauses, and a fault ends the process.

use std::convert::Infallible;
use std::io;

use crate::fault::{Cause, Registers};

/// What to call.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The address of a C function.
    pub address: usize,
    /// Its arguments, as addresses.
    pub arguments: [usize; 3],
}

/// Nothing: the thread's own stack is used.
#[derive(Debug)]
pub struct Stack(());

/// How a call came out.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// It returned a value.
    Returned(Stack, u64),
    /// Cannot be.
    Stopped(Stopped),
}

/// Cannot be.
#[derive(Debug)]
pub struct Stopped(Infallible);

impl Stack {
    /// Nothing.
    ///
    /// # Errors
    /// None.
    pub fn new() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Calls machine code.
    ///
    /// # Errors
    /// None.
    ///
    /// # Safety
    /// The address is that of a C function that takes these arguments, and it is trusted.
    pub unsafe fn call(self, entry: Entry, is_flushing: bool) -> io::Result<Outcome> {
        // SAFETY: as the caller promises.
        let result = unsafe { call(entry, is_flushing) };
        Ok(Outcome::Returned(self, result))
    }
}

impl Stopped {
    /// Why it stopped.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self.0 {}
    }

    /// What the processor held.
    #[must_use]
    pub fn registers(&self) -> Registers {
        match self.0 {}
    }

    /// Goes on.
    ///
    /// # Errors
    /// None.
    ///
    /// # Safety
    /// There is nothing to promise.
    pub unsafe fn resume(self) -> io::Result<Outcome> {
        match self.0 {}
    }

    /// Gives the machine code up.
    #[must_use]
    pub fn abandon(self) -> Stack {
        match self.0 {}
    }

    /// Keeps the frames.
    pub fn leak(self) {
        match self.0 {}
    }
}

/// On 64-bit Arm the floating-point mode is changed, used and restored within one block of assembly,
/// so no Rust code ever runs in it.
#[cfg(target_arch = "aarch64")]
unsafe fn call(entry: Entry, is_flushing: bool) -> u64 {
    /// Flush-to-zero, of all floats and of those of 16 bits.
    const FLUSH: u64 = 1 << 24 | 1 << 19;
    let [mut result, second, third] = entry.arguments;
    // SAFETY: the caller says what is at the address. The registers are those of the procedure call
    // standard, which keeps x20 to x22 over a call. Everything that a function may change is declared
    // as changed.
    unsafe {
        std::arch::asm!(
            "mrs x20, fpcr",
            "orr x21, x20, x21",
            "msr fpcr, x21",
            "blr x22",
            "msr fpcr, x20",
            out("x20") _,
            inout("x21") if is_flushing { FLUSH } else { 0 } => _,
            in("x22") entry.address,
            inlateout("x0") result,
            in("x1") second,
            in("x2") third,
            clobber_abi("C"),
        );
    }
    result as u64
}

/// On x86-64, likewise.
#[cfg(target_arch = "x86_64")]
unsafe fn call(entry: Entry, is_flushing: bool) -> u64 {
    /// Flush-to-zero and denormals-are-zero.
    const FLUSH: u32 = 1 << 15 | 1 << 6;
    let mut modes = [0_u32; 2];
    let [first, second, third] = entry.arguments;
    let mut result: u64;
    // SAFETY: the caller says what is at the address. The registers are those of the System V
    // convention. Everything that a function may change is declared as changed, and the
    // floating-point mode at the end is that of the beginning.
    unsafe {
        std::arch::asm!(
            "stmxcsr [r12]",
            "mov eax, [r12]",
            "or eax, r14d",
            "mov [r12 + 4], eax",
            "ldmxcsr [r12 + 4]",
            "call r13",
            "ldmxcsr [r12]",
            in("r12") modes.as_mut_ptr(),
            in("r13") entry.address,
            in("r14") if is_flushing { FLUSH } else { 0 },
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            lateout("rax") result,
            clobber_abi("sysv64"),
        );
    }
    result
}

/// Elsewhere the mode stays what it is.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn call(entry: Entry, _is_flushing: bool) -> u64 {
    type Function = unsafe extern "C" fn(usize, usize, usize) -> u64;
    let [first, second, third] = entry.arguments;
    // SAFETY: the caller says what is at the address.
    let function: Function = unsafe { std::mem::transmute::<usize, Function>(entry.address) };
    // SAFETY: as above.
    unsafe { function(first, second, third) }
}
