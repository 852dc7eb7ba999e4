//! A request to stop a running invocation, and what the invocation is busy with.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vmfb::FunctionOrdinal;

use crate::position::{FunctionId, ModuleIndex};

/// Asks a running invocation to stop, from another thread, and tells what it is busy with.
#[derive(Clone, Default, Debug)]
pub struct Interrupt(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    is_requested: AtomicBool,
    /// Whether anything but the invocation holds this.
    is_watched: bool,
    /// The native function that runs, 0 for none: its module, and one more than its number.
    native: AtomicU64,
    dispatch: Mutex<Option<BusyDispatch>>,
    /// The workgroup that has begun last.
    workgroup: AtomicU64,
}

/// What an invocation is busy with that may take its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Busy {
    /// A dispatch, and the workgroup in it that began last.
    Dispatch(BusyDispatch, u64),
    /// A native function.
    Native(FunctionId),
}

/// A dispatch that is being executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BusyDispatch {
    /// Its name.
    pub name: String,
    /// The number of workgroups in x, y and z.
    pub workgroup_count: [u32; 3],
}

impl Interrupt {
    /// An interrupt that something outside the invocation will hold.
    pub(crate) fn watched() -> Self {
        Self(Arc::new(Shared { is_watched: true, ..Shared::default() }))
    }

    /// Stops the invocation at one of its next calls or backward branches, with
    /// [`crate::Stop::Interrupted`]. If it is not running, it stops as soon as it runs again.
    pub fn request(&self) {
        self.0.is_requested.store(true, Ordering::Relaxed);
    }

    /// Withdraws a request; returns whether there was one.
    pub fn clear(&self) -> bool {
        let is_requested = &self.0.is_requested;
        // Usually there is none, and a load is cheaper than a swap.
        is_requested.load(Ordering::Relaxed) && is_requested.swap(false, Ordering::Relaxed)
    }

    /// Whether anything but the invocation holds the handle.
    pub(super) fn is_watched(&self) -> bool {
        self.0.is_watched
    }

    /// Whether a stop was requested; the request stays.
    #[must_use]
    pub(crate) fn is_requested(&self) -> bool {
        self.0.is_requested.load(Ordering::Relaxed)
    }

    /// The dispatch or native function that the invocation is busy with; `None` for bytecode.
    #[must_use]
    pub fn busy(&self) -> Option<Busy> {
        if let Some(dispatch) = self.lock().clone() {
            return Some(Busy::Dispatch(dispatch, self.0.workgroup.load(Ordering::Relaxed)));
        }
        let native = self.0.native.load(Ordering::Relaxed);
        let function = FunctionOrdinal((native as u32).checked_sub(1)?);
        Some(Busy::Native(FunctionId { module: ModuleIndex((native >> 32) as u32), function }))
    }

    /// Notes a dispatch that begins or resumes, until the result is dropped. Does nothing if
    /// nothing else holds the interrupt.
    #[must_use]
    pub fn at_dispatch(&self, name: &str, workgroup_count: [u32; 3]) -> AtDispatch<'_> {
        if self.0.is_watched {
            *self.lock() = Some(BusyDispatch { name: name.to_owned(), workgroup_count });
        }
        AtDispatch(self)
    }

    /// Notes a workgroup that begins.
    #[inline]
    pub fn at_workgroup(&self, workgroup: u64) {
        if self.0.is_watched {
            self.0.workgroup.store(workgroup, Ordering::Relaxed);
        }
    }

    /// Notes the native function that runs.
    #[inline]
    pub(crate) fn at_native(&self, function: Option<(u32, u32)>) {
        let native = function.map_or(0, |(module, function)| {
            u64::from(module) << 32 | u64::from(function.saturating_add(1))
        });
        self.0.native.store(native, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<BusyDispatch>> {
        // The value is whole at any time, so another thread's panic does not spoil it.
        self.0.dispatch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends what [`Interrupt::at_dispatch`] has noted.
#[derive(Debug)]
pub struct AtDispatch<'a>(&'a Interrupt);

impl Drop for AtDispatch<'_> {
    fn drop(&mut self) {
        if self.0.0.is_watched {
            *self.0.lock() = None;
        }
    }
}
