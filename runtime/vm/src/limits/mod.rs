//! How much a program may use (memory, stack, steps, time), and the request to stop. Uses
//! `position` and `errors`; knows nothing of what runs.

mod available_memory;
mod budget;
mod execution_limits;
mod interrupt;
mod limit_error;
mod memory_limit;
mod meter;
mod run_control;

pub use available_memory::default_memory;
pub use budget::Budget;
pub use execution_limits::{ExecutionLimits, SecondTier, parse_duration};
pub use interrupt::{AtDispatch, Busy, BusyDispatch, Interrupt};
pub use limit_error::LimitError;
pub use memory_limit::{Charge, Keeper, MemoryLimit, MemorySource, parse_bytes};
pub use meter::Meter;
pub use run_control::RunControl;

pub(crate) use meter::Halt;
