//! Invocations: running, stopping, inspecting. Uses all rooms; no room uses it.

mod ending;
mod inspect;
mod interpreter;
mod invocation;
mod moved_frames;
mod native_driver;
mod native_frame;
mod outcome;
mod running;

pub use inspect::{Frame, FrameFunction, FrameIndex};
pub use invocation::{Invocation, Observer, Reaction};
pub use outcome::{Outcome, Stop};
