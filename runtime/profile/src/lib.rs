//! Profile files of IREE 3.13 (`.ireeprof`): which functions of executables ran, and when.
//!
//! A file is a header and records; each record has a content type, a name and a payload of rows
//! that begin with their own length. All numbers are little-endian. Here are the parts that say
//! what ran on a CPU, or on a device that tells its clock; other records are skipped.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `model` | what a profile says |
//! | `layout` | the numbers of the format: content types, record types, lengths |
//! | `bytes` | bytes in the making |
//! | `command_buffers` | which command buffer each span belongs to, and what is in them |
//! | `writing` | [`Profile::to_bytes`] |
//! | `reading` | [`Profile::parse`] |

mod bytes;
mod command_buffers;
mod layout;
mod model;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

pub use model::{Function, FunctionTimes, Profile, Span, Work};
pub use reading::ProfileError;
