//! Frames and their registers. Uses `objects`, `limits` and `errors`; knows no instructions.

mod frames;
mod guard;
mod ref_registers;
mod registers;

pub use guard::{Guard, GuardFrame};

pub(crate) use frames::{Base, FrameState, Stack};
pub(crate) use ref_registers::{is_move, read_checked_ref, read_ref, ref_index};
pub(crate) use registers::{Refs, Registers, WINDOW};
