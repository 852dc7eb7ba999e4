//! IREE's runtime beside the bytecode: devices, buffers, executables, and the native modules that
//! give programs access to them.
//!
//! | file | holds |
//! | --- | --- |
//! | `flags` | sets of flags: memory types, access, usage |
//! | `buffer`, `buffer_view`, `file` | device memory, tensors in it, memory to read from |
//! | `allocator` | makes device memory, knows what is alive |
//! | `semaphore`, `fence` | what orders queue operations |
//! | `command_buffer`, `validation` | recorded commands, what they require of their memory |
//! | `execution`, `queue`, `device` | walking commands; submissions; the CPU as a device |
//! | `refusals` | what programs for other devices asked in vain, and what to do about them |
//! | `executable` | compiled dispatches: one trait, a file for each format |
//! | `submission`, `dispatching`, `nested` | dispatches for those who watch or limit them: as steps on the program's own stack |
//! | `inputs`, `outputs` | values from text, to files, against expectations |
//! | `structured` | nested values by their signature, in and out |
//! | `modules` | the native modules: thin glue from VM signatures to the above |
//! | `parameters` | named bytes in mapped archives: `.irpa`, `.gguf`, `.safetensors` |
//!
//! Nothing here debugs or prints: a module tells its results through values.

pub mod allocator;
pub mod buffer;
pub mod buffer_view;
pub mod command_buffer;
pub mod descriptor_sets;
pub mod device;
mod dispatching;
pub mod executable;
pub mod execution;
pub mod fence;
pub mod file;
pub mod flags;
pub mod guard;
pub mod inputs;
pub mod modules;
pub mod nested;
pub mod outputs;
pub mod parameters;
pub mod queue;
mod refusals;
pub mod semaphore;
pub mod structured;
pub mod submission;
pub mod validation;
