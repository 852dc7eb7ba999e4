//! The order of work: timelines, fences, and a queue whose submissions wait for them. Commands are
//! run, but never inspected here.

mod fence;
mod queue;
mod semaphore;

pub use fence::{Fence, append_fences};
pub(crate) use queue::{Queue, Submission};
