//! A program from the command line: its flags, its inputs and outputs, and its calls. The commands
//! that run a program share these; nothing here knows a command.

mod arguments;
mod call;
mod callee;
mod debuggee;
mod device;
mod exports;
mod gpu;
mod instruments;
mod iree_flags;
mod limits;
mod outputs;
mod sources;
mod stand_ins;
mod statistics;
mod structured;

pub(crate) use arguments::ProgramArguments;
pub(crate) use call::Program;
pub(crate) use callee::{Callee, CalleeKind};
pub(crate) use debuggee::DebuggeeArguments;
pub(crate) use device::DeviceArguments;
pub(crate) use instruments::write_instruments;
pub(crate) use iree_flags::{NoSwitch, parse_switch};
pub(crate) use outputs::OutputArguments;
pub(crate) use sources::SourceArguments;
pub(crate) use stand_ins::stand_in;
pub(crate) use statistics::StatisticsArguments;
