//! Values as the text of command lines and as NumPy files: scalars, tensors and their elements.
//! Nothing here knows a function.

pub mod compare;
pub mod element_type;
pub mod npy;
pub mod scalar;
mod small_float;
pub mod tensor;
