//! The machine: how one instruction leads to the next, how calls enter and return. Uses `code` and
//! the rooms before it; what each instruction does is in `handlers`, above.

mod calls;
mod operand;
mod outside;
mod run;
mod state;

pub(crate) use calls::{enter, give_back};
pub(crate) use operand::{Last, Operand, Previous, Register, Source};
pub(crate) use outside::{gather, pass, scatter};
pub(crate) use run::{Program, at_hand};
pub(crate) use state::{
    CheckedCode, Cursor, Dispatch, Exit, Free, FunctionCode, FunctionSlot, Handler, Machine,
    Observed, Reason, Signal, State, call,
};
