//! Tensors as files, and as flags of iree-run-module: `.npy` where NumPy has the element type, else
//! the bytes alone.

use std::io;
use std::path::Path;

use abi::element_type::NumericalKind;
use abi::npy;
use abi::tensor::{Tensor, TensorType};

use crate::dispatch_run::Input;

/// A tensor's file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TensorFile {
    /// Its name.
    pub(crate) name: String,
    /// How many bytes the elements take, which stand at its end.
    pub(crate) bytes: usize,
    /// Shape and element type.
    pub(crate) tensor_type: String,
}

impl TensorFile {
    /// Writes a tensor into a folder.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(folder: &Path, stem: &str, tensor: &Tensor) -> io::Result<Self> {
        let Tensor { shape, element_type, bytes } = tensor;
        let tensor_type =
            TensorType { shape: shape.clone(), element_type: *element_type }.to_string();
        let array = has_numpy_type(tensor).then(|| npy::write(tensor).ok()).flatten();
        let (name, contents) = match &array {
            Some(array) => (format!("{stem}.npy"), array),
            None => (format!("{stem}.bin"), bytes),
        };
        std::fs::write(folder.join(&name), contents)?;
        Ok(Self { name, bytes: bytes.len(), tensor_type })
    }

    /// The flag with which iree-run-module compares a result with it.
    pub(crate) fn expected_flag(&self) -> String {
        format!("--expected_output={}", self.flag())
    }

    /// The value of `--input=` that reads it.
    pub(crate) fn flag(&self) -> String {
        match self.name.ends_with(".npy") {
            true => format!("@{}", self.name),
            false => format!("{}=@{}", self.tensor_type, self.name),
        }
    }
}

/// Whether NumPy itself, and not an extension of it, has the element type.
fn has_numpy_type(tensor: &Tensor) -> bool {
    let kind = tensor.element_type.kind;
    let is_known = matches!(
        kind,
        NumericalKind::Integer
            | NumericalKind::SignedInteger
            | NumericalKind::UnsignedInteger
            | NumericalKind::Float
            | NumericalKind::ComplexFloat
    );
    is_known && !tensor.element_type.is_packed() && tensor.element_type.bits >= 8
}

/// An input of the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum InputFile {
    Tensor(TensorFile),
    Number(i32),
}

impl InputFile {
    /// Writes an input into a folder, if it is a tensor.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(folder: &Path, stem: &str, input: &Input) -> io::Result<Self> {
        Ok(match input {
            Input::Tensor(tensor) => Self::Tensor(TensorFile::write(folder, stem, tensor)?),
            Input::Number(number) => Self::Number(*number),
        })
    }

    /// The value of `--input=` that has it.
    pub(crate) fn flag(&self) -> String {
        match self {
            Self::Tensor(file) => file.flag(),
            Self::Number(number) => number.to_string(),
        }
    }
}
