//! Values of the VM program at an instruction.

use std::sync::Arc;

use crate::register::RegisterSlot;

/// A value of the VM program that can be read where the program stands.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalValue {
    /// Its SSA name, unique in the function: `%0`, `%bb1_arg0`.
    pub name: String,
    /// Its name in the text of the VM program, where that is another one: `%1` for `%bb1_arg0`.
    pub listing_name: Option<String>,
    /// Its MLIR type.
    pub mlir_type: Arc<str>,
    /// Where it is.
    pub register: RegisterSlot,
    /// Which argument of the function it is, if it is one.
    pub argument: Option<u32>,
}
