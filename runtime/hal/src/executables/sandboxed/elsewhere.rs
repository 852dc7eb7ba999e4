//! Where there are no sandboxes.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use vm::{RunControl, Status};

use super::GpuApart;
use crate::executables::dispatch::Dispatch;
use crate::executables::halt::Halt;
use crate::executables::interface::Executable;
use crate::memory::Shared;

/// There is none.
#[derive(Debug)]
pub(crate) enum Sandbox {}

impl Sandbox {
    pub(crate) fn new(shared: Shared, _threads: usize, _memory: usize) -> Self {
        match shared {}
    }

    pub(crate) fn for_gpu(shared: Shared, _gpu: GpuApart) -> Self {
        match shared {}
    }
}

pub(crate) fn load(
    sandbox: Arc<Sandbox>,
    _format: &str,
    _data: &vm::Buffer,
    _constants: &[u32],
) -> Result<Arc<dyn Executable>, Status> {
    match *sandbox {}
}

/// There is none.
#[derive(Debug)]
pub(crate) enum SandboxedExecutable {}

impl SandboxedExecutable {
    pub(crate) fn run_with(
        &self,
        _dispatch: &Dispatch,
        _range: Range<u64>,
        _control: &RunControl,
        _is_alone: bool,
    ) -> Result<(), Halt> {
        match *self {}
    }
}

/// None: there are no sandboxes on this system.
pub(crate) fn of(_executable: &dyn Executable) -> Option<&SandboxedExecutable> {
    None
}

pub(crate) fn run_together(
    _dispatches: &[(Arc<dyn Executable>, Dispatch)],
    _is_alone: bool,
) -> Option<Result<(), Status>> {
    None
}

/// Does nothing: there are no sandboxes on this system.
pub fn offer_sandbox(_program: PathBuf) {}

/// Does nothing: there are no sandboxes on this system.
pub fn serve_sandbox() {}
