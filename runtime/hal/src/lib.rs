//! IREE's runtime beside the bytecode: devices, buffers, executables, and the native modules that
//! give programs access to them.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `flags` | IREE's bit sets: memory types, access, buffer usage, modes of command buffers |
//! | `memory` | buffers, tensors in them, the allocator, guarded memory, what was there before |
//! | `parameters` | named bytes in mapped archives: `.irpa`, `.gguf`, `.safetensors` |
//! | `microkernels` | the native module `vmvx`, which bytecode dispatches call |
//! | `executables` | compiled dispatches: one trait, a file or folder for each format, the worker pool |
//! | `results` | what dispatches have left in a recorded run, in the place of running them |
//! | `commands` | recorded commands, what they require of their memory, walking them |
//! | `history` | the commands that ran, and the memory that each one used |
//! | `scheduling` | semaphores, fences, and the queue that they order |
//! | `device` | the CPU as a device, its queries, modules nested in executables, what is refused and why |
//! | `outside` | what the program gets from outside, logged, so that it can be given again |
//! | `activities` | submissions and dispatches as steps on the program's own stack |
//! | `expectations` | expectations of `check.*` that failed |
//! | `host` | the surroundings of one program: devices, parameters, libraries, limits |
//! | `modules` | the native modules: thin glue from VM signatures to the rooms above |
//!
//! A room uses only rooms above it in this table. Nothing here debugs or prints: a module reports
//! its results through values.

mod activities;
mod commands;
mod device;
mod executables;
mod expectations;
mod flags;
mod history;
mod host;
mod memory;
mod microkernels;
mod modules;
mod outside;
mod parameters;
mod results;
mod scheduling;

pub use activities::{
    QueueActivity, Race, RaceError, RaceKind, Step, Twin, TwinOutcome, TwinReport, attach_bytecode,
    attach_nested_modules,
};
pub use commands::{CommandBuffer, ResolvedDispatch};
pub use device::{
    Device, DeviceKind, DeviceRef, Gpus, ListedGpu, Unfinished, UnknownDevice, list_gpus,
};
pub use executables::{
    DispatchTime, Executable, ExecutableRef, Export, ForeignCall, HAS_SANDBOX, MachineState,
    NativeCode, NoSandboxChoice, NoStandIn, Plugins, SandboxChoice, StandIn, StandInBytecode,
    StandIns, examine_gpu_code, examine_machine_code, offer_sandbox, runs_format, serve_sandbox,
    workgroup_at,
};
pub use expectations::Expectations;
pub use flags::{BufferUsage, MemoryAccess, MemoryType};
pub use gpu::{Api as GpuApi, GpuName, GpuOptions, NoGpu};
pub use history::{
    CommandListener, CommandRecord, DispatchTexts, History, HistoryMark, Left, PastDispatch, Runs,
    Span, Timing, Work,
};
pub use host::{Config, Host, NativeLibrary};
pub use memory::{
    Allocator, AllocatorMark, Buffer, BufferParameters, BufferView, Encoding, Journal, Keeps,
    Ledger, LiveAllocation, MemoryStatistics, Noted, Origin, Overwritten, Past, PastLost, Room,
    WrittenBytes, unwritten_bytes,
};
pub use modules::{check, modules_for};
pub use outside::{
    Change, Given, LaterCalls, OutsideCall, OutsideLog, Place, Plain, PlainMemory, Write,
};
pub use parameters::{Entry, Parameters, Source};
pub use results::{DispatchResult, ResultSink, ResultSource};
pub use scheduling::{Fence, append_fences};
pub use vulkan::VulkanOptions;
