//! The signal handler.
//!
//! It is installed once for the process, by the first call of machine code. Signals that are not
//! faults of machine code on *this thread* go to the previous handler, such as that of the standard
//! library, which reports stack overflows, or of Python.
//!
//! # Soundness
//!
//! The handler runs between any two instructions of the machine code, so it uses only what is safe
//! in a signal handler: the thread's current [`Record`], whose memory was allocated before the
//! call, and the context that the kernel passes. It allocates nothing, locks nothing, and calls
//! nothing but the previous handler.
//!
//! It touches the record only while the thread is in machine code or at the trap of a resume. At
//! those times the Rust code that owns the record waits in [`crate::switch::run`].

use std::ffi::c_void;
use std::mem::{MaybeUninit, zeroed};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, OnceLock};
use std::{cell::Cell, io};

use crate::chain::{self, PreviousAction};
use crate::fault::{Access, Cause, Fault, FaultKind};
use crate::switch::{self, INSIDE, OUTSIDE, RESUMING, Record};
use crate::thread_pointer;

/// The signals of faults.
const FAULTS: [i32; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
];

/// The signal that pauses a thread in machine code. The system ignores it unless it is handled, and
/// libraries do not use it.
pub(crate) const PAUSE: i32 = libc::SIGURG;

/// The flags that Rust takes as they are: results of arithmetic, and that interrupts are enabled.
/// Others trap after each instruction or at unaligned addresses, or turn string instructions round.
const ARITHMETIC_FLAGS: i64 = 0xAD7;

/// The previous actions of [`FAULTS`], in that order.
static PREVIOUS: OnceLock<Vec<PreviousAction>> = OnceLock::new();

/// Installs the handler for the process and a stack for it in this thread, once each.
///
/// # Errors
/// The system does not install them.
pub(crate) fn install() -> io::Result<()> {
    if PREVIOUS.get().is_none() {
        install_handlers()?;
    }
    if !HAS_SIGNAL_STACK.get() {
        ensure_signal_stack()?;
        HAS_SIGNAL_STACK.set(true);
    }
    thread_pointer::note();
    Ok(())
}

fn install_handlers() -> io::Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    if PREVIOUS.get().is_some() {
        return Ok(());
    }
    let mut previous = Vec::with_capacity(FAULTS.len());
    for signal in FAULTS {
        previous.push(PreviousAction::of(signal)?);
    }
    // Set before the first signal can come.
    let _ = PREVIOUS.set(previous);
    for signal in FAULTS.into_iter().chain([PAUSE]) {
        // SAFETY: the handler does what signal handlers may do: see the top of the file.
        unsafe { chain::install(signal, handle)? };
    }
    Ok(())
}

thread_local! {
    static HAS_SIGNAL_STACK: Cell<bool> = const { Cell::new(false) };
}

/// Gives this thread a stack for signal handlers if it has none: the standard library gives its
/// threads one, other languages do not. The stack is never freed, as a signal may come until the
/// very end of the thread.
fn ensure_signal_stack() -> io::Result<()> {
    // SAFETY: all zeros is a valid `stack_t`.
    let mut stack: libc::stack_t = unsafe { zeroed() };
    // SAFETY: only reads the present setting.
    if unsafe { libc::sigaltstack(null(), &raw mut stack) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if stack.ss_flags & libc::SS_DISABLE == 0 {
        return Ok(());
    }
    let size = libc::SIGSTKSZ.max(minimum_signal_stack()) + (32 << 10);
    let memory: &'static mut [MaybeUninit<u8>] = Box::leak(Box::new_uninit_slice(size));
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: size };
    // SAFETY: the memory is leaked, and nothing else uses it.
    if unsafe { libc::sigaltstack(&raw const stack, null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The size of a signal frame on this processor, in bytes; 0 if unknown.
fn minimum_signal_stack() -> usize {
    // SAFETY: reads the auxiliary vector; a missing entry gives 0.
    unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) as usize }
}

/// Enough bytes for the floating-point and vector registers in a signal frame: the size of the
/// whole frame.
pub(crate) fn vector_state_bytes() -> usize {
    minimum_signal_stack().max(16 << 10)
}

/// Handles a signal.
unsafe extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // What the interrupted code has left in these could make the handler itself fault.
    switch::clear_flags();
    thread_pointer::restore();
    let record = switch::current();
    // SAFETY: the context is the handler's until it returns. The record is valid while it is
    // current, and its owner waits meanwhile: see the top of the file.
    let is_handled = !record.is_null()
        && unsafe {
            let context = context.cast::<libc::ucontext_t>();
            match (*record).place {
                INSIDE => stop(&mut *record, signal, &*info, &mut *context),
                RESUMING if signal == libc::SIGILL => {
                    resume(&mut *record, &mut *context);
                    true
                }
                _ => false,
            }
        };
    let index = FAULTS.iter().position(|fault| *fault == signal);
    let previous = PREVIOUS.get().zip(index).and_then(|(all, index)| all.get(index));
    if !is_handled && let Some(previous) = previous {
        // SAFETY: these are the arguments that the kernel passed.
        unsafe { previous.pass_on(signal, info, context) };
    }
}

/// Leaves machine code: saves the processor's registers, and sends the thread to its landing.
/// Returns whether the signal came from machine code.
unsafe fn stop(
    record: &mut Record,
    signal: i32,
    info: &libc::siginfo_t,
    context: &mut libc::ucontext_t,
) -> bool {
    let Some(cause) = cause(record, signal, info, context) else { return false };
    record.stopped = Some(cause);
    record.context.general = context.uc_mcontext.gregs;
    let vectors = context.uc_mcontext.fpregs.cast::<u8>();
    // SAFETY: the kernel's pointer to the registers that it saved.
    let bytes = unsafe { vector_bytes(vectors) }.min(record.context.vectors.len());
    record.context.vector_bytes = bytes;
    // SAFETY: the kernel saved at least that many bytes, and the copy has room for them.
    unsafe { std::ptr::copy_nonoverlapping(vectors, record.context.vectors.as_mut_ptr(), bytes) };
    // Rust expects the x87 stack to be empty: the default control word, and 0 for status and tags.
    // SAFETY: these are the first bytes of the saved registers.
    unsafe { vectors.cast::<[u8; 5]>().write([0x7F, 0x03, 0, 0, 0]) };
    record.place = OUTSIDE;
    let registers = &mut context.uc_mcontext.gregs;
    registers[libc::REG_EFL as usize] &= ARITHMETIC_FLAGS;
    registers[libc::REG_RIP as usize] = record.landing as i64;
    registers[libc::REG_R12 as usize] = (&raw mut *record).expose_provenance() as i64;
    true
}

/// Goes back into machine code, with all registers as they were.
unsafe fn resume(record: &mut Record, context: &mut libc::ucontext_t) {
    let vectors = context.uc_mcontext.fpregs.cast::<u8>();
    // SAFETY: the kernel's pointer to the registers that it saved.
    let bytes = unsafe { vector_bytes(vectors) }.min(record.context.vector_bytes);
    // SAFETY: the kernel's area has at least that many bytes. Their layout is that of the copied
    // ones, as it depends only on the processor.
    unsafe { std::ptr::copy_nonoverlapping(record.context.vectors.as_ptr(), vectors, bytes) };
    context.uc_mcontext.gregs = record.context.general;
    record.stopped = None;
    record.place = INSIDE;
}

/// The size of the floating-point and vector registers in a signal frame: 512 bytes of `fxsave`, or
/// the size that the kernel notes in the bytes that `fxsave` reserves for software.
unsafe fn vector_bytes(state: *const u8) -> usize {
    const LEGACY: usize = 512;
    const MAGIC: u32 = 0x4650_5853;
    const NOTE: usize = 464;
    // SAFETY: the caller's pointer is to at least the 512 bytes of `fxsave`, which contain the
    // note.
    let [magic, size] = unsafe { state.add(NOTE).cast::<[u32; 2]>().read_unaligned() };
    if magic == MAGIC { size as usize } else { LEGACY }
}

/// The cause of a signal in machine code; `None` if another process or thread sent it.
fn cause(
    record: &Record,
    signal: i32,
    info: &libc::siginfo_t,
    context: &libc::ucontext_t,
) -> Option<Cause> {
    if signal == PAUSE {
        return Some(Cause::Pause);
    }
    // Signals that were sent, except by `abort`, which sends one to its own thread.
    if info.si_code <= 0 && signal != libc::SIGABRT {
        return None;
    }
    let mut fault = Fault { kind: FaultKind::Memory, address: None, access: None };
    fault.kind = match signal {
        libc::SIGSEGV => FaultKind::Memory,
        libc::SIGBUS => FaultKind::Bus,
        libc::SIGFPE => FaultKind::Arithmetic,
        libc::SIGILL => FaultKind::IllegalInstruction,
        libc::SIGTRAP => FaultKind::Trap,
        libc::SIGSYS => FaultKind::SystemCall(system_call(info)),
        _ => FaultKind::Abort,
    };
    if matches!(fault.kind, FaultKind::Memory | FaultKind::Bus) {
        // An address that is not canonical raises a general protection fault, which has no address.
        const SI_KERNEL: i32 = 0x80;
        // SAFETY: the field is valid for these signals.
        let address = unsafe { info.si_addr() }.addr();
        if info.si_code != SI_KERNEL {
            fault.address = Some(address);
            fault.access = Some(access(context.uc_mcontext.gregs[libc::REG_ERR as usize]));
        }
        let stack_pointer = context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize;
        if record.guard.contains(&address) || record.guard.contains(&stack_pointer) {
            fault.kind = FaultKind::StackOverflow;
        }
    }
    Some(Cause::Fault(fault))
}

/// The number of the system call that a filter (seccomp) has not let through.
fn system_call(info: &libc::siginfo_t) -> u32 {
    /// `_call_addr`, `_syscall` and `_arch`, after three numbers and a gap.
    const OFFSET: usize = 24;
    const { assert!(OFFSET + size_of::<u32>() <= size_of::<libc::siginfo_t>()) };
    // SAFETY: the number is within the structure, whose bits all have values.
    unsafe { (&raw const *info).byte_add(OFFSET).cast::<u32>().read() }
}

/// The access of a page fault, by the processor's error code.
fn access(error: i64) -> Access {
    match error {
        _ if error & 1 << 4 != 0 => Access::Execute,
        _ if error & 1 << 1 != 0 => Access::Write,
        _ => Access::Read,
    }
}
