//! Values of programs as text: the inputs of a command line, and the uses of results.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `input_files` | the files that inputs name |
//! | `inputs` | values from text and files: `--input=` |
//! | `outputs` | results to files and against expectations: `--output=`, `--expected_output=` |
//! | `structured` | nested values by a function's signature: JSON in, text or JSON out |
//! | `tensor_files` | the tensors of a file: `.npy`, archives of parameters, bytes |
//!
//! A room uses only rooms above it in this table. The syntax is `iree-run-module`'s; scalars are
//! read and printed by `vm::value_text`, elements of tensors by `abi::tensor`.

mod input_files;
mod inputs;
mod outputs;
mod structured;
mod tensor_files;

pub use input_files::{InputFiles, file_of_input, input_of_file};
pub use inputs::{Input, InputError, parse_inputs, parse_inputs_from, parse_values};
pub use outputs::{Equality, check_tensors, mismatches, write_output};
pub use structured::{BYTES, Inputs, StructureError, TENSOR, Unpacked, pack, pack_with, unpack};
pub use tensor_files::{FileTensor, TensorFile, TensorFileError};
