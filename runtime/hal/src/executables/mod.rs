//! Compiled dispatches, in any format. An executable sees only the memory that a dispatch hands it:
//! no device, no queue, no native module except the microkernels.

mod dispatch;
mod foreign;
mod gpu;
mod halt;
mod interface;
mod load;
mod machine;
mod native;
mod pool;
mod recorded;
mod sandboxed;
mod times;
mod vmvx;

pub(crate) use dispatch::Dispatch;
pub use dispatch::workgroup_at;
pub(crate) use foreign::Foreign;
pub use foreign::{ForeignCall, NoStandIn, StandIn, StandInBytecode, StandIns};
pub use gpu::examine_gpu_code;
pub(crate) use gpu::{OpenGpu, is_for_gpus};
pub(crate) use halt::{Halt, Interrupted, PausedWorkgroup};
pub use interface::{Executable, ExecutableRef, Export};
pub use load::runs_format;
pub(crate) use load::{MachineCode, RECOMPILE, is_supported, load};
pub use machine::MachineState;
pub(crate) use native::{FORMATS as NATIVE_FORMATS, processor_feature, refusal};
pub use native::{NativeCode, NoSandboxChoice, Plugins, SandboxChoice, examine_machine_code};
pub(crate) use pool::WorkerPool;
pub(crate) use recorded::RecordedExecutable;
pub(crate) use sandboxed::{GpuApart, Sandbox, no_sandbox};
pub use sandboxed::{HAS_SANDBOX, offer_sandbox, serve_sandbox};
pub use times::DispatchTime;
pub(crate) use vmvx::{FORMAT as VMVX_FORMAT, SET_CONSTANTS, arguments, words};
