//! A program from the command line: its flags, its inputs and outputs, and its calls. The commands
//! that run a program share these; nothing here knows a command.

mod arguments;
mod call;
mod debuggee;
mod device;
mod exports;
mod limits;
mod outputs;
mod stand_ins;
mod structured;

pub(crate) use arguments::ProgramArguments;
pub(crate) use call::Program;
pub(crate) use debuggee::DebuggeeArguments;
pub(crate) use device::DeviceArguments;
pub(crate) use outputs::OutputArguments;
pub(crate) use stand_ins::stand_in;
