//! How much memory a program has asked for, as `--print_statistics` of IREE's tools prints it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::flags::MemoryType;

/// Bytes of all allocations since counting began.
#[derive(Debug, Default)]
pub struct MemoryStatistics {
    host_local: Counters,
    device_local: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    peak: AtomicU64,
    allocated: AtomicU64,
    freed: AtomicU64,
}

/// An allocation that is counted as freed when it is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    statistics: Arc<MemoryStatistics>,
    memory_type: MemoryType,
    bytes: u64,
}

impl MemoryStatistics {
    /// Counts an allocation.
    pub(super) fn count(self: &Arc<Self>, memory_type: MemoryType, bytes: usize) -> Counted {
        let bytes = bytes as u64;
        let counters = self.of(memory_type);
        let allocated = counters.allocated.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let live = allocated.saturating_sub(counters.freed.load(Ordering::Relaxed));
        counters.peak.fetch_max(live, Ordering::Relaxed);
        Counted { statistics: self.clone(), memory_type, bytes }
    }

    fn of(&self, memory_type: MemoryType) -> &Counters {
        let is_device_local = memory_type.0 & MemoryType::DEVICE_LOCAL.0 != 0;
        if is_device_local { &self.device_local } else { &self.host_local }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let counters = self.statistics.of(self.memory_type);
        counters.freed.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

impl fmt::Display for MemoryStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[[ iree_hal_allocator_t memory statistics ]]")?;
        for (name, counters) in
            [("  HOST_LOCAL", &self.host_local), ("DEVICE_LOCAL", &self.device_local)]
        {
            let [peak, allocated, freed] = [&counters.peak, &counters.allocated, &counters.freed]
                .map(|counter| counter.load(Ordering::Relaxed));
            let live = allocated.saturating_sub(freed);
            writeln!(
                f,
                "{name}: {peak:12}B peak / {allocated:12}B allocated / {freed:12}B freed / \
                 {live:12}B live"
            )?;
        }
        Ok(())
    }
}
