//! What happens to the command line before clap reads it. Each file handles one thing; none knows a
//! command.

mod compile_flags;
mod eval_commands;
mod flag_files;
mod listings;
mod tool_names;

pub(crate) use compile_flags::move_compile_flags;
pub(crate) use eval_commands::expand_eval_commands;
pub(crate) use flag_files::expand_flag_files;
pub(crate) use listings::listing;
pub(crate) use tool_names::{expand_tool_name, is_iree_compile};
