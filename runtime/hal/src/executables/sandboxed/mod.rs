//! Machine code in a sandbox: executables whose dispatches run in a child process that can only
//! compute.
//!
//! *Memory.* The program's buffers come from memory that the child has, too, at the same addresses
//! ([`crate::memory::Shared`], by `vm::MemorySource`), so a binding is passed as its address, and a
//! fault's address means the same here. What the program cannot change and lies elsewhere, such as
//! constants that it uses in place, is copied there once. Nothing else of this process is in the
//! child: a wild write harms the program's own buffers, and the child.
//!
//! *Dispatches.* The child is this program again, with the same code for machine code: it loads the
//! file and runs its initialisers (no instruction of it runs here), has a worker pool, pauses, and
//! turns faults into values. So a dispatch is one request, with its numbers and addresses as words
//! in a shared page; that all workgroups have run is one word. Where nothing can stop in between,
//! dispatches that follow each other are one request, too. Everything else is a message: what an
//! executable says of itself, and how a run halted, with the registers of each workgroup that
//! stands. A paused workgroup stays in the child, and one of `paused` stands for it here. The owner
//! keeps the account of steps and of time, and tells the child to pause. A child is ended once
//! something in it has failed, as its memory may be damaged, and the next dispatch gets a new one.
//! The system calls that are left to it are in the crate `sandbox`; any other one is a fault.
//!
//! *Graphics processors.* The same child, with all rights, opens a device and runs whole dispatches
//! on it ([`Sandbox::for_gpu`]): no driver works without files, but one that crashes ends only the
//! child.
//!
//! | file | what lives there |
//! | --- | --- |
//! | `messages` | what both sides say to each other |
//! | `owner` | the child of a program: started, asked, and ended |
//! | `paused` | workgroups that stand in the child |
//! | `executable` | an executable whose code is there |
//! | `inside` | the child: it loads, runs, pauses |

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod executable;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod inside;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod messages;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod owner;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod paused;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) use elsewhere::{Sandbox, load, of, run_together};
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use elsewhere::{offer_sandbox, serve_sandbox};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use executable::{load, of, run_together};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use inside::serve_sandbox;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use owner::Sandbox;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use owner::offer_sandbox;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vm::Status;

/// Whether there are sandboxes on this system.
pub const HAS_SANDBOX: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// A graphics processor that another process opens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct GpuApart {
    /// By what it is driven, and its name there: `vulkan` and `0`.
    pub(crate) driver: String,
    pub(crate) name: String,
    /// The library of Vulkan, or its folder.
    pub(crate) library: Option<PathBuf>,
    /// Whether the validation layers look on.
    pub(crate) validates: bool,
    /// How long a dispatch may take.
    pub(crate) patience: Duration,
}

/// Why machine code cannot run in a sandbox, with advice.
pub(crate) fn no_sandbox(reason: &dyn std::fmt::Display) -> Status {
    Status::permission_denied(format!(
        "machine code was to run in a sandbox, and there is none: {reason}; --sandbox=off runs it \
         with all your rights, --no-native runs bytecode only"
    ))
}
