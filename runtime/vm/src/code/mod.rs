//! The executable form of functions, made on first call. Uses `modules`, `stack` and the rooms
//! before them. Handlers are above this room: code is generic in them and asks for them through
//! [`Handle`].

mod call_plan;
mod call_planner;
mod compiled;
mod function;
mod handler_choice;
mod instr;
mod instructions;
mod loop_heads;
mod results_at_hand;
mod shape;
mod translate;

pub(crate) use call_plan::{CallPlan, NativeArgument, Slot, argument_slots, slot, slot_by_bank};
pub(crate) use call_planner::Linkage;
pub(crate) use compiled::{Compiled, MachineCode};
pub(crate) use function::{Armed, FunctionCode, FunctionSlot, Guarded, SYNTHETIC, plan_of_call};
pub(crate) use handler_choice::alone;
pub(crate) use instr::{Code, Instr};
pub(crate) use instructions::{CheckedCode, Cursor};
pub(crate) use results_at_hand::{Known, known_at};
pub(crate) use shape::{Bank, Entry, Field, Handle, Origin, Shape, Variant, Variants};
pub(crate) use translate::translate;

#[cfg(test)]
pub(crate) use function::Heat;
#[cfg(test)]
pub(crate) use instr::CODES;
#[cfg(test)]
pub(crate) use instructions::{Executable, Instructions, distance};
