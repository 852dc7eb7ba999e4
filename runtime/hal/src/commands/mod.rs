//! Commands: recorded as data, checked against the memory that they name, and walked one at a time.
//! Nothing here decides when commands run: queues do.

mod command;
mod command_buffer;
mod descriptor_sets;
mod execution;
mod requirements;
mod validation;

pub(crate) use command::{
    BufferRange, BufferReference, Command, Commands, DispatchCommand, StandInCommand, TableEntry,
    WorkgroupCount,
};
pub use command_buffer::CommandBuffer;
pub(crate) use descriptor_sets::{DescriptorSetLayout, PipelineLayout, Pushed};
pub(crate) use execution::Execution;
pub use execution::ResolvedDispatch;
