//! The server as a client sees it: bytes in and bytes out, over in-memory streams. The oracle is
//! the protocol itself, and for modules iree-compile's output.

mod across_files;
mod agreements;
mod checks;
mod client;
mod control_flow;
mod documents;
mod exports;
mod features;
mod last_run;
mod lifecycle;
mod module;
mod modules;
mod order;
mod panes;
mod quick_fixes;
mod rewriting;
mod stages;
mod test_runs;
mod traps;
