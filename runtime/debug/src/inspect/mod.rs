//! Looking at a stopped program: its stack, scopes, values, dispatches, and expressions in frames.
//!
//! The files add methods with `&self` to [`Machine`](crate::machine::Machine): nothing here changes
//! the program. The folder uses everything below it, and must not know breakpoints, steps or traps.

pub(crate) mod ahead;
pub(crate) mod all_tensors;
mod by_elements;
pub(crate) mod command;
pub(crate) mod described_row;
pub(crate) mod dispatch;
pub(crate) mod dispatch_list;
pub(crate) mod dispatch_state;
pub(crate) mod evaluate;
pub(crate) mod evidence;
pub(crate) mod executions;
pub(crate) mod frame_scope;
mod given;
pub(crate) mod globals;
mod guessed_types;
pub(crate) mod how_far;
pub(crate) mod line_values;
pub(crate) mod lookup;
pub(crate) mod machine_code;
pub(crate) mod not_watchable;
pub(crate) mod numbered_dispatch;
pub(crate) mod operand_names;
mod operation_frames;
mod past_tensors;
pub(crate) mod progress;
mod python_frames;
pub(crate) mod recomputed;
pub(crate) mod register_origin;
pub(crate) mod run_map;
pub(crate) mod scopes;
mod shown_type;
mod source_evaluation;
mod source_shapes;
pub(crate) mod special_values;
pub(crate) mod stack;
pub(crate) mod standing_dispatch;
pub(crate) mod step_in_targets;
mod submitted;
pub(crate) mod tensor_list;
pub(crate) mod tensor_memory;
mod tensors;
pub(crate) mod transfers;
pub(crate) mod twin_difference;
pub(crate) mod variables;
pub(crate) mod watch_target;
pub(crate) mod watchable;
