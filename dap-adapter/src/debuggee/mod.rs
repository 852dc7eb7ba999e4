//! A loaded program and what its session knows of it. The owner of a `Debuggee` may touch the
//! program; nothing here knows threads or the session's states.

mod breakpoint_sets;
pub(crate) mod exception_filters;
mod program;
mod verdict;

pub(crate) use breakpoint_sets::Owner;
pub(crate) use program::{Debuggee, RestartState, Target};
pub(crate) use verdict::{Verdict, Wrong};
