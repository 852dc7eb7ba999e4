//! What iree-compile writes, with and without debug files.

mod compiled;
mod widths;
