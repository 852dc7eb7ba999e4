//! A Vulkan device as plain calls: memory that the host and the device both see, shaders, and
//! dispatches one after another.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `error` | what Vulkan returns, as the errors of all devices |
//! | `features` | what a device can do, and what a shader needs |
//! | `loader` | the system's Vulkan library, opened when it is asked for; validation layers |
//! | `description` | the devices of the machine |
//! | `device` | one of them that is open |
//! | `memory` | memory that is mapped all the time |
//! | `pipeline` | a shader with its layout, ready to run |
//! | `queue` | running pipelines on memory, and waiting for them |
//! | `gpu_device` | all of that as one type |
//!
//! A module uses only modules above it in this table.
//!
//! Memory, errors and what a device is asked to do are those of the crate `gpu`.
//!
//! # Soundness
//!
//! Handles of Vulkan live in types that destroy them when they are dropped, after everything that
//! was made from them: memory, pipelines and queue hold their device, a block its memory. What
//! Vulkan wants synchronised (the queue, the command pool, the descriptor pool) is in the queue,
//! which has one lock. A device that did not answer in time is left alone with all of its memory,
//! as it may still write.

mod description;
mod device;
mod error;
mod features;
mod gpu_device;
mod loader;
mod memory;
mod pipeline;
mod queue;

pub use description::GpuDescription;
pub use gpu_device::Gpu;
pub use loader::{Vulkan, VulkanOptions};
pub use memory::Block;
pub use pipeline::{Abi, Pipeline, PushConstants, Shader, Slot, SlotKind};
