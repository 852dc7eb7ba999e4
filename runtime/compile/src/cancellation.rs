//! [`Cancellation`]: a request to stop a compilation, from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a running compilation to stop. Clones share the request.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
