//! A stack for machine code, and calls on it.

use std::ffi::c_void;
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

use crate::call::{Entry, Outcome};
use crate::fault::Registers;
use crate::signals;
use crate::switch::{self, Record};

/// The size of a stack in bytes: the default of a main thread. Untouched pages take no memory.
const STACK_BYTES: usize = 8 << 20;

/// The size of the inaccessible pages below it, in bytes: more than a function takes at once
/// without probing.
const GUARD_BYTES: usize = 1 << 20;

/// A stack that machine code can run on.
#[derive(Debug)]
pub struct Stack {
    /// The mapping, the guard first.
    mapping: NonNull<c_void>,
    record: NonNull<Record>,
}

// SAFETY: a stack owns its memory. The caller of `resume` vouches that machine code which stopped
// on it may continue on another thread.
unsafe impl Send for Stack {}

/// Proof that this thread is ready for machine code. It stays on its thread.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    _stays: PhantomData<*const ()>,
}

impl Ready {
    /// Makes this thread ready. The first call prepares the process: signals of faults are handled
    /// from then on.
    ///
    /// # Errors
    /// The system does not install the signal handler or its stack.
    pub fn this_thread() -> io::Result<Self> {
        signals::install()?;
        Ok(Self { _stays: PhantomData })
    }
}

/// Machine code that stopped.
#[derive(Debug)]
pub struct Stopped(Stack);

impl Stack {
    /// A new stack. Floating-point arithmetic on it flushes denormals to zero if `is_flushing`.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(is_flushing: bool) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        let bytes = GUARD_BYTES + STACK_BYTES;
        // SAFETY: a new mapping at an address that the system chooses.
        let mapping = unsafe { rustix::mm::mmap_anonymous(null_mut(), bytes, rights, flags)? };
        let mapping = NonNull::new(mapping).ok_or(io::ErrorKind::OutOfMemory)?;
        let guard_start = mapping.as_ptr().expose_provenance();
        let guard = guard_start..guard_start + GUARD_BYTES;
        let record = Box::new(Record::new(guard, signals::vector_state_bytes(), is_flushing));
        // From here on, an error frees the mapping.
        let stack = Self { mapping, record: NonNull::from(Box::leak(record)) };
        // SAFETY: the start of the mapping above, which nothing uses yet.
        unsafe { rustix::mm::mprotect(mapping.as_ptr(), GUARD_BYTES, MprotectFlags::empty())? };
        Ok(stack)
    }

    /// Calls machine code. Machine code that stopped on this stack before is abandoned, with its
    /// frames.
    ///
    /// # Safety
    /// The entry is the address of a C function that takes these arguments, and is trusted. The
    /// data that it uses lives until it has returned or, if it stops, until it is abandoned. If it
    /// calls back into Rust and stops there, the stack must be leaked.
    #[inline]
    pub unsafe fn call(&mut self, _ready: Ready, entry: Entry) -> Outcome {
        let end = self.mapping.as_ptr().expose_provenance() + GUARD_BYTES + STACK_BYTES;
        let record = self.record.as_ptr();
        // SAFETY: the caller vouches for the function; frames that are left on the stack are never
        // used again.
        let result = unsafe { switch::run(record, entry.address, end, entry.arguments) };
        self.outcome(result)
    }

    #[inline]
    fn outcome(&self, result: u64) -> Outcome {
        // SAFETY: the record is this stack's own, and the call on it has returned or stopped.
        match unsafe { (*self.record.as_ptr()).stopped } {
            None => Outcome::Returned(result),
            Some(cause) => Outcome::Stopped(cause),
        }
    }

    /// The machine code of the last call, if it has stopped; `None` if it has returned.
    #[must_use]
    pub fn into_stopped(self) -> Option<Stopped> {
        // SAFETY: the record is this stack's own, and no call runs on it.
        unsafe { (*self.record.as_ptr()).stopped }.map(|_| Stopped(self))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: record and mapping were made in `new`, by `Box::leak` and `mmap`; no call runs on
        // the stack.
        unsafe {
            drop(Box::from_raw(self.record.as_ptr()));
            // `munmap` fails only for invalid ranges.
            let _ = rustix::mm::munmap(self.mapping.as_ptr(), GUARD_BYTES + STACK_BYTES);
        }
    }
}

impl Stopped {
    /// The processor's registers.
    #[must_use]
    pub fn registers(&self) -> Registers {
        // SAFETY: the record is this stack's own, and the call on it has stopped.
        let general = unsafe { &(*self.0.record.as_ptr()).context.general };
        Registers::in_order(
            REGISTERS.iter().map(|(_, register)| general[*register as usize] as u64),
        )
    }

    /// Resumes it after a pause. After a fault the same instruction is tried again.
    ///
    /// # Safety
    /// Everything that was promised for the call still holds, and the machine code may continue on
    /// this thread.
    pub unsafe fn resume(self, _ready: Ready) -> (Stack, Outcome) {
        let stack = self.0;
        // SAFETY: the record's context is one that stopped, and it is consumed with `self`.
        let result = unsafe { switch::run(stack.record.as_ptr(), 0, 0, [0; 3]) };
        let outcome = stack.outcome(result);
        (stack, outcome)
    }

    /// Keeps the frames for ever, like those of a sleeping thread: what they own is never dropped.
    pub fn leak(self) {
        let _ = ManuallyDrop::new(self.0);
    }
}

impl Registers {
    /// Registers with these values, in the order in which debuggers list them; what is missing is
    /// left out.
    #[must_use]
    pub fn in_order(values: impl IntoIterator<Item = u64>) -> Self {
        let names = REGISTERS.iter().map(|(name, _)| *name);
        let general: Vec<_> = names.zip(values).collect();
        let value = |name| general.iter().find(|it| it.0 == name).map_or(0, |it| it.1 as usize);
        Self { program_counter: value("rip"), stack_pointer: value("rsp"), general }
    }
}

/// The registers, as debuggers list them.
const REGISTERS: [(&str, i32); 18] = [
    ("rax", libc::REG_RAX),
    ("rbx", libc::REG_RBX),
    ("rcx", libc::REG_RCX),
    ("rdx", libc::REG_RDX),
    ("rsi", libc::REG_RSI),
    ("rdi", libc::REG_RDI),
    ("rbp", libc::REG_RBP),
    ("rsp", libc::REG_RSP),
    ("r8", libc::REG_R8),
    ("r9", libc::REG_R9),
    ("r10", libc::REG_R10),
    ("r11", libc::REG_R11),
    ("r12", libc::REG_R12),
    ("r13", libc::REG_R13),
    ("r14", libc::REG_R14),
    ("r15", libc::REG_R15),
    ("rip", libc::REG_RIP),
    ("eflags", libc::REG_EFL),
];

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
