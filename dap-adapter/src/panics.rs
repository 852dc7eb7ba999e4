//! Turning a panic into an error: a fault of ours must not take the client's session with it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A function panicked; the text is the panic's message.
#[derive(Debug, thiserror::Error)]
#[error("the debugger failed: {0}")]
pub(crate) struct Panicked(String);

/// Calls a function.
///
/// # Errors
/// The function panicked. The caller must not trust what the function was changing.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| Panicked(message(&*panic).to_owned()))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
