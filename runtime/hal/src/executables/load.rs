//! Loading an executable by the name of its format.

use std::sync::Arc;

use vm::Status;

use super::gpu::OpenGpu;
use super::interface::Executable;
use super::native::{self, NativeCode, Plugins};
use super::sandboxed::{self, Sandbox};
use super::vmvx;

/// How to compile a program that runs here.
pub(crate) const RECOMPILE: &str = if native::FORMATS.is_empty() {
    "recompile with --iree-hal-target-device=local \
     --iree-hal-local-target-device-backends=vmvx: machine code is run on Linux and macOS, on \
     x86-64 and 64-bit Arm, only"
} else {
    "recompile with --iree-hal-target-device=local \
     --iree-hal-local-target-device-backends=vmvx (or llvm-cpu, for this processor)"
};

/// Whether machine code runs, and what it imports from.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachineCode {
    /// Whether it runs.
    pub(crate) allowed: NativeCode,
    /// What its imports are resolved with.
    pub(crate) plugins: Plugins,
    /// Where it runs, if not in this process; or why it cannot run there.
    pub(crate) sandbox: Option<Result<Arc<Sandbox>, Status>>,
    /// The graphics processor of the device, if it is one.
    pub(crate) gpu: Option<OpenGpu>,
    /// The process that it is used in, if not in this one; or why there is none.
    pub(crate) gpu_apart: Option<Result<Arc<Sandbox>, Status>>,
}

impl MachineCode {
    /// The device that runs executables of a format.
    fn gpu_for(&self, format: &str) -> Option<&OpenGpu> {
        self.gpu.as_ref().filter(|gpu| gpu.runs(format, self.allowed))
    }
}

/// Loads an executable of any format that can run here. The executable does not refer to `data`
/// afterwards. The program specialises it with `constants`; `limits` bound each workgroup of
/// bytecode.
///
/// # Errors
/// The format is for other devices, or the data is not a valid executable of that format.
pub(crate) fn load(
    format: &str,
    data: &Arc<vm::Buffer>,
    constants: &[u32],
    machine_code: &MachineCode,
    limits: &vm::ExecutionLimits,
) -> Result<Arc<dyn Executable>, Status> {
    match format {
        vmvx::FORMAT => Ok(Arc::new(vmvx::VmvxExecutable::load(data, constants, limits)?)),
        _ if let Some(gpu) = machine_code.gpu_for(format) => match &machine_code.gpu_apart {
            Some(apart) => sandboxed::load(apart.clone()?, format, data, constants),
            None => gpu.load(format, data, constants),
        },
        _ if native::FORMATS.contains(&format) => {
            let MachineCode { allowed, plugins, sandbox, .. } = machine_code;
            if *allowed == NativeCode::Sandboxed {
                let unset = || Err(Status::internal("the program has no sandbox"));
                let sandbox = sandbox.clone().unwrap_or_else(unset)?;
                return sandboxed::load(sandbox, format, data, constants);
            }
            let load = native::NativeExecutable::load;
            Ok(Arc::new(load(format, data, constants, *allowed, plugins)?))
        }
        _ => Err(unsupported(format)),
    }
}

/// Whether [`load`] supports the format: programs ask before they create executables.
#[must_use]
pub(crate) fn is_supported(format: &str, machine_code: &MachineCode) -> bool {
    runs_format(format, machine_code.allowed != NativeCode::Refused)
        || machine_code.gpu_for(format).is_some()
}

/// Whether executables of a format run on the CPU here.
#[must_use]
pub fn runs_format(format: &str, runs_machine_code: bool) -> bool {
    format == vmvx::FORMAT || runs_machine_code && native::FORMATS.contains(&format)
}

/// The error for an executable of another device, with advice.
fn unsupported(format: &str) -> Status {
    Status::new(
        vm::StatusCode::Incompatible,
        format!("executables of format '{format}' cannot run here; {RECOMPILE}"),
    )
}
