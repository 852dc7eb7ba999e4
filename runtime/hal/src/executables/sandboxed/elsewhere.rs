//! Where there are no sandboxes.

use std::path::PathBuf;
use std::sync::Arc;

use vm::Status;

use crate::executables::interface::Executable;
use crate::memory::Shared;

/// There is none.
#[derive(Debug)]
pub(crate) enum Sandbox {}

impl Sandbox {
    pub(crate) fn new(shared: Shared, _threads: usize, _memory: usize) -> Self {
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

/// Does nothing: there are no sandboxes on this system.
pub fn offer_sandbox(_program: PathBuf) {}

/// Does nothing: there are no sandboxes on this system.
pub fn serve_sandbox() {}
