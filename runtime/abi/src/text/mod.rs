//! Text formats that several modules read or write: a cursor with errors, JSON, floats as C prints
//! them, patterns for names, texts as a terminal may show them. Nothing here knows a signature.

pub mod c_float;
pub(crate) mod cursor;
pub mod glob;
pub mod json;
pub(crate) mod shown;

pub use cursor::SyntaxError;
pub use shown::shown;
