//! Facts from the bytecode alone: where instructions begin, what they write, and the types of the
//! values in registers. Nothing here knows debug information.

mod forward;
mod instructions;
mod recorded_exports;
mod register;
mod register_types;

pub use instructions::Role;
pub(crate) use instructions::{Code, CodeInstruction};
pub use recorded_exports::recorded_exports;
pub use register::RegisterSlot;
pub use register_types::RegisterTypes;
pub(crate) use register_types::{argument_slots, result_banks};
