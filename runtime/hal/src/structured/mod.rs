//! Nested values across the boundary of a VM function: what a signature promises, packed into lists
//! and buffer views, and back.
//!
//! ```text
//! JSON or .npy ── pack, by the types of the arguments ──► VM values ── call ──► VM values ── unpack ──► text or JSON
//! a structure is a list of its values, without keys     an array is a buffer view     a string is a list of bytes
//! ```
//!
//! Every error names the place: `args[1]["b"][0]: expected ndarray<f32, rank 2>, got …`. What a
//! signature does not tell (`unknown`, refs without a type) is packed by what is given. [`pack`]
//! and [`unpack`] have the two directions.

mod pack;
mod unpack;

pub use pack::{Inputs, pack};
pub use unpack::{Unpacked, unpack};

use abi::signature::{Array, Type};

/// Why values do not fit a signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("INVALID_ARGUMENT; {path}: {reason}")]
pub struct StructureError {
    /// Where: `args[1]["b"][0]`.
    pub path: String,
    /// What was expected and what is there.
    pub reason: String,
}

fn fail<T>(path: &str, reason: impl Into<String>) -> Result<T, StructureError> {
    Err(StructureError { path: path.to_owned(), reason: reason.into() })
}

/// Whether a type says nothing about its values.
fn is_untyped(ty: &Type) -> bool {
    matches!(ty, Type::Unknown | Type::Any | Type::Reference(_) | Type::Null)
}

/// A type in the words of `iree.abi`: `ndarray<f32, rank 2>`.
fn describe(ty: &Type) -> String {
    match ty {
        Type::Array(array) => describe_array(array),
        other => other.to_string(),
    }
}

fn describe_array(array: &Array) -> String {
    let Some(shape) = &array.shape else { return format!("ndarray<{}, any rank>", array.element) };
    if shape.iter().all(Option::is_none) {
        return format!("ndarray<{}, rank {}>", array.element, shape.len());
    }
    let shape: Vec<String> = shape
        .iter()
        .map(|length| length.map_or("?".to_owned(), |length| length.to_string()))
        .collect();
    format!("ndarray<{}, {}>", array.element, shape.join("x"))
}
