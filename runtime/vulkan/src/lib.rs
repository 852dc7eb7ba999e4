//! A Vulkan device as plain calls: memory that the host and the device both see, shaders, and
//! dispatches one after another.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `loader` | the system's Vulkan library, opened when it is asked for; validation layers |
//! | `gpu` | the devices of the machine, and one that is open |
//! | `features` | what a device can do, and what a shader needs |
//! | `memory` | memory that is mapped all the time, cut into blocks |
//! | `pipeline` | a shader with its layout, ready to run |
//! | `dispatch` | running pipelines on memory, and waiting for them |
//! | `error` | why there is no device, and how a run fails |
//!
//! A debugger looks at memory between any two dispatches. So all memory is visible to the host and
//! coherent, nothing is in flight when a call returns, and an address of the host is also the name
//! of the memory for a dispatch: see [`Span`].
//!
//! # Soundness
//!
//! Handles of Vulkan live in types that destroy them when they are dropped, after everything that
//! was made from them: a [`Pipeline`] and a [`Block`] hold their [`Gpu`], which holds its
//! [`Vulkan`]. What Vulkan wants synchronised (the queue, the command pool, the descriptor pool) is
//! behind one lock. A device that did not answer in time is left alone with all of its memory: it
//! may still write.

mod dispatch;
mod error;
mod features;
mod gpu;
mod loader;
mod memory;
mod pipeline;

pub use dispatch::{Finished, Span, Work};
pub use error::{GpuError, NoVulkan};
pub use gpu::{Gpu, GpuDescription, GpuName, GpuOptions};
pub use loader::{Vulkan, VulkanOptions};
pub use memory::Block;
pub use pipeline::{Abi, Pipeline, PushConstants, Shader, Slot, SlotKind};
