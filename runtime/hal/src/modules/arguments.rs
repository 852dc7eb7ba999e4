//! Reading the arguments of native functions, with IREE's errors for wrong refs.

use std::sync::Arc;

use vm::{Arguments, Object, Ref, Status};

use crate::commands::CommandBuffer;
use crate::device::{Device, DeviceRef};
use crate::executables::{Executable, ExecutableRef};
use crate::memory::{Allocator, Buffer, BufferView, File};
use crate::scheduling::Fence;

/// The arguments of a call, or a tuple of a span, as types of this crate.
pub(crate) trait HalArguments {
    /// A native object of the expected type, whose name in errors is `type_name`.
    fn native<T: Object>(&self, index: usize, type_name: &str) -> Result<&T, Status>;

    /// A native object or null.
    fn optional<T: Object>(&self, index: usize, type_name: &str) -> Result<Option<&T>, Status>;

    /// A 32-bit number without a sign.
    fn u32(&self, index: usize) -> Result<u32, Status>;

    /// A 64-bit number without a sign: sizes, offsets, flags.
    fn u64(&self, index: usize) -> Result<u64, Status>;

    /// Text in a `!vm.buffer`.
    fn text(&self, index: usize) -> Result<String, Status>;

    /// A `!vm.buffer`.
    fn bytes(&self, index: usize) -> Result<&Arc<vm::Buffer>, Status>;

    fn device(&self, index: usize) -> Result<&Arc<Device>, Status> {
        self.native::<DeviceRef>(index, "hal.device").map(|device| &device.0)
    }

    fn allocator(&self, index: usize) -> Result<&Allocator, Status> {
        self.native(index, "hal.allocator")
    }

    fn hal_buffer(&self, index: usize) -> Result<&Buffer, Status> {
        self.native(index, "hal.buffer")
    }

    fn optional_buffer(&self, index: usize) -> Result<Option<&Buffer>, Status> {
        self.optional(index, "hal.buffer")
    }

    fn buffer_view(&self, index: usize) -> Result<&BufferView, Status> {
        self.native(index, "hal.buffer_view")
    }

    fn command_buffer(&self, index: usize) -> Result<&CommandBuffer, Status> {
        self.native(index, "hal.command_buffer")
    }

    fn executable(&self, index: usize) -> Result<&Arc<dyn Executable>, Status> {
        self.native::<ExecutableRef>(index, "hal.executable").map(|executable| &executable.0)
    }

    fn file(&self, index: usize) -> Result<&File, Status> {
        self.native(index, "hal.file")
    }

    /// A fence; null is a fence that is reached.
    fn fence(&self, index: usize) -> Result<Fence, Status> {
        Ok(self.optional(index, "hal.fence")?.cloned().unwrap_or_default())
    }
}

impl HalArguments for Arguments<'_> {
    fn native<T: Object>(&self, index: usize, type_name: &str) -> Result<&T, Status> {
        self.optional(index, type_name)?.ok_or_else(|| {
            Status::invalid_argument(format!("ref is null; argument {index} must be !{type_name}"))
        })
    }

    fn optional<T: Object>(&self, index: usize, type_name: &str) -> Result<Option<&T>, Status> {
        let value = self.reference(index)?;
        if value.is_null() {
            return Ok(None);
        }
        value.downcast().map(Some).ok_or_else(|| mismatch(index, value, type_name))
    }

    fn u32(&self, index: usize) -> Result<u32, Status> {
        self.i32(index).map(i32::cast_unsigned)
    }

    fn u64(&self, index: usize) -> Result<u64, Status> {
        self.i64(index).map(i64::cast_unsigned)
    }

    fn text(&self, index: usize) -> Result<String, Status> {
        let bytes = self.bytes(index)?;
        Ok(String::from_utf8_lossy(&bytes.read(0, bytes.len())).into_owned())
    }

    fn bytes(&self, index: usize) -> Result<&Arc<vm::Buffer>, Status> {
        match self.reference(index)? {
            Ref::Buffer(buffer) => Ok(buffer),
            Ref::Null => Err(Status::invalid_argument(format!(
                "ref is null; argument {index} must be !vm.buffer"
            ))),
            other => Err(mismatch(index, other, "vm.buffer")),
        }
    }
}

fn mismatch(index: usize, found: &Ref, expected: &str) -> Status {
    Status::invalid_argument(format!(
        "ref type mismatch; argument {index} is !{}, it must be !{expected}",
        found.type_name()
    ))
}
