//! Text formats that several modules read or write: a cursor with errors, JSON, floats as C prints
//! them, patterns for names. Nothing here knows a signature.

pub mod c_float;
pub(crate) mod cursor;
pub mod glob;
pub mod json;

pub use cursor::SyntaxError;
