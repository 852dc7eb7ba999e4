//! Running kernels on memory, one after another, and waiting for them.
//!
//! A stream runs what it is given in its order. An event between any two kernels tells when the
//! first has ended: the clock of each dispatch, and what is waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gpu::{Finished, GpuError, Pieces, Span, Staging, StagingError};

use crate::device::Device;
use crate::driver::codes;
use crate::functions::Handle;
use crate::kernel::Kernel;
use crate::memory::{SharedMemory, device_address};

/// One dispatch.
pub(crate) type Work<'a> = gpu::Work<'a, Kernel>;

/// The most dispatches that are launched before they are waited for.
const MOST_AT_ONCE: usize = 256;

/// A stream that the device's default one does not wait for (`CU_STREAM_NON_BLOCKING`).
const NON_BLOCKING: u32 = 1;

/// How long a wait for an event sleeps at most between two looks.
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// What launches are made with.
#[derive(Debug)]
pub(crate) struct Stream {
    device: Arc<Device>,
    memory: Arc<Pieces<SharedMemory>>,
    handle: Handle,
    /// One before each dispatch, and one after the last; as many as were needed so far.
    events: Vec<Handle>,
}

// SAFETY: its handles are the driver's names, which any thread may use, one at a time.
unsafe impl Send for Stream {}

impl Stream {
    /// A stream of the device whose memory this is.
    ///
    /// # Errors
    /// The driver fails.
    pub(crate) fn new(
        device: &Arc<Device>,
        memory: &Arc<Pieces<SharedMemory>>,
    ) -> Result<Self, GpuError> {
        let functions = device.functions()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: what is written to lives here.
        let code = unsafe { (functions.stream_create)(&raw mut handle, NON_BLOCKING) };
        device.check("making a stream", code)?;
        Ok(Self { device: device.clone(), memory: memory.clone(), handle, events: Vec::new() })
    }

    /// Runs dispatches: see [`gpu::Gpu::run`].
    ///
    /// # Errors
    /// See there.
    ///
    /// # Safety
    /// See there.
    pub(crate) unsafe fn run(
        &mut self,
        works: &[Work<'_>],
    ) -> Result<Vec<Finished>, (Option<usize>, GpuError)> {
        // One whose memory is copied is alone, as others may work on the original.
        let memory = self.memory.clone();
        let is_direct = |work: &&Work<'_>| {
            work.bindings.iter().all(|span| address_of(&memory, *span).is_some())
        };
        let fit =
            |works: &[Work<'_>]| works.iter().take(MOST_AT_ONCE).take_while(is_direct).count();
        // SAFETY: by the contract.
        gpu::run_in_parts(works, fit, |works| unsafe { self.run_at_once(works) })
    }

    /// # Safety
    /// As for [`Self::run`].
    unsafe fn run_at_once(
        &mut self,
        works: &[Work<'_>],
    ) -> Result<Vec<Finished>, (Option<usize>, GpuError)> {
        let all = |error| (None, error);
        self.device.check_use().map_err(all)?;
        for (index, work) in works.iter().enumerate() {
            self.check_work(work).map_err(|error| (Some(index), error))?;
        }
        let spans = works.iter().flat_map(|it| it.bindings).copied();
        let (direct, outside): (Vec<_>, Vec<_>) =
            spans.partition(|span| address_of(&self.memory, *span).is_some());
        // SAFETY: the spans can be read, by the contract.
        let staging = unsafe { Staging::copied(&outside, &direct, &self.memory) };
        let staging = staging.map_err(|error| all(self.unstaged(error)))?;
        self.make_events(works.len() + 1).map_err(all)?;
        self.record(0).map_err(all)?;
        for (index, work) in works.iter().enumerate() {
            // SAFETY: by the contract; copies live until they are copied back.
            let launched = unsafe { self.launch(work, &staging) };
            if let Err(error) = launched.and_then(|()| self.record(index + 1)) {
                // Those before it are in flight.
                return Err(match self.wait(index) {
                    Ok(()) => (Some(index), error),
                    Err(other) => all(other),
                });
            }
        }
        self.wait(works.len()).map_err(all)?;
        // SAFETY: by the contract, and nothing is in flight.
        unsafe { staging.copy_back() };
        Ok((0..works.len()).map(|index| self.elapsed(index)).collect())
    }

    /// Why memory cannot be copied.
    fn unstaged(&self, error: StagingError) -> GpuError {
        match error {
            StagingError::Overlap(span) => GpuError::Limit {
                device: self.device.description.name.clone(),
                what: format!("a buffer of {} bytes that overlaps another one", span.length),
                allowed: "that where both are in its memory".to_owned(),
            },
            StagingError::Gpu(error) => error,
        }
    }

    /// Checks a dispatch against its kernel and the limits of the device.
    fn check_work(&self, work: &Work<'_>) -> Result<(), GpuError> {
        let description = &self.device.description;
        let limit = |what: String, allowed: String| {
            Err(GpuError::Limit { device: description.name.clone(), what, allowed })
        };
        if !Arc::ptr_eq(work.kernel.device(), &self.device) {
            return limit("a kernel of another device".into(), "its own".into());
        }
        let launch = work.kernel.launch;
        if launch.buffers != work.bindings.len() {
            let (given, wanted) = (work.bindings.len(), launch.buffers);
            return limit(format!("{given} buffers"), format!("{wanted}"));
        }
        if launch.constants != work.constants.len() {
            let (given, wanted) = (work.constants.len(), launch.constants);
            return limit(format!("{given} constants"), format!("{wanted}"));
        }
        let most = description.most_workgroups;
        if work.workgroups.iter().zip(most).any(|(count, most)| *count > most) {
            return limit(format!("{:?} workgroups", work.workgroups), format!("{most:?}"));
        }
        Ok(())
    }

    /// Puts one dispatch into the stream.
    ///
    /// # Safety
    /// As for [`Self::run`]; the copies live until the dispatch has ended.
    unsafe fn launch(
        &self,
        work: &Work<'_>,
        staging: &Staging<SharedMemory>,
    ) -> Result<(), GpuError> {
        // Nothing to do, which drivers call an error.
        if work.workgroups.contains(&0) {
            return Ok(());
        }
        let buffers = work.bindings.iter().map(|span| {
            let copied = || device_address(&self.memory, staging.copy_of(*span)?, span.length);
            let place = address_of(&self.memory, *span).or_else(copied);
            place.ok_or_else(|| self.unstaged(StagingError::Overlap(*span)))
        });
        let constants = work.constants.iter().map(|it| Ok(u64::from(*it)));
        let parameters = buffers.chain(constants).collect::<Result<Vec<u64>, GpuError>>()?;
        // SAFETY: by the contract.
        unsafe { work.kernel.launch(self.handle, work.workgroups, parameters) }
    }

    /// Makes as many events as are needed.
    fn make_events(&mut self, count: usize) -> Result<(), GpuError> {
        let functions = self.device.functions()?;
        while self.events.len() < count {
            let mut event = std::ptr::null_mut();
            // SAFETY: what is written to lives here.
            let code = unsafe { (functions.event_create)(&raw mut event, 0) };
            self.device.check("making an event", code)?;
            self.events.push(event);
        }
        Ok(())
    }

    /// Lets an event happen when all before it has ended.
    fn record(&self, index: usize) -> Result<(), GpuError> {
        let functions = self.device.functions()?;
        // SAFETY: event and stream are the device's.
        let code = unsafe { (functions.event_record)(self.events[index], self.handle) };
        self.device.check("recording an event", code)
    }

    /// Waits for an event.
    ///
    /// # Errors
    /// It does not happen in time, or a kernel has ended the context.
    fn wait(&self, index: usize) -> Result<(), GpuError> {
        let functions = self.device.functions()?;
        let patience = self.device.options.patience;
        let began = Instant::now();
        let mut nap = Duration::from_micros(10);
        let result = loop {
            // SAFETY: the event has been recorded.
            match unsafe { (functions.event_query)(self.events[index]) } {
                codes::NOT_READY if began.elapsed() > patience => {
                    break Err(GpuError::TimedOut(self.device.driver.api(), patience));
                }
                codes::NOT_READY => {
                    // A short one is over before a nap would be.
                    if began.elapsed() < Duration::from_micros(200) {
                        std::hint::spin_loop();
                    } else {
                        std::thread::sleep(nap);
                        nap = (2 * nap).min(LONGEST_NAP);
                    }
                }
                code => break self.device.check("waiting for the kernel", code),
            }
        };
        result.inspect_err(|_| self.device.give_up())
    }

    /// How long the device worked on a dispatch that has ended.
    fn elapsed(&self, index: usize) -> Finished {
        let mut milliseconds = 0_f32;
        let (before, after) = (self.events[index], self.events[index + 1]);
        let elapsed = self.device.driver.functions.event_elapsed;
        // SAFETY: both events have happened.
        let code = unsafe { elapsed(&raw mut milliseconds, before, after) };
        let seconds = f64::from(milliseconds) / 1000.0;
        let known = (code == codes::SUCCESS).then(|| Duration::try_from_secs_f64(seconds).ok());
        Finished { device_time: known.flatten() }
    }
}

/// Where the device finds memory of the host, if it does.
fn address_of(memory: &Pieces<SharedMemory>, span: Span) -> Option<u64> {
    device_address(memory, span.address.addr(), span.length)
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.device.is_given_up() {
            return;
        }
        let Ok(functions) = self.device.functions() else { return };
        // SAFETY: nothing is in flight between calls.
        unsafe {
            self.events.iter().for_each(|event| {
                (functions.event_destroy)(*event);
            });
            (functions.stream_destroy)(self.handle);
        }
    }
}
