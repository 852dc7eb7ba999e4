//! What happens beside the session's loop. Each worker reports through a function that it is given;
//! none knows the session.

mod launch;
mod log_messages;
mod runner;

pub(crate) use launch::{Launch, LaunchFailure, Launched, Report};
pub(crate) use log_messages::{Lines, LogMessages};
pub(crate) use runner::{Ran, Runner};
