//! A device of CUDA or HIP as plain calls: memory that the host and the device both see, kernels,
//! and dispatches one after another.
//!
//! HIP's functions for modules, streams and memory are copies of those of CUDA's driver: they have
//! the same parameters and the same meaning under other names. So one table has both names of each,
//! and all else here is written once.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `functions` | the functions of a driver, by both of their names |
//! | `driver` | the system's library, opened when it is asked for, and what its errors mean |
//! | `description` | the devices of the machine |
//! | `device` | one of them that is open |
//! | `memory` | memory that host and device both see |
//! | `kernel` | a function of an executable, ready to run |
//! | `stream` | running kernels, and waiting for them |
//! | `gpu_device` | all of that as one type |
//!
//! A module uses only modules above it in this table. Memory, errors and what a device is asked to
//! do are those of the crate `gpu`.
//!
//! # Soundness
//!
//! Handles of the driver live in types that give them back when they are dropped, after everything
//! that was made from them: memory, kernels and stream hold their device. A stream is used by one
//! thread at a time, under a lock. A device that did not answer in time, or whose context an error
//! has ended, is left alone with all of its memory, as it may still write.

mod description;
mod device;
mod driver;
mod functions;
mod gpu_device;
mod kernel;
mod memory;
mod stream;

pub use description::GpuDescription;
pub use driver::Driver;
pub use gpu_device::Gpu;
pub use kernel::{Kernel, Launch, Module};
pub use memory::Block;
