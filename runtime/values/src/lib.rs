//! Values of programs as text: the inputs of a command line, and the uses of results.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `inputs` | values from text and files: `--input=` |
//! | `outputs` | results to files and against expectations: `--output=`, `--expected_output=` |
//! | `structured` | nested values by a function's signature: JSON in, text or JSON out |
//!
//! A room uses only rooms above it in this table. The syntax is `iree-run-module`'s; scalars are
//! read and printed by `vm::value_text`, elements of tensors by `abi::tensor`.

mod inputs;
mod outputs;
mod structured;

pub use inputs::{Input, InputError, parse_inputs, parse_values};
pub use outputs::{Equality, check_tensors, mismatches, write_output};
pub use structured::{Inputs, StructureError, Unpacked, pack, unpack};
