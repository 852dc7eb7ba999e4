//! IREE's runtime beside the bytecode: devices, buffers, executables, and the native modules that
//! give programs access to them.
//!
//! | file | holds |
//! | --- | --- |
//! | `flags` | sets of flags: memory types, access, usage |
//! | `buffer`, `buffer_view` | device memory and tensors in it |
//! | `command_buffer` | recorded commands |
//! | `executable` | compiled dispatches: one trait, a file for each format |
//! | `modules` | the native modules, a file or folder each |
//! | `check` | `check.*`, the expectations of tests |
//!
//! Nothing here debugs or prints: a module tells its results through values.

pub mod buffer;
pub mod buffer_view;
pub mod check;
pub mod command_buffer;
pub mod executable;
pub mod flags;
pub mod modules;
