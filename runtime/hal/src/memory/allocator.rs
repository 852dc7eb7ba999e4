//! `!hal.allocator`: makes device memory, and knows which allocations are alive and what made them.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use vm::{ExecutionLimits, LaterMakes, Makes, Object, Status};

use super::buffer::{Allocation, Buffer, BufferParameters};
use super::guard;
use super::guard::Guarded;
use super::journal::Journal;
use super::shared::Shared;
use super::statistics::MemoryStatistics;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};

/// What made an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// `hal.device.queue.alloca`: transient memory.
    Alloca,
    /// `hal.allocator.allocate`
    Allocate,
    /// `hal.allocator.import`: constants of the program.
    Import,
    /// The host, for an input of a function.
    Host,
    /// A parameter of the model.
    Parameter,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alloca => "hal.device.queue.alloca",
            Self::Allocate => "hal.allocator.allocate",
            Self::Import => "hal.allocator.import",
            Self::Host => "host",
            Self::Parameter => "parameter",
        })
    }
}

/// An allocation that was alive when the list was taken.
#[derive(Clone, Debug)]
pub struct LiveAllocation {
    /// Its number: allocations are counted from 1.
    pub number: u64,
    /// What made it.
    pub origin: Origin,
    /// The memory.
    pub allocation: Arc<Allocation>,
}

/// Makes device memory. Clones share their records.
#[derive(Clone, Debug, Default)]
pub struct Allocator(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether allocations are recorded, for [`Allocator::live`].
    is_recording: AtomicBool,
    /// Whether memory is guarded, and the buffers that are.
    is_guarding: bool,
    /// The memory of a sandbox, where that is guarded.
    shared: Option<Shared>,
    guarded: Mutex<Vec<Weak<Guarded>>>,
    records: Mutex<Records>,
    /// What was in the memory before.
    journal: Arc<Journal>,
    /// What programs have made, so that going back does not move it.
    makes: Makes,
    /// What is counted, if it is.
    statistics: OnceLock<Arc<MemoryStatistics>>,
}

/// A place among all that was allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocatorMark {
    makes: u64,
    recorded: u64,
}

#[derive(Debug, Default)]
struct Records {
    /// The allocations that were alive when the list was last cleaned, and those made since.
    records: Vec<(u64, Origin, Weak<Allocation>)>,
    made: u64,
    clean_at: usize,
}

impl Allocator {
    /// Records allocations from now on, for [`Self::live`].
    pub fn record(&self) {
        self.0.is_recording.store(true, Ordering::Relaxed);
    }

    /// Counts memory from now on. Returns the counters.
    pub fn count(&self) -> Arc<MemoryStatistics> {
        self.0.statistics.get_or_init(Arc::default).clone()
    }

    /// What was in its memory before it was written.
    #[must_use]
    pub fn journal(&self) -> &Arc<Journal> {
        &self.0.journal
    }

    /// An allocator of guarded memory, which a sandbox has, too, if there is one: see
    /// [`super::guard`].
    #[must_use]
    pub(crate) fn guarding(shared: Option<Shared>) -> Self {
        Self(Arc::new(State { is_guarding: true, shared, ..State::default() }))
    }

    /// Whether memory is guarded.
    #[must_use]
    pub fn is_guarding(&self) -> bool {
        self.0.is_guarding
    }

    /// Memory beside a guarded buffer that was written since the last call: the buffer's address,
    /// and the offset of the write in bytes from its start, which is negative before the buffer.
    #[must_use]
    pub fn take_damage(&self) -> Option<(usize, isize)> {
        let mut guarded = lock(&self.0.guarded);
        guarded.retain(|guarded| guarded.strong_count() > 0);
        guarded
            .iter()
            .filter_map(Weak::upgrade)
            .find_map(|it| Some((it.address(), it.take_damage()?)))
    }

    /// New memory: zeroed, or guarded and poisoned.
    ///
    /// # Errors
    /// The limits forbid it, or there is no memory.
    pub(crate) fn allocate(
        &self,
        parameters: BufferParameters,
        length: u64,
        origin: Origin,
        limits: &ExecutionLimits,
    ) -> Result<Buffer, Status> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let storage = self.0.makes.make(length, || self.storage(length, limits))?;
        if storage.life() > 0 {
            self.poison_again(&storage);
        }
        let life = Some(storage.life());
        Ok(self.wrap_for(life, Arc::new(storage), parameters, origin))
    }

    /// What programs have made, so that going back does not move it.
    #[must_use]
    pub fn makes(&self) -> &Makes {
        &self.0.makes
    }

    /// The present place, to which [`Self::go_back_to`] can return.
    #[must_use]
    pub fn mark(&self) -> AllocatorMark {
        AllocatorMark { makes: self.0.makes.mark(), recorded: self.records().made }
    }

    /// The program goes back: what was allocated later is not there, and has the same number when
    /// it is allocated again.
    pub fn go_back_to(&self, mark: AllocatorMark) {
        self.0.makes.go_back_to(mark.makes);
        let mut records = self.records();
        records.made = mark.recorded;
        records.records.retain(|(number, ..)| *number <= mark.recorded);
    }

    /// Sets aside what was made after a mark: see [`vm::Makes::take_after`].
    #[must_use]
    pub fn take_made_after(&self, mark: AllocatorMark) -> LaterMakes {
        self.0.makes.take_after(mark.makes)
    }

    fn storage(&self, length: usize, limits: &ExecutionLimits) -> Result<vm::Buffer, Status> {
        if !self.0.is_guarding {
            return vm::Buffer::alloc(length, 0, limits);
        }
        let (storage, guarded) = guard::allocate(length, self.0.shared.as_ref(), limits)?;
        lock(&self.0.guarded).push(Arc::downgrade(&guarded));
        Ok(storage)
    }

    /// Memory that is made again is as new.
    fn poison_again(&self, storage: &vm::Buffer) {
        let guarded = lock(&self.0.guarded);
        let mut known = guarded.iter().filter_map(Weak::upgrade);
        if let Some(it) = known.find(|it| it.address() == storage.address() as usize) {
            it.begin_again();
        }
    }

    /// New memory with these bytes, for data of the host.
    ///
    /// # Errors
    /// The limits forbid it, or there is no memory.
    pub(crate) fn import(
        &self,
        bytes: &[u8],
        parameters: BufferParameters,
        limits: &ExecutionLimits,
    ) -> Result<Buffer, Status> {
        let storage = if self.0.is_guarding {
            let storage = self.storage(bytes.len(), limits)?;
            storage.write(0, bytes)?;
            storage
        } else {
            vm::Buffer::of_host(bytes, limits)?
        };
        Ok(self.wrap_own(Arc::new(storage), parameters, Origin::Host))
    }

    /// Existing memory as device memory. What else has it may write it, too.
    pub fn wrap(
        &self,
        storage: Arc<vm::Buffer>,
        parameters: BufferParameters,
        origin: Origin,
    ) -> Buffer {
        let buffer = self.wrap_own(storage, parameters, origin);
        buffer.allocation().share();
        buffer
    }

    /// Memory that was made for the device, and that nothing else will write.
    pub(crate) fn wrap_own(
        &self,
        storage: Arc<vm::Buffer>,
        parameters: BufferParameters,
        origin: Origin,
    ) -> Buffer {
        self.wrap_for(None, storage, parameters, origin)
    }

    fn wrap_for(
        &self,
        life: Option<u64>,
        storage: Arc<vm::Buffer>,
        parameters: BufferParameters,
        origin: Origin,
    ) -> Buffer {
        let statistics = self.0.statistics.get();
        let counted = statistics.map(|it| it.count(parameters.memory_type, storage.len()));
        let parameters = canonical(parameters);
        let journal = Some(self.0.journal.clone());
        let buffer = Buffer::made(storage, parameters, counted, journal, life);
        if self.0.is_recording.load(Ordering::Relaxed) {
            self.note(&buffer, origin);
        }
        buffer
    }

    fn note(&self, buffer: &Buffer, origin: Origin) {
        let mut records = self.records();
        records.made += 1;
        let number = records.made;
        records.records.push((number, origin, Arc::downgrade(buffer.allocation())));
        if records.records.len() > records.clean_at {
            records.records.retain(|(_, _, allocation)| allocation.strong_count() > 0);
            records.clean_at = 2 * records.records.len() + 64;
        }
    }

    /// The recorded allocations that are still alive, oldest first.
    #[must_use]
    pub fn live(&self) -> Vec<LiveAllocation> {
        let live = |(number, origin, allocation): &(u64, Origin, Weak<Allocation>)| {
            let allocation = allocation.upgrade()?;
            Some(LiveAllocation { number: *number, origin: *origin, allocation })
        };
        self.records().records.iter().filter_map(live).collect()
    }

    /// A debugger is about to write bytes at some addresses. If they are of this device, the
    /// journal keeps what they are.
    pub fn before_write_by_hand(&self, addresses: &Range<usize>) {
        for LiveAllocation { allocation, .. } in self.live() {
            let start = allocation.storage().address() as usize;
            let own = start..start + allocation.storage().len();
            let (from, to) = (addresses.start.max(own.start), addresses.end.min(own.end));
            if from < to {
                self.0.journal.before_write(&allocation, from - start, to - from);
            }
        }
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        lock(&self.0.records)
    }
}

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    // The list is consistent at any time, so a panic in another thread does not spoil it.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The parameters that host memory gets for requested ones, as in IREE.
fn canonical(mut parameters: BufferParameters) -> BufferParameters {
    if parameters.usage.0 == 0 {
        parameters.usage = BufferUsage::DEFAULT;
    }
    if parameters.access.0 == 0 {
        parameters.access = MemoryAccess::ALL;
    }
    let memory_type = parameters.memory_type | MemoryType::HOST_VISIBLE;
    parameters.memory_type = MemoryType(memory_type.0 & !MemoryType::OPTIMAL.0);
    parameters.usage = parameters.usage
        | BufferUsage::MAPPING_SCOPED
        | BufferUsage::MAPPING_PERSISTENT
        | BufferUsage::MAPPING_ACCESS_RANDOM
        | BufferUsage::TRANSFER;
    parameters
}

impl Object for Allocator {
    fn type_name(&self) -> &str {
        "hal.allocator"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alive_is_known() {
        let allocator = Allocator::default();
        allocator.record();
        let parameters = BufferParameters {
            memory_type: MemoryType::DEVICE_LOCAL,
            usage: BufferUsage::DISPATCH_STORAGE,
            access: MemoryAccess(0),
        };
        let allocate = || {
            let limits = ExecutionLimits::default();
            allocator.allocate(parameters, 16, Origin::Alloca, &limits).unwrap()
        };
        let first = allocate();
        for _ in 0..1000 {
            drop(allocate());
        }
        let last = allocate();
        let live = allocator.live();
        assert_eq!(live.iter().map(|live| live.number).collect::<Vec<_>>(), [1, 1002]);
        assert!(Arc::ptr_eq(&live[1].allocation, last.allocation()));
        assert!(first.check_usage(BufferUsage::TRANSFER_SOURCE).is_ok());
        assert_eq!(first.parameters().memory_type.to_string(), "DEVICE_LOCAL|HOST_VISIBLE");
    }
}
