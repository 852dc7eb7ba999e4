//! Control of the running program: breakpoints, watchpoints, traps, steps, resuming and jumps.
//!
//! Lowest first: `breakpoints`, `stop`, `traps`, `watcher`, `steps`, the tape of `record`,
//! `kept_dispatch`; then `runner`, which runs stretches, `twins`, which enters machine code,
//! `float_search`, which runs dispatches again that have left bad floats, `step`, which makes steps
//! of them, `resume`, `python_steps`, which makes steps by lines of Python of those, `again`, which
//! runs one dispatch again, `moves`, `sentences`, and the rest of `record`, which goes back.
//! `assign`, `breakpoint_edit` and `console` change the stopped program, `by_hand` is what a user
//! has written into its memory, `files` reads tensors for them. The folder uses everything below
//! it, and must not know the façade [`crate::Debugger`].

pub(crate) mod again;
pub(crate) mod assign;
pub(crate) mod breakpoint_edit;
pub(crate) mod breakpoints;
pub(crate) mod by_hand;
pub(crate) mod console;
mod files;
pub(crate) mod float_search;
pub(crate) mod kept_dispatch;
pub(crate) mod moves;
mod python_steps;
pub(crate) mod record;
pub(crate) mod refused;
pub(crate) mod resume;
pub(crate) mod runner;
pub(crate) mod sentences;
pub(crate) mod step;
pub(crate) mod steps;
pub(crate) mod stop;
pub(crate) mod traps;
pub(crate) mod twins;
pub(crate) mod watcher;
