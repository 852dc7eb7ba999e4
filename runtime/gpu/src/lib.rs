//! What graphics processors have in common, whatever interface they are driven by.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `error` | why there is no device, and how a run fails |
//! | `name` | how a device is called |
//! | `work` | what a device is asked to do |
//! | `pieces` | memory that host and device both see, cut into blocks |
//! | `staging` | copies of memory that a device cannot use where it lies |
//!
//! A module uses only modules above it in this table. The crates `vulkan` and `cuda` drive devices.
//!
//! A debugger looks at memory between any two dispatches. So all memory is visible to the host and
//! coherent, nothing is in flight when a call returns, and an address of the host is also the name
//! of the memory for a dispatch: see [`Span`].

mod error;
mod name;
mod pieces;
mod staging;
mod work;

pub use error::{Api, GpuError, NoGpu};
pub use name::{GpuName, NoGpuName};
pub use pieces::{Block, PieceSource, Pieces};
pub use staging::{Staging, StagingError};
pub use work::{Finished, Gpu, GpuOptions, Span, Work, run_in_parts};
