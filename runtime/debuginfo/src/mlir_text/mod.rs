//! Tokens and locations in the text that iree-compile prints. Nothing here knows whether the text
//! is a companion or a dispatch.

mod cursor;
mod error;
mod locations;
mod positions;

pub(crate) use cursor::{Cursor, Result, hex_digit};
pub use error::MlirTextError;
pub(crate) use locations::Locations;
pub(crate) use positions::LocationReader;
pub(crate) use positions::RangeEnd;
pub use positions::{CallChain, LocationNames, NamedPosition};
