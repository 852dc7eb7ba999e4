//! Device memory: buffers, tensors in them, and what makes them. It knows nothing of programs: no
//! executable, no command, no device.

mod allocator;
mod binding;
mod buffer;
mod buffer_view;
mod entry;
mod file;
mod guard;
mod journal;
#[cfg(test)]
mod journal_tests;
mod ledger;
mod lost;
pub(crate) mod pages;
mod past;
mod shared;
mod spill;
mod statistics;

pub use allocator::{Allocator, AllocatorMark, LiveAllocation, Origin};
pub(crate) use binding::Binding;
pub(crate) use buffer::{Allocation, WHOLE_BUFFER};
pub use buffer::{Buffer, BufferParameters};
pub use buffer_view::{BufferView, Encoding};
pub use entry::{Overwritten, WrittenBytes};
pub(crate) use file::File;
pub use guard::unwritten_bytes;
pub use journal::{Journal, Keeps, Room};
pub use ledger::{Ledger, Noted};
pub use lost::{Past, PastLost};
pub(crate) use shared::Shared;
pub use statistics::MemoryStatistics;
