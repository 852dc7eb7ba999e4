//! How long dispatches take, for `--dispatch_statistics` and `--print_device_statistics` of IREE's
//! tools.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The time that the dispatches of one export took since it was last asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchTime {
    /// The name of the export.
    pub name: String,
    /// How often it was dispatched; once more for each time that a dispatch was interrupted.
    pub calls: u64,
    /// The time of all of these, each from its first workgroup to its last: by the clock on the
    /// wall, or by that of the device that ran them.
    pub time: Duration,
    /// The workgroups that ran.
    pub workgroups: u64,
}

/// The times of all dispatches, if they are wanted.
#[derive(Debug, Default)]
pub(super) struct DispatchTimes(OnceLock<Mutex<BTreeMap<String, DispatchTime>>>);

impl DispatchTimes {
    /// Measures from now on.
    pub(super) fn begin(&self) {
        self.0.get_or_init(Mutex::default);
    }

    /// Whether times are wanted.
    pub(super) fn is_on(&self) -> bool {
        self.0.get().is_some()
    }

    /// When a dispatch begins; `None` if times are not wanted.
    pub(super) fn start(&self) -> Option<Instant> {
        self.0.get().map(|_| Instant::now())
    }

    /// Adds a dispatch that has just ended.
    pub(super) fn add(&self, name: &str, took: Duration, workgroups: u64) {
        let Some(times) = self.0.get() else { return };
        let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = times.entry(name.to_owned()).or_insert_with(|| DispatchTime {
            name: name.to_owned(),
            calls: 0,
            time: Duration::ZERO,
            workgroups: 0,
        });
        entry.calls += 1;
        entry.time += took;
        entry.workgroups += workgroups;
    }

    /// The times so far, by name; counting begins anew.
    pub(super) fn take(&self) -> Vec<DispatchTime> {
        let Some(times) = self.0.get() else { return Vec::new() };
        let times = std::mem::take(&mut *times.lock().unwrap_or_else(PoisonError::into_inner));
        times.into_values().collect()
    }
}
