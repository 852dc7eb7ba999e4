//! Turning a panic into an error: a fault of ours must not take the client's session with it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function.
///
/// # Errors
/// The function panicked; the text says so and quotes the panic's message. The caller must not
/// trust what the function was changing.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|panic| format!("the debugger failed: {}", message(&*panic)))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
