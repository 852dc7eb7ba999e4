//! Ending what runs, from another thread: a client has cancelled its call, or its budget is over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use compile::Cancellation;
use debug::InterruptHandle;

/// Ends what a tool does. Clones stop the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopper {
    /// Every program that is loaded has this handle.
    interrupt: InterruptHandle,
    /// That of the call that runs now.
    cancellation: Arc<Mutex<Cancellation>>,
}

impl Stopper {
    /// The handle of the programs.
    pub(crate) fn interrupt(&self) -> InterruptHandle {
        self.interrupt.clone()
    }

    /// A call begins: a request to stop that came too late for the last one does not end it.
    pub(crate) fn begin(&self) {
        self.interrupt.withdraw();
        *self.lock() = Cancellation::default();
    }

    /// What ends compilers and other processes of this call.
    pub(crate) fn cancellation(&self) -> Cancellation {
        self.lock().clone()
    }

    /// Ends it: the program pauses, processes are killed.
    pub(crate) fn stop(&self) {
        self.lock().cancel();
        self.interrupt.interrupt();
    }

    fn lock(&self) -> MutexGuard<'_, Cancellation> {
        self.cancellation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
