//! Invocations: running, stopping, inspecting. Uses all rooms; no room uses it.

mod checkpoint;
mod ending;
mod inspect;
mod interpreter;
mod invocation;
mod moment;
mod moment_text;
mod moved_frames;
mod native_driver;
mod native_frame;
mod outcome;
mod reached;
mod running;

pub use checkpoint::{Checkpoint, Recorder};
pub use inspect::{Frame, FrameFunction, FrameIndex};
pub use invocation::{Invocation, Observer, Reaction};
pub use moment::{Moment, MomentKey};
pub use moment_text::NoMoment;
pub use outcome::{Outcome, Stop};
