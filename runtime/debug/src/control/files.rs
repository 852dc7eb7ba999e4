//! Tensors in NumPy files, for expressions that a user has typed: `@reference.npy`.
//!
//! Conditions and log messages read no files: they may come from a workspace that the user has only
//! opened, and are evaluated again and again.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use abi::tensor::TensorType;
use vm::Buffer;

use crate::expression::{Datum, EvaluationError, Limits};
use crate::tensor::TensorView;

/// The widest element, for the limit on the bytes of a file.
const WIDEST: usize = 16;

/// Bytes before the elements.
const HEADER: usize = 1 << 16;

/// The first tensor in a file.
pub(super) fn tensor(path: &str, limits: &Limits) -> Result<Datum, EvaluationError> {
    let failed = |error: &dyn std::fmt::Display| EvaluationError::File {
        path: path.to_owned(),
        why: error.to_string(),
    };
    let most = limits.elements.saturating_mul(WIDEST).saturating_add(HEADER);
    let file = File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let length = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    if length.map_err(|error| failed(&error))? as u64 > most {
        return Err(failed(&format!("it has more than {} elements", limits.elements)));
    }
    let (tensor, _) = abi::npy::read(&bytes).map_err(|error| failed(&error))?;
    let tensor_type = TensorType { shape: tensor.shape, element_type: tensor.element_type };
    if tensor_type.element_count().is_none_or(|count| count > limits.elements) {
        return Err(failed(&format!("it has more than {} elements", limits.elements)));
    }
    let buffer = Buffer::from_bytes(&tensor.bytes).map_err(|status| failed(&status))?;
    let view = TensorView::new(Arc::new(buffer), tensor_type);
    view.map(Datum::Tensor).map_err(|error| failed(&error))
}
