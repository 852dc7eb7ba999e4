//! How running code, linking and breakpoints fail. Uses the numbers of `position` only.

mod breakpoint_error;
mod failure;
mod link_error;
mod status;

pub use breakpoint_error::BreakpointError;
pub use failure::{Failure, FramePosition};
pub use link_error::{LinkError, MissingImport};
pub use status::{Status, StatusCode};
