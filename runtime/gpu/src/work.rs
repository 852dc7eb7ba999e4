//! What a device is asked to do: dispatches, one after another.

use std::fmt;
use std::time::Duration;

use crate::error::GpuError;

/// How a device is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuOptions {
    /// How long one submission may take before the device is given up.
    pub patience: Duration,
}

impl Default for GpuOptions {
    fn default() -> Self {
        // A driver that compiles shaders for the processor may take long for the first run of one.
        Self { patience: Duration::from_secs(600) }
    }
}

/// Bytes of memory, by their address on the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first byte.
    pub address: *mut u8,
    /// How many.
    pub length: usize,
}

/// One dispatch.
#[derive(Debug)]
pub struct Work<'a, K> {
    /// What runs.
    pub kernel: &'a K,
    /// How many workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// The constants that it is given.
    pub constants: &'a [u32],
    /// The memory of each buffer that it takes.
    pub bindings: &'a [Span],
}

/// A dispatch that ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished {
    /// How long the device worked on it, by its own clock, if it has one.
    pub device_time: Option<Duration>,
}

/// Runs dispatches in parts, as many at once as `fit` (at least one), each part after the one
/// before it.
///
/// # Errors
/// A part failed: the number of the dispatch among all, if it is known which, or if it was alone.
pub fn run_in_parts<W>(
    works: &[W],
    fit: impl Fn(&[W]) -> usize,
    mut run: impl FnMut(&[W]) -> Result<Vec<Finished>, (Option<usize>, GpuError)>,
) -> Result<Vec<Finished>, (Option<usize>, GpuError)> {
    let mut finished = Vec::with_capacity(works.len());
    let mut rest = works;
    while !rest.is_empty() {
        let first = works.len() - rest.len();
        let (now, later) = rest.split_at(fit(rest).max(1));
        finished.extend(run(now).map_err(|(index, error)| {
            let index = index.or((now.len() == 1).then_some(0));
            (index.map(|index| first + index), error)
        })?);
        rest = later;
    }
    Ok(finished)
}

/// An open device.
pub trait Gpu: fmt::Debug + Send + Sync + 'static {
    /// A function that is ready to run.
    type Kernel: Send + Sync;

    /// Runs dispatches in their order, each after the one before it, and waits for them.
    ///
    /// # Errors
    /// One cannot be run, with its number if it is known which; or the device is lost. Those before
    /// it may have run.
    ///
    /// # Safety
    /// All spans can be read and written, and nothing else does so until this returns. Each kernel
    /// is given what its code takes.
    unsafe fn run(
        &self,
        works: &[Work<'_, Self::Kernel>],
    ) -> Result<Vec<Finished>, (Option<usize>, GpuError)>;
}
