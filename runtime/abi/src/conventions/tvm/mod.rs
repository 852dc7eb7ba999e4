//! TVM FFI: one C signature for all functions, whose arguments and result are tagged values of 16
//! bytes.
//!
//! - [`index`]: the type indices that tag a value. [`layout`]: the structs of the ABI, with
//!   assertions on their offsets.
//! - [`schema`]: types as JSON, in the metadata of libraries, and as people write them.
//! - [`any`]: the meaning of a value's 16 bytes.
//!
//! Nothing here follows a pointer; the crate that calls libraries does.

pub mod any;
pub mod index;
pub mod layout;
pub mod schema;
