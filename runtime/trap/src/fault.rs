//! Why machine code stopped, and the processor's registers at that time.

use std::fmt;

/// Why a call did not return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A pause was requested.
    Pause,
    /// It faulted and cannot continue.
    Fault(Fault),
}

/// A fault of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind of fault, which follows from the signal.
    pub kind: FaultKind,
    /// The address that was accessed, if the processor reports it.
    pub address: Option<usize>,
    /// How it was accessed.
    pub access: Option<Access>,
}

/// The kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// An access to memory that is not mapped, or not allowed (SIGSEGV).
    Memory,
    /// An access to a mapped file after its end, or to an address that is not aligned (SIGBUS).
    Bus,
    /// A division by zero, or with a quotient that does not fit (SIGFPE).
    Arithmetic,
    /// Bytes that are not an instruction of this processor (SIGILL).
    IllegalInstruction,
    /// A breakpoint instruction, which compilers put into unreachable code (SIGTRAP).
    Trap,
    /// A call of `abort`, as by a failed assertion (SIGABRT).
    Abort,
    /// The stack is full.
    StackOverflow,
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Executing.
    Execute,
}

/// General registers and the program counter, under the processor's names for them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    /// The program counter.
    pub program_counter: usize,
    /// The stack pointer.
    pub stack_pointer: usize,
    /// All general registers, in the order in which debuggers list them.
    pub general: Vec<(&'static str, u64)>,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "jump",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FaultKind::Memory | FaultKind::Bus => return self.write_access(f),
            FaultKind::Arithmetic => "integer division by zero, or without a quotient that fits",
            FaultKind::IllegalInstruction => "illegal instruction",
            FaultKind::Trap => "trap instruction",
            FaultKind::Abort => "call of abort",
            FaultKind::StackOverflow => "stack overflow",
        };
        f.write_str(what)
    }
}

impl Fault {
    fn write_access(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.access {
            Some(access) => write!(f, "{access} of ")?,
            None => write!(f, "use of ")?,
        }
        match self.address {
            Some(address) => write!(f, "address {address:#x}")?,
            None => f.write_str("an address that no memory can have")?,
        }
        if self.kind == FaultKind::Bus {
            f.write_str(", whose file is shorter now or which is not aligned")?;
        }
        Ok(())
    }
}
