//! What happens to the command line before clap reads it. Each file handles one flag; none knows a
//! command.

mod device_list;
mod eval_commands;
mod flag_files;

pub(crate) use device_list::device_list;
pub(crate) use eval_commands::expand_eval_commands;
pub(crate) use flag_files::expand_flag_files;
