//! Why a value does not fit a signature, and the texts of types in such errors.

use abi::signature::{Array, Type};

/// Why values do not fit a signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("INVALID_ARGUMENT; {path}: {reason}")]
pub struct StructureError {
    /// The place: `args[1]["b"][0]`.
    pub(crate) path: String,
    /// What was expected, and what was found.
    pub(crate) reason: String,
}

pub(super) fn fail<T>(path: &str, reason: impl Into<String>) -> Result<T, StructureError> {
    Err(StructureError { path: path.to_owned(), reason: reason.into() })
}

/// Whether a type allows any value.
pub(super) fn is_untyped(ty: &Type) -> bool {
    matches!(ty, Type::Unknown | Type::Any | Type::Reference(_) | Type::Null)
}

/// A type in the words of `iree.abi`: `ndarray<f32, rank 2>`.
pub(super) fn describe(ty: &Type) -> String {
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
