//! `-ex COMMAND` of `iree-dbg debug`, as gdb spells it: a flag of two letters after one dash.

use std::ffi::OsString;

/// Replaces `-ex` by a flag that clap can read. Arguments of other commands stay as they are.
pub(crate) fn expand_eval_commands(arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "debug") {
        return arguments;
    }
    let spell = |argument: OsString| match argument.to_str() {
        Some("-ex") => "--eval-command".into(),
        _ => argument,
    };
    arguments.into_iter().map(spell).collect()
}
