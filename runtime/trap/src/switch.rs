//! The instructions that change stacks, and the record of a call, which the signal handler reads.
//!
//! # Soundness
//!
//! [`go`] saves the stack pointer and the two callee-saved registers that assembly may not name
//! (`rbx`, `rbp`), and declares every other register as changed. It can therefore be left at its
//! last label in two ways, with any values in the other registers: when the machine code returns,
//! and when the signal handler sends the thread there.
//!
//! It is never inlined, so there is only one landing. A call that is resumed later goes there when
//! it returns, and so returns to the code that resumed it: the landing reads the stack pointer from
//! the record, which the resuming call of [`go`] has overwritten.

use std::arch::{asm, naked_asm};
use std::cell::Cell;
use std::mem::offset_of;
use std::ops::Range;
use std::ptr::null_mut;

use crate::fault::Cause;

/// The thread is in Rust.
pub(crate) const OUTSIDE: u32 = 0;
/// The thread is in machine code.
pub(crate) const INSIDE: u32 = 1;
/// The thread is at the trap that asks the handler to go back into machine code.
pub(crate) const RESUMING: u32 = 2;

/// The default of MXCSR, the control register of floating-point arithmetic: all exceptions masked,
/// rounding to nearest.
const DEFAULT_MXCSR: u32 = 0x1F80;

/// The bits of MXCSR that flush denormals to zero: flush-to-zero and denormals-are-zero.
const FLUSH_DENORMALS: u32 = 1 << 15 | 1 << 6;

/// A call of machine code. It stays at its address from the call to the return, as a callee-saved
/// register holds the address meanwhile.
#[repr(C)]
pub(crate) struct Record {
    /// Rust's stack pointer, and the registers that assembly may not name.
    stack_pointer: usize,
    frame_pointer: usize,
    rbx: usize,
    /// The address where Rust continues.
    pub(crate) landing: usize,
    /// The MXCSR of Rust, and of the machine code.
    rust_control: u32,
    code_control: u32,
    /// The control word of x87 arithmetic, of Rust.
    rust_x87: u32,
    /// What FS points to, which is its own address.
    thread: usize,
    /// [`OUTSIDE`], [`INSIDE`] or [`RESUMING`].
    pub(crate) place: u32,
    pub(crate) stopped: Option<Cause>,
    pub(crate) context: Context,
    /// The addresses of the inaccessible pages below the stack.
    pub(crate) guard: Range<usize>,
}

/// The processor's registers when the machine code stopped.
pub(crate) struct Context {
    pub(crate) general: [i64; 23],
    /// Floating-point and vector registers, as the kernel lays them out.
    pub(crate) vectors: Vec<u8>,
    pub(crate) vector_bytes: usize,
}

impl Record {
    /// A record for calls on a stack with these inaccessible pages below it. `vector_bytes` is the
    /// room for the floating-point and vector registers of a signal frame. Floating-point
    /// arithmetic flushes denormals to zero if `is_flushing`.
    pub(crate) fn new(guard: Range<usize>, vector_bytes: usize, is_flushing: bool) -> Self {
        Self {
            stack_pointer: 0,
            frame_pointer: 0,
            rbx: 0,
            landing: 0,
            rust_control: 0,
            rust_x87: 0,
            thread: 0,
            code_control: if is_flushing { DEFAULT_MXCSR | FLUSH_DENORMALS } else { DEFAULT_MXCSR },
            place: OUTSIDE,
            stopped: None,
            context: Context { general: [0; 23], vectors: vec![0; vector_bytes], vector_bytes: 0 },
            guard,
        }
    }
}

thread_local! {
    /// The call that this thread is in. It is not initialised lazily and has no destructor, so a
    /// signal handler may read it.
    static CURRENT: Cell<*mut Record> = const { Cell::new(null_mut()) };
}

/// The call that this thread is in; null without one.
pub(crate) fn current() -> *mut Record {
    CURRENT.get()
}

/// Enters machine code at `entry` with a stack that ends at `stack_end`, or, if `entry` is 0,
/// resumes it where the record's context stopped. Returns when the machine code returns or stops,
/// with the value that it returned.
///
/// # Safety
/// `record` is valid and stays where it is until the machine code has returned. `entry` is a C
/// function of three addresses that may be called with these, or the record's context is one that
/// stopped and was not resumed. The stack is used by nothing else.
#[inline]
pub(crate) unsafe fn run(
    record: *mut Record,
    entry: usize,
    stack_end: usize,
    arguments: [usize; 3],
) -> u64 {
    if entry != 0 {
        // SAFETY: as the caller promises.
        unsafe { (*record).stopped = None };
    }
    // A call within a call: a callback of foreign code that calls machine code.
    let outer = CURRENT.replace(record);
    // SAFETY: as the caller promises.
    let result = unsafe { go(record, entry, stack_end, arguments) };
    CURRENT.set(outer);
    result
}

#[inline(never)]
unsafe fn go(
    record: *mut Record,
    entry: usize,
    stack_end: usize,
    [first, second, third]: [usize; 3],
) -> u64 {
    let mut result: u64;
    // SAFETY: the caller vouches for `entry`, and for the stack being free. Everything that a C
    // function may change, and every register that a stop leaves with other values, is declared as
    // changed or is restored at the end: see the top of the file.
    unsafe {
        asm!(
            "mov [r12 + {stack_pointer}], rsp",
            "mov [r12 + {frame_pointer}], rbp",
            "mov [r12 + {rbx}], rbx",
            "lea rax, [rip + 4f]",
            "mov [r12 + {landing}], rax",
            "stmxcsr [r12 + {rust_control}]",
            "fnstcw word ptr [r12 + {rust_x87}]",
            "mov rax, fs:[0]",
            "mov [r12 + {thread}], rax",
            "test r13, r13",
            "jz 2f",
            "ldmxcsr [r12 + {code_control}]",
            "mov rsp, r14",
            "jmp {base}",
            // The signal handler moves the thread from here into the machine code.
            "2:",
            "mov dword ptr [r12 + {place}], {resuming}",
            "ud2",
            "4:",
            "mov rsp, [r12 + {stack_pointer}]",
            "mov rbp, [r12 + {frame_pointer}]",
            "mov rbx, [r12 + {rbx}]",
            "ldmxcsr [r12 + {rust_control}]",
            // The x87 stack is empty in Rust.
            "emms",
            "fldcw word ptr [r12 + {rust_x87}]",
            "cld",
            stack_pointer = const offset_of!(Record, stack_pointer),
            frame_pointer = const offset_of!(Record, frame_pointer),
            rbx = const offset_of!(Record, rbx),
            landing = const offset_of!(Record, landing),
            rust_control = const offset_of!(Record, rust_control),
            rust_x87 = const offset_of!(Record, rust_x87),
            thread = const offset_of!(Record, thread),
            code_control = const offset_of!(Record, code_control),
            place = const offset_of!(Record, place),
            resuming = const RESUMING,
            base = sym base,
            inout("r12") record => _,
            inout("r13") entry => _,
            inout("r14") stack_end => _,
            out("r15") _,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            lateout("rax") result,
            clobber_abi("sysv64"),
        );
    }
    result
}

/// Clears the flags with which instructions of a signal handler could fault: the kernel clears the
/// others.
pub(crate) fn clear_flags() {
    // SAFETY: Rust needs none of the flags that this clears, alignment checks and nested tasks.
    unsafe { asm!("push 2", "popfq") };
}

/// The first frame on a stack: calls `r13` for the record in `r12`, then goes to the landing. It is
/// marked as the outermost frame: a walk of the stack, as for a C++ exception, ends here.
#[unsafe(naked)]
unsafe extern "C" fn base() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        // The machine code gets no other register that has meant something to Rust. What it may not
        // change is on its stack, twice, so that the stack stays aligned.
        "push r12",
        "push r12",
        "mov dword ptr [r12 + {place}], {inside}",
        "mov rax, r13",
        "xor ebp, ebp",
        "xor ebx, ebx",
        "xor ecx, ecx",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        "xor r12d, r12d",
        "xor r13d, r13d",
        "xor r14d, r14d",
        "xor r15d, r15d",
        "call rax",
        "mov r12, [rsp]",
        // All flags that are not results of arithmetic are as in Rust again.
        "push 2",
        "popfq",
        // Here a wrong FS is a fault of the machine code; a moment later it would be one of Rust.
        "mov rcx, fs:[0]",
        "cmp rcx, [r12 + {thread}]",
        "jne 2f",
        "mov dword ptr [r12 + {place}], {outside}",
        "jmp qword ptr [r12 + {landing}]",
        "2:",
        "ud2",
        ".cfi_endproc",
        thread = const offset_of!(Record, thread),
        place = const offset_of!(Record, place),
        landing = const offset_of!(Record, landing),
        inside = const INSIDE,
        outside = const OUTSIDE,
    )
}
