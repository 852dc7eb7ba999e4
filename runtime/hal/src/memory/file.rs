//! `!hal.file`: bytes that queues read and write, which are always memory here.

use std::any::Any;

use vm::{Object, Status};

use super::buffer::Buffer;
use crate::flags::MemoryAccess;

/// Bytes that queues read and write.
#[derive(Clone, Debug)]
pub(crate) struct File {
    contents: Buffer,
}

impl File {
    /// Memory as a file, with the access rights of the memory.
    #[must_use]
    pub(crate) fn of_memory(contents: Buffer) -> Self {
        Self { contents }
    }

    /// The bytes.
    #[must_use]
    pub(crate) fn contents(&self) -> &Buffer {
        &self.contents
    }

    /// Checks that the program may access the file in these ways.
    ///
    /// # Errors
    /// The memory does not allow it.
    pub(crate) fn check_access(&self, required: MemoryAccess) -> Result<(), Status> {
        let allowed = self.contents.parameters().access;
        if allowed.contains(required) {
            return Ok(());
        }
        Err(Status::permission_denied(format!(
            "file operation cannot be performed; file allows {allowed}, operation requires \
             {required}"
        )))
    }
}

impl Object for File {
    fn type_name(&self) -> &str {
        "hal.file"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
