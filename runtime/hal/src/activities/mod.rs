//! Work of the runtime as steps on the program's own stack, for those who watch or limit it. Each
//! file is one `vm::Activity` or a part of one.

mod attach;
mod create_executable;
mod dispatching;
mod queue_activity;

pub use attach::attach_nested_modules;
pub(crate) use create_executable::CreateExecutable;
pub(crate) use dispatching::Dispatching;
pub use queue_activity::{QueueActivity, Step};
