//! What the instructions alone say: where they begin, what they write, which registers hold values
//! of which type. Nothing here knows debug information.

mod instructions;
mod register;
mod register_types;

pub use instructions::Role;
pub(crate) use instructions::{Code, CodeInstruction};
pub use register::RegisterSlot;
pub use register_types::RegisterTypes;
pub(crate) use register_types::{argument_slots, result_banks};
