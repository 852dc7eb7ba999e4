//! Machine code on a stack of its own: it can be paused, and its faults are values.
//!
//! ```text
//!  Stack::call ──switch──> machine code ──returns──────────────> Outcome::Returned
//!                              │ fault, or a pause
//!                              v
//!                        signal handler: keeps the registers ──> Outcome::Stopped ─┐
//!                              ^                                                   │
//!                              └──────────── registers put back ──── Stopped::resume
//! ```
//!
//! A signal handler cannot repair a fault, but it chooses where the thread continues: here in Rust,
//! at the instruction after the call, on Rust's own stack. The machine code stays where it was,
//! with its frames on its own stack and its registers in [`Stopped`], so it can be inspected and,
//! after a pause, resumed.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `fault` | why machine code stopped, and the processor's registers |
//! | `call` | what to call, and how a call ended |
//! | `chain` | signal handlers in front of earlier ones |
//! | `thread_pointer` | the register by which a thread finds what is its own |
//! | `switch` | the instructions that change stacks, and the record of a call, which the signal handler reads |
//! | `signals` | the signal handler |
//! | `stack` | the stack, and calls on it |
//! | `straight` | the same interface for other systems: calls on the thread's own stack |
//! | `pause` | asking threads in machine code to stop |
//!
//! A room uses only rooms above it in this table.
//!
//! # Soundness
//!
//! Calling machine code means trusting it, which is the caller's promise ([`Stack::call`]). This
//! crate adds one argument: *no frame of Rust is ever skipped*. A call that stops leaves its frames
//! untouched on a stack that nothing else uses. It is resumed later, or its frames are abandoned.
//! That is safe if they are frames of machine code, which has no destructors; or if the stack is
//! leaked with everything on it ([`Stopped::leak`]), as if its thread slept for ever.
//!
//! On processors and systems other than Linux on x86-64, calls run on the thread's own stack:
//! [`IS_SUPPORTED`] is false there, nothing is paused, and a fault ends the process as it would
//! without this crate.

mod call;
#[cfg(unix)]
mod chain;
mod fault;
mod pause;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod signals;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod stack;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod straight;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod switch;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod thread_pointer;

pub use call::{Entry, Outcome};
#[cfg(unix)]
pub use chain::{PreviousAction, SignalHandler, install};
pub use fault::{Access, Cause, Fault, FaultKind, Registers};
pub use pause::{Pausable, Watching, Wish};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use stack::{Ready, Stack, Stopped};
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use straight::{Ready, Stack, Stopped};

/// Whether faults are caught and calls can be paused on this system.
pub const IS_SUPPORTED: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));
