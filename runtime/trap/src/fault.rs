//! Why machine code stopped, and the processor's registers at that time.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a call did not return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A pause was requested.
    Pause,
    /// It faulted and cannot continue.
    Fault(Fault),
}

/// A fault of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// The kind of fault, which follows from the signal.
    pub kind: FaultKind,
    /// The address that was accessed, if the processor reports it.
    pub address: Option<usize>,
    /// How it was accessed.
    pub access: Option<Access>,
}

/// The kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    /// A system call that a sandbox does not allow, by its number (SIGSYS).
    SystemCall(u32),
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
            FaultKind::SystemCall(number) => return write_system_call(number, f),
        };
        f.write_str(what)
    }
}

fn write_system_call(number: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let known = SYSTEM_CALLS.iter().find(|(known, _)| *known == number);
    let name = known.map_or_else(String::new, |(_, name)| format!(" ({name})"));
    write!(f, "system call {number}{name}, which the sandbox does not allow")
}

/// What machine code is most likely to try: numbers of Linux on x86-64, which do not change.
const SYSTEM_CALLS: [(u32, &str); 28] = [
    (0, "read"),
    (1, "write"),
    (2, "open"),
    (3, "close"),
    (9, "mmap"),
    (13, "rt_sigaction"),
    (16, "ioctl"),
    (28, "madvise"),
    (39, "getpid"),
    (41, "socket"),
    (42, "connect"),
    (56, "clone"),
    (57, "fork"),
    (58, "vfork"),
    (59, "execve"),
    (60, "exit"),
    (62, "kill"),
    (77, "ftruncate"),
    (87, "unlink"),
    (101, "ptrace"),
    (157, "prctl"),
    (158, "arch_prctl"),
    (231, "exit_group"),
    (234, "tgkill"),
    (257, "openat"),
    (310, "process_vm_readv"),
    (311, "process_vm_writev"),
    (435, "clone3"),
];

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
