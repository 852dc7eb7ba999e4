//! Signal handlers in front of earlier ones.
//!
//! A process has one action for each signal, and several parts of it may want to handle the same
//! one. So a handler asks for the action that is there ([`PreviousAction::of`]), puts itself in
//! front of it ([`install`]), and passes on each signal that is not its own
//! ([`PreviousAction::pass_on`]).

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::{transmute, zeroed};
use std::ptr::{null, null_mut};

/// A handler of signals, as the system calls it.
pub type SignalHandler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The action of a signal before a handler of ours was installed.
#[derive(Clone, Copy)]
pub struct PreviousAction(libc::sigaction);

impl PreviousAction {
    /// The action that a signal has now.
    ///
    /// # Errors
    /// There is no such signal.
    pub fn of(signal: c_int) -> io::Result<Self> {
        // SAFETY: all zeros is a valid `sigaction`: the default action.
        let mut action: libc::sigaction = unsafe { zeroed() };
        // SAFETY: only reads the action.
        match unsafe { libc::sigaction(signal, null(), &raw mut action) } {
            0 => Ok(Self(action)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Does what the system would have done without our handler, which calls this last.
    ///
    /// A fault cannot be ignored: the system takes the default action then, and so does this.
    ///
    /// # Safety
    /// Called by a signal handler with the arguments that the system passed to it.
    pub unsafe fn pass_on(&self, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let Self(action) = self;
        // SAFETY: the system's own pointer.
        let is_sent = is_sent(unsafe { (*info).si_code });
        match action.sa_sigaction {
            libc::SIG_IGN if is_sent => {}
            // The instruction faults again after the return, or the signal is sent again, and that
            // ends the process with the right status.
            libc::SIG_DFL | libc::SIG_IGN => {
                // SAFETY: all zeros is a valid `sigaction`: the default action. Signal handlers may
                // call both functions.
                unsafe {
                    let default: libc::sigaction = zeroed();
                    libc::sigaction(signal, &raw const default, null_mut());
                    if is_sent {
                        libc::raise(signal);
                    }
                }
            }
            handler if action.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: a handler that was installed with `SA_SIGINFO` has this prototype.
                let handler = unsafe { transmute::<usize, SignalHandler>(handler) };
                // SAFETY: these are the arguments that the system passed.
                unsafe { handler(signal, info, context) };
            }
            handler => {
                type Handler = unsafe extern "C" fn(c_int);
                // SAFETY: a handler that was installed without `SA_SIGINFO` has this prototype.
                let handler = unsafe { transmute::<usize, Handler>(handler) };
                // SAFETY: this is the argument that the system passed.
                unsafe { handler(signal) };
            }
        }
    }
}

/// Whether a process sent the signal, rather than an instruction that faulted.
fn is_sent(code: c_int) -> bool {
    // Other systems have other codes, so signals that are sent count as faults there.
    cfg!(target_os = "linux") && code <= 0
}

/// Installs a handler for a signal. It runs on the thread's signal stack, if the thread has one,
/// and system calls that it interrupts are started again.
///
/// # Errors
/// There is no such signal.
///
/// # Safety
/// The handler may run at any time, so it does only what signal handlers may do.
pub unsafe fn install(signal: c_int, handler: SignalHandler) -> io::Result<()> {
    // SAFETY: all zeros is a valid `sigaction`, with an empty set of signals.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the handler has the prototype that `SA_SIGINFO` asks for.
    match unsafe { libc::sigaction(signal, &raw const action, null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
