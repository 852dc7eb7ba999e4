//! The register FS, by which a thread finds all that is its own. Machine code that changes it would
//! leave a signal handler without the thread's record, so the handler puts it back first.
//!
//! # Soundness
//!
//! [`restore`] runs where FS may be wrong, so it and all that it calls use nothing of the thread:
//! numbers of system calls, and the table. A thread's row is written by that thread alone, and is
//! removed before the thread ends, so that a later thread with its number has none.

use std::arch::asm;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// More threads than this at a time are not protected.
const MOST_THREADS: usize = 1024;

/// The call `arch_prctl`, to read FS and to set it.
const GET: i64 = 0x1003;
const SET: i64 = 0x1002;

struct Row {
    /// The number of a thread; 0 without one.
    thread: AtomicI64,
    /// Its FS; 0 until it is known.
    pointer: AtomicUsize,
}

static ROWS: [Row; MOST_THREADS] =
    [const { Row { thread: AtomicI64::new(0), pointer: AtomicUsize::new(0) } }; MOST_THREADS];

/// The row of a thread that runs machine code.
struct Known(Option<&'static Row>);

thread_local! {
    static KNOWN: Known = Known::this_thread();
}

/// Notes the FS of this thread.
pub(crate) fn note() {
    // A thread that ends has no row any more.
    let _ = KNOWN.try_with(|known| known.0.is_some());
}

impl Known {
    fn this_thread() -> Self {
        let number = thread_number();
        let is_taken = |row: &&Row| {
            row.thread.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let row = ROWS.iter().find(is_taken);
        if let Some(row) = row {
            row.pointer.store(pointer(), Ordering::SeqCst);
        }
        Self(row)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        if let Some(row) = self.0 {
            row.pointer.store(0, Ordering::SeqCst);
            row.thread.store(0, Ordering::SeqCst);
        }
    }
}

/// Puts FS back if it is not the one that was noted for this thread.
pub(crate) fn restore() {
    let number = thread_number();
    let row = ROWS.iter().find(|row| row.thread.load(Ordering::SeqCst) == number);
    let Some(expected) = row.map(|row| row.pointer.load(Ordering::SeqCst)) else { return };
    let found = pointer();
    if expected != 0 && found != expected {
        // SAFETY: this thread has set that FS itself before.
        unsafe { system_call(libc::SYS_arch_prctl, SET, expected) };
    }
}

fn thread_number() -> i64 {
    // SAFETY: the call takes nothing, and changes nothing.
    unsafe { system_call(libc::SYS_gettid, 0, 0) }
}

/// The FS of this thread; 0 if the system does not say.
fn pointer() -> usize {
    let mut pointer = 0_usize;
    let address = (&raw mut pointer).expose_provenance();
    // SAFETY: the call writes one number, to the variable.
    unsafe { system_call(libc::SYS_arch_prctl, GET, address) };
    pointer
}

/// A call of the system, without what `libc::syscall` keeps of an error in the thread.
unsafe fn system_call(number: i64, first: i64, second: usize) -> i64 {
    let result: i64;
    // SAFETY: the caller vouches for the call. The kernel changes `rcx` and `r11`.
    unsafe {
        asm!(
            "syscall",
            inout("rax") number => result,
            in("rdi") first,
            in("rsi") second,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result
}
