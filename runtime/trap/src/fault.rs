//! Why machine code stopped, and what the processor held then.

use std::fmt;

/// Why a call did not return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Somebody asked for it.
    Pause,
    /// It cannot go on.
    Fault(Fault),
}

/// What machine code did wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind, named by the signal.
    pub kind: FaultKind,
    /// The address that it wanted, if the processor tells.
    pub address: Option<usize>,
    /// What it wanted there.
    pub access: Option<Access>,
}

/// The kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// Memory that is not there, or not allowed (SIGSEGV).
    Memory,
    /// Memory of a file that has become shorter, or an address that is not aligned (SIGBUS).
    Bus,
    /// A division by zero, or one whose quotient does not fit (SIGFPE).
    Arithmetic,
    /// Bytes that are no instruction of this processor (SIGILL).
    IllegalInstruction,
    /// A breakpoint instruction, which compilers put where control cannot come (SIGTRAP).
    Trap,
    /// A call of `abort`, as a failed assertion makes it (SIGABRT).
    Abort,
    /// The stack is used up.
    StackOverflow,
}

/// What was wanted of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Its bytes.
    Read,
    /// To change its bytes.
    Write,
    /// To run what is there.
    Execute,
}

/// General registers and the program counter, by the processor's names for them.
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
