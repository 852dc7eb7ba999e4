//! One device that is open: its context, and whether it is still in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gpu::{GpuError, GpuName, GpuOptions, NoGpu};

use crate::description::GpuDescription;
use crate::driver::Driver;
use crate::functions::{Functions, Handle};

/// An open device. Everything that is made with it holds it.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) driver: &'static Driver,
    pub(crate) description: GpuDescription,
    pub(crate) options: GpuOptions,
    context: Handle,
    is_given_up: AtomicBool,
}

// SAFETY: the context is the driver's name for it; any thread may make it its own, and does so
// before each call.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// There is none of that name, or it cannot be used.
    pub(crate) fn open(
        driver: &'static Driver,
        name: GpuName,
        options: GpuOptions,
    ) -> Result<Arc<Self>, NoGpu> {
        let description = driver.find(name)?;
        let mut context = std::ptr::null_mut();
        // SAFETY: the device is the driver's; what is written to lives here.
        let code =
            unsafe { (driver.functions.context_retain)(&raw mut context, description.handle) };
        driver.check("retaining the context", code).map_err(|error| NoGpu::Unusable {
            device: description.name.clone(),
            reason: error.to_string(),
        })?;
        let is_given_up = AtomicBool::new(false);
        Ok(Arc::new(Self { driver, description, options, context, is_given_up }))
    }

    /// The functions, for calls of this thread on this device.
    ///
    /// # Errors
    /// The driver fails.
    pub(crate) fn functions(&self) -> Result<&'static Functions, GpuError> {
        let functions = &self.driver.functions;
        // SAFETY: the context is alive.
        let code = unsafe { (functions.context_set)(self.context) };
        self.check("setting the context", code)?;
        Ok(functions)
    }

    /// The error for what a function returned; none for success.
    pub(crate) fn check(&self, call: &'static str, code: i32) -> Result<(), GpuError> {
        self.driver.check(call, code)
    }

    /// The device did not answer, or a kernel has ended its context: nothing of it is used, and
    /// nothing of it is given back.
    pub(crate) fn give_up(self: &Arc<Self>) {
        if !self.is_given_up.swap(true, Ordering::Relaxed) {
            std::mem::forget(self.clone());
        }
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    /// # Errors
    /// It was given up.
    pub(crate) fn check_use(&self) -> Result<(), GpuError> {
        if self.is_given_up() {
            return Err(GpuError::GivenUp(self.driver.api()));
        }
        Ok(())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: all that was made with the device holds it, so there is none, and nothing runs.
        unsafe { (self.driver.functions.context_release)(self.description.handle) };
    }
}
