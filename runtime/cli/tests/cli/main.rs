//! The binary `iree-dbg`, run as users run it: its commands, its terminal debugger, and what they
//! print.
//!
//! One program has all of these tests, since each program that is linked costs seconds of a build.
//! `cargo test -p iree-dbg --test cli twins` runs those of one module. A test shares this process
//! with others that run at the same time: it changes neither the environment nor the directory of
//! the process, and has files under a name of its own. Data of a test are in the folder of its name
//! in `tests`.
//!
//! Many need IREE's tools: `pip install iree-base-compiler iree-base-runtime`.

mod again;
mod bench;
mod bounds;
mod changed_files;
mod check;
mod device;
mod diff;
mod difference;
mod documents;
mod endless;
mod escapes;
mod evaluated;
mod evidence;
mod example;
mod framework;
mod guards;
mod help;
mod hostile_recordings;
mod kept;
mod layers;
mod limits;
mod line_values;
mod lsp;
mod mcp;
mod older;
mod onnx;
mod ports;
mod processes;
mod profile;
mod program;
mod prompt;
mod recorded;
mod recorded_results;
mod reduce;
mod repro;
mod run;
mod run_table;
mod schemas;
mod scripts;
mod stand_ins;
mod stories;
mod tensors;
mod terminal;
mod traps;
mod trust;
mod twins;
mod verdicts;
mod view;
mod ways_back;
mod why;
