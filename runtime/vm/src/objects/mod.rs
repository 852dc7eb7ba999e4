//! What registers, globals and lists hold: numbers, refs, and the objects that refs refer to. Uses
//! `errors`, `limits` and `ops`; knows neither frames nor code.

mod atomic_cells;
mod buffer;
mod guest_memory;
mod list;
mod makes;
mod number_list;
mod types;
mod value;

pub use buffer::{Access, Buffer};
pub use list::{ElementType, List};
pub use makes::{LaterMakes, Makes};
pub use types::{RefType, ScalarType, Type};
pub use value::{Kept, Object, Ref, Restore, Value};

pub(crate) use number_list::Numbers;
pub(crate) use value::check_type;
