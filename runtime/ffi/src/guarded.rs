//! Calls of native libraries whose faults end the program, not the debugger.
//!
//! A library may call back into C++, Python or Rust before it faults, so the call cannot be
//! unwound: it stays for ever on the stack where it faulted, as if its thread slept there. The
//! library's locks stay locked, and its data may be inconsistent. So the program is over, but it
//! can be inspected.
//!
//! Only this project's own processes call [`catch_faults`]. Other processes that load this crate
//! may handle faults and stacks in their own way: Python measures its stack.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use trap::{Cause, Entry, Outcome, Ready, Stack, Stopped};
use vm::{Status, StatusCode, Value};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Makes faults in native libraries fail the call, from now on and in the whole process.
pub fn catch_faults() {
    IS_ON.store(true, Ordering::Relaxed);
}

thread_local! {
    /// A stack that is not in use.
    static IDLE: Cell<Option<Stack>> = const { Cell::new(None) };
}

/// Runs `body`, which calls a function of a library.
///
/// # Errors
/// It faulted. Values of `body` that were alive at that time are never dropped.
pub(crate) fn guarded<T>(
    library: &str,
    function: &str,
    arguments: &[Value],
    body: impl FnOnce() -> T,
) -> Result<T, Status> {
    if !IS_ON.load(Ordering::Relaxed) {
        return Ok(body());
    }
    on_own_stack(body).map_err(|why| match why {
        Why::NoStack(error) => {
            Status::resource_exhausted(format!("no stack for native code: {error}"))
        }
        Why::Fault(what) => {
            let arguments: Vec<String> = arguments.iter().map(argument_text).collect();
            let text = format!(
                "native library {library}: {what} in @{function}({}); it cannot be called again \
                 safely, so the program is over",
                arguments.join(", ")
            );
            Status::new(StatusCode::Aborted, text)
        }
    })
}

enum Why {
    NoStack(std::io::Error),
    Fault(String),
}

/// A call: the function to run, then its result.
struct Call<F, T> {
    body: Option<F>,
    result: Option<Result<T, Box<dyn Any + Send>>>,
}

fn on_own_stack<T, F: FnOnce() -> T>(body: F) -> Result<T, Why> {
    extern "C" fn run<T, F: FnOnce() -> T>(call: *mut Call<F, T>, _: usize, _: usize) -> u64 {
        // SAFETY: the address that is passed below, of a call that nothing else accesses meanwhile.
        let call = unsafe { &mut *call };
        call.result = call.body.take().map(|body| catch_unwind(AssertUnwindSafe(body)));
        0
    }
    let ready = Ready::this_thread().map_err(Why::NoStack)?;
    let idle = IDLE.take().map_or_else(|| Stack::new(false), Ok);
    let mut stack = idle.map_err(Why::NoStack)?;
    let call = Box::into_raw(Box::new(Call { body: Some(body), result: None }));
    let function: extern "C" fn(*mut Call<F, T>, usize, usize) -> u64 = run::<T, F>;
    let entry = Entry {
        address: (function as *const ()).expose_provenance(),
        arguments: [call.expose_provenance(), 0, 0],
    };
    // SAFETY: a C function of three addresses, the first of which is the address of the call. If it
    // stops for good, stack and call are leaked below.
    let mut outcome = unsafe { stack.call(ready, entry) };
    loop {
        let stopped = match (outcome, stack) {
            (Outcome::Returned(_), free) => {
                IDLE.set(Some(free));
                // SAFETY: made by `Box::into_raw` above; the function has returned, so nothing else
                // uses it.
                let call = unsafe { Box::from_raw(call) };
                return match call.result {
                    Some(Ok(result)) => Ok(result),
                    Some(Err(panic)) => resume_unwind(panic),
                    None => Err(Why::Fault("no call".to_owned())),
                };
            }
            (Outcome::Stopped(_), stack) => stack.into_stopped(),
        };
        match (outcome, stopped) {
            // The signal came late, or was meant for another call.
            (Outcome::Stopped(Cause::Pause), Some(stopped)) => {
                // SAFETY: on the same thread, with everything that the call uses still alive.
                (stack, outcome) = unsafe { stopped.resume(ready) };
            }
            (Outcome::Stopped(Cause::Fault(fault)), stopped) => {
                stopped.into_iter().for_each(Stopped::leak);
                return Err(Why::Fault(fault.to_string()));
            }
            _ => return Err(Why::Fault("no end".to_owned())),
        }
    }
}

/// A short text of an argument.
fn argument_text(value: &Value) -> String {
    /// The most elements of a tensor in the text.
    const ELEMENTS: usize = 8;
    vm::value_text::format_value(value, ELEMENTS).trim().replace('\n', " ")
}
