//! Calls on the thread's own stack, for systems without a signal handler here: the same interface,
//! but nothing is paused, and a fault ends the process.

use std::convert::Infallible;
use std::io;

use crate::call::{Entry, Outcome};
use crate::fault::Registers;

/// The mode of calls. They run on the thread's own stack.
#[derive(Debug)]
pub struct Stack {
    is_flushing: bool,
}

/// Proof that this thread is ready for machine code, as every thread is here.
#[derive(Clone, Copy, Debug)]
pub struct Ready(());

impl Ready {
    /// Does nothing.
    ///
    /// # Errors
    /// None.
    pub fn this_thread() -> io::Result<Self> {
        Ok(Self(()))
    }
}

/// Machine code that stopped, which does not happen here.
#[derive(Debug)]
pub struct Stopped(Infallible);

impl Stack {
    /// A stack. Floating-point arithmetic on it flushes denormals to zero if `is_flushing`.
    ///
    /// # Errors
    /// None.
    pub fn new(is_flushing: bool) -> io::Result<Self> {
        Ok(Self { is_flushing })
    }

    /// Calls machine code.
    ///
    /// # Safety
    /// The entry is the address of a C function that takes these arguments, and is trusted.
    pub unsafe fn call(&mut self, _ready: Ready, entry: Entry) -> Outcome {
        // SAFETY: as the caller promises.
        Outcome::Returned(unsafe { call(entry, self.is_flushing) })
    }

    /// `None`: nothing stops here.
    #[must_use]
    pub fn into_stopped(self) -> Option<Stopped> {
        None
    }
}

impl Stopped {
    /// The processor's registers.
    #[must_use]
    pub fn registers(&self) -> Registers {
        match self.0 {}
    }

    /// Resumes it.
    ///
    /// # Safety
    /// None: this cannot be called.
    pub unsafe fn resume(self, _ready: Ready) -> (Stack, Outcome) {
        match self.0 {}
    }

    /// Keeps the frames.
    pub fn leak(self) {
        match self.0 {}
    }
}

/// Calls a function. The floating-point mode is changed, used and restored within one block of
/// assembly, so no Rust code ever runs in it.
#[cfg(target_arch = "aarch64")]
unsafe fn call(entry: Entry, is_flushing: bool) -> u64 {
    /// Flush-to-zero, of all floats and of 16-bit floats.
    const FLUSH: u64 = 1 << 24 | 1 << 19;
    let [mut result, second, third] = entry.arguments;
    // SAFETY: the caller vouches for the function. The registers are those of the procedure call
    // standard, which preserves x20 to x22. Everything that a function may change is declared as
    // changed.
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

/// Calls a function, likewise.
#[cfg(target_arch = "x86_64")]
unsafe fn call(entry: Entry, is_flushing: bool) -> u64 {
    /// Flush-to-zero and denormals-are-zero.
    const FLUSH: u32 = 1 << 15 | 1 << 6;
    let mut modes = [0_u32; 2];
    let [first, second, third] = entry.arguments;
    let mut result: u64;
    // SAFETY: the caller vouches for the function. The registers are those of the System V
    // convention. Everything that a function may change is declared as changed, and the
    // floating-point mode is restored at the end.
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

/// Calls a function, without changing the floating-point mode.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn call(entry: Entry, _is_flushing: bool) -> u64 {
    type Function = unsafe extern "C" fn(usize, usize, usize) -> u64;
    let [first, second, third] = entry.arguments;
    // SAFETY: the caller vouches for the function.
    let function: Function = unsafe { std::mem::transmute::<usize, Function>(entry.address) };
    // SAFETY: as above.
    unsafe { function(first, second, third) }
}
