//! What a stopped program looks like: plain structs for frames, variables and addresses, and values
//! as text.
//!
//! Knows objects of the VM and the HAL by their types, and no program: it uses only `tensor`.

pub(crate) mod absent;
pub(crate) mod address;
pub(crate) mod executions;
pub(crate) mod frame;
pub(crate) mod memory;
pub(crate) mod register;
pub(crate) mod run_map;
pub(crate) mod symbol;
pub(crate) mod tensor_memory;
pub(crate) mod text;
pub(crate) mod value;
pub(crate) mod variable;
