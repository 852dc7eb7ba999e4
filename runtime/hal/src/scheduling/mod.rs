//! The order of work: timelines, fences, and a queue whose submissions wait for them.

mod fence;
mod queue;
mod semaphore;

pub use fence::{Fence, append_fences};
pub(crate) use queue::{Queue, Submission};
