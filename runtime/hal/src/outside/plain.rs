//! A call as plain data, which can be kept in a file.

use std::fmt;

use serde::{Deserialize, Serialize};
use vm::Status;

/// A call of a function outside.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OutsideCall {
    /// The module that the program imports it from.
    pub module: String,
    /// Its name there.
    pub function: String,
    /// What it was called with.
    pub given: Vec<Given>,
    /// What it has returned, or why it has failed.
    #[serde(with = "status")]
    pub result: Result<Vec<Plain>, Status>,
    /// What it has changed of what the program has.
    pub writes: Vec<Write>,
    /// Whether the program has waited for it.
    pub has_waited: bool,
    /// How many commands of the device ran before it returned.
    pub commands: u64,
}

impl OutsideCall {
    /// The type of an object that it has returned or written and that cannot be made again from
    /// data, if there is one.
    #[must_use]
    pub fn opaque(&self) -> Option<&str> {
        let written = self.writes.iter().filter_map(|write| match &write.change {
            Change::Elements(elements) => Some(elements.iter().flatten()),
            Change::Bytes { .. } => None,
        });
        let mut values = self.result.iter().flatten().chain(written.flatten());
        values.find_map(Plain::opaque)
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let results = self.result.iter().flatten().map(Plain::size).sum::<usize>();
        let writes = self.writes.iter().map(|write| match &write.change {
            Change::Bytes { bytes, .. } => size_of::<Write>() + bytes.len(),
            Change::Elements(elements) => {
                size_of::<Write>() + elements.iter().flatten().map(Plain::size).sum::<usize>()
            }
        });
        size_of::<Self>() + results + writes.sum::<usize>()
    }
}

impl fmt::Display for OutsideCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}.{}", self.module, self.function)
    }
}

/// What an argument was, to notice that a program calls a function otherwise than before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Given {
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// The bits of a 32-bit float.
    F32(u32),
    /// The bits of a 64-bit float.
    F64(u64),
    /// The null reference.
    Null,
    /// A digest of an object's type and contents.
    Contents(u64),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::I32(value) => write!(f, "{value}"),
            Self::I64(value) => write!(f, "{value}"),
            Self::F32(bits) => write!(f, "{}", f32::from_bits(bits)),
            Self::F64(bits) => write!(f, "{}", f64::from_bits(bits)),
            Self::Null => f.write_str("null"),
            Self::Contents(digest) => write!(f, "contents {digest:016x}"),
        }
    }
}

/// An object that something outside has seen, by where it saw it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The number of the call.
    pub call: u64,
    /// Whether it was a result of the call, not an argument.
    pub is_result: bool,
    /// The number of the argument or result, then of the elements of lists in lists.
    pub path: Vec<u32>,
}

/// A change of an object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Write {
    /// The object.
    pub place: Place,
    /// What has changed.
    pub change: Change,
}

/// What has changed of an object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Change {
    /// Bytes of a buffer of the VM or a device, or of the buffer of a tensor.
    Bytes {
        /// Where they begin.
        offset: u64,
        /// What they are now.
        bytes: Vec<u8>,
    },
    /// The elements of a list, all of them.
    Elements(Vec<Option<Plain>>),
}

/// A value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Plain {
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// The bits of a 32-bit float.
    F32(u32),
    /// The bits of a 64-bit float.
    F64(u64),
    /// The null reference.
    Null,
    /// A new buffer of the VM.
    Buffer(Vec<u8>),
    /// A new list.
    List {
        /// The type of its elements, as type tables of modules spell it.
        element_type: String,
        /// The elements. `None`: it was never set.
        elements: Vec<Option<Self>>,
    },
    /// `!hal.buffer`
    DeviceBuffer(PlainMemory),
    /// `!hal.buffer_view`
    BufferView {
        /// The bytes.
        memory: PlainMemory,
        /// The dimensions, outermost first.
        shape: Vec<u64>,
        /// The code of the element type.
        element_type: u32,
        /// The number of the layout.
        encoding: u32,
    },
    /// An object that was seen before.
    Same(Place),
    /// An object of another type, which cannot be made again from data.
    Object(String),
}

impl Plain {
    fn opaque(&self) -> Option<&str> {
        match self {
            Self::Object(type_name) => Some(type_name),
            Self::List { elements, .. } => elements.iter().flatten().find_map(Self::opaque),
            _ => None,
        }
    }

    pub(super) fn size(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Buffer(bytes) => bytes.len(),
                Self::List { elements, .. } => elements.iter().flatten().map(Self::size).sum(),
                Self::DeviceBuffer(memory) | Self::BufferView { memory, .. } => match memory {
                    PlainMemory::Own { bytes, .. } => bytes.len(),
                    PlainMemory::Part { .. } => 0,
                },
                _ => 0,
            }
    }
}

/// Memory of a device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum PlainMemory {
    /// New memory.
    Own {
        /// What is in it.
        bytes: Vec<u8>,
        /// The bits of its [`crate::MemoryType`].
        memory_type: u32,
        /// The bits of its [`crate::BufferUsage`].
        usage: u32,
        /// The bits of its [`crate::MemoryAccess`].
        access: u32,
    },
    /// A part of the memory of an object that was seen before.
    Part {
        /// The object.
        place: Place,
        /// Where it begins in that memory.
        offset: u64,
        /// Bytes in it.
        length: u64,
    },
}

/// The outcome of a call: a status is its name and its message.
mod status {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use vm::{Status, StatusCode};

    use super::Plain;

    pub(super) fn serialize<S: Serializer>(
        outcome: &Result<Vec<Plain>, Status>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let outcome = outcome.as_ref().map_err(|it| (it.code.name(), &it.message));
        outcome.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Result<Vec<Plain>, Status>, D::Error> {
        match Result::<Vec<Plain>, (String, String)>::deserialize(deserializer)? {
            Ok(results) => Ok(Ok(results)),
            Err((name, message)) => {
                let code = StatusCode::named(&name);
                let code = code.ok_or_else(|| D::Error::custom(format!("no status {name:?}")))?;
                Ok(Err(Status::new(code, message)))
            }
        }
    }
}
