//! Values as people see them: one line each, and what is inside.
//!
//! A register has no type of its own; the caller says how to look at it ([`RegisterSlot`], from the
//! debug companion or inferred from the instructions). Long things are shown by size and opened on
//! demand, a page at a time.

use std::ops::Range;
use std::sync::Arc;

use debuginfo::RegisterSlot;
use hal::{CommandBuffer, ExecutableRef};
use vm::{Access, Buffer, FrameIndex, Invocation, List, Ref, Value};

use crate::dispatch::tensor_type_of;
use crate::tensor::TensorView;
use crate::view::{BufferView, Children, Node, Variable};

/// The most elements of an indexed node that are shown when nobody says how many.
const DEFAULT_PAGE: usize = 1000;

/// The text of a value.
#[must_use]
pub fn value_text(value: &Value) -> String {
    match value {
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::F32(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::Ref(value) => ref_text(value),
    }
}

fn ref_text(value: &Ref) -> String {
    match value {
        Ref::Null => "null".to_owned(),
        Ref::Buffer(buffer) => {
            let access = if buffer.access() == Access::ReadOnly { ", read-only" } else { "" };
            format!("{} {}{access}", buffer.len(), plural(buffer.len(), "byte"))
        }
        Ref::List(list) => format!("{} {}", list.len(), plural(list.len(), "element")),
        Ref::Object(_) => object_text(value),
    }
}

/// What a native object is, in short.
fn object_text(value: &Ref) -> String {
    if let Some(tensor) = tensor_of(value) {
        return format!("{} {}", tensor.type_name(), tensor.short());
    }
    if let Some(buffer) = value.downcast::<hal::Buffer>() {
        let from = match buffer.offset() {
            0 => String::new(),
            offset => format!(" from {offset} of an allocation"),
        };
        return format!("{} {}{from}", buffer.len(), plural(buffer.len(), "byte"));
    }
    if let Some(executable) = value.downcast::<ExecutableRef>() {
        let count = executable.0.exports().len();
        return format!("{}, {count} {}", executable.0.format(), dispatches(count));
    }
    if let Some(commands) = value.downcast::<CommandBuffer>() {
        return match commands.commands() {
            Ok(commands) => {
                let count = commands.commands.len();
                format!("{count} {}", plural(count, "command"))
            }
            Err(_) => "being recorded".to_owned(),
        };
    }
    if let Some(fence) = value.downcast::<hal::Fence>() {
        return match fence.is_reached() {
            Ok(true) => "reached".to_owned(),
            Ok(false) => "not reached".to_owned(),
            Err(status) => status.to_string(),
        };
    }
    if let Some(device) = value.downcast::<hal::DeviceRef>() {
        return device.0.kind().name().to_owned();
    }
    format!("{value:?}")
}

fn dispatches(count: usize) -> &'static str {
    if count == 1 { "dispatch" } else { "dispatches" }
}

/// A buffer view as a tensor, if it is one that its buffer has room for.
fn tensor_of(value: &Ref) -> Option<TensorView> {
    let view: &hal::BufferView = value.downcast()?;
    TensorView::new(view.buffer().storage(), tensor_type_of(view)?).ok()
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { what.to_owned() } else { format!("{what}s") }
}

pub(crate) fn type_name(value: &Value) -> String {
    match value {
        Value::I32(_) => "i32".to_owned(),
        Value::I64(_) => "i64".to_owned(),
        Value::F32(_) => "f32".to_owned(),
        Value::F64(_) => "f64".to_owned(),
        Value::Ref(Ref::Null) => "!vm.ref<?>".to_owned(),
        Value::Ref(Ref::List(list)) => format!("!vm.list<{}>", list.element_type()),
        Value::Ref(other) => format!("!{}", other.type_name()),
    }
}

fn children_of(value: &Value) -> Option<Children> {
    match value {
        Value::Ref(Ref::Buffer(buffer)) => Some(Children {
            node: Node::Buffer(Arc::clone(buffer), BufferView::Choice),
            indexed: None,
        }),
        Value::Ref(value @ Ref::Object(_)) => {
            if let Some(tensor) = tensor_of(value) {
                let indexed = tensor.length();
                return indexed.map(|_| Children { node: Node::Tensor(tensor), indexed });
            }
            let buffer: &hal::Buffer = value.downcast()?;
            let node = Node::Buffer(buffer.storage(), BufferView::Choice);
            Some(Children { node, indexed: None })
        }
        Value::Ref(Ref::List(list)) => {
            Some(Children { node: Node::List(Arc::clone(list)), indexed: Some(list.len()) })
        }
        _ => None,
    }
}

/// A value under a name.
#[must_use]
pub(crate) fn variable(name: impl Into<String>, value: &Value) -> Variable {
    Variable {
        name: name.into(),
        value: value_text(value),
        type_name: type_name(value),
        evaluate_name: None,
        children: children_of(value),
        bits: match value {
            Value::I32(value) => Some(value.cast_unsigned().into()),
            Value::I64(value) => Some(value.cast_unsigned()),
            Value::F32(_) | Value::F64(_) | Value::Ref(_) => None,
        },
    }
}

/// Reads a register of a frame.
#[must_use]
pub(crate) fn register_value(
    invocation: &Invocation,
    frame: FrameIndex,
    slot: RegisterSlot,
) -> Option<Value> {
    let word = |ordinal| invocation.register_i32(frame, ordinal);
    let pair = |ordinal| invocation.register_i64(frame, ordinal);
    Some(match slot {
        RegisterSlot::I32(ordinal) => Value::I32(word(ordinal)?),
        RegisterSlot::F32(ordinal) => Value::F32(f32::from_bits(word(ordinal)?.cast_unsigned())),
        RegisterSlot::I64(ordinal) => Value::I64(pair(ordinal)?),
        RegisterSlot::F64(ordinal) => Value::F64(f64::from_bits(pair(ordinal)?.cast_unsigned())),
        RegisterSlot::Ref(ordinal) => Value::Ref(invocation.register_ref(frame, ordinal)?.clone()),
    })
}

/// The name of a register as the disassembly writes it: `i0`, `i2:3`, `r0`.
#[must_use]
pub(crate) fn register_name(slot: RegisterSlot) -> String {
    let ordinal = slot.ordinal();
    match slot {
        RegisterSlot::I32(_) | RegisterSlot::F32(_) => format!("i{ordinal}"),
        RegisterSlot::I64(_) | RegisterSlot::F64(_) => {
            format!("i{ordinal}:{}", u32::from(ordinal) + 1)
        }
        RegisterSlot::Ref(_) => format!("r{ordinal}"),
    }
}

/// Those of some elements of a list that are within `range`, which counts from the first of them.
#[must_use]
pub(crate) fn list_children(
    list: &List,
    part: Range<usize>,
    range: Option<Range<usize>>,
) -> Vec<Variable> {
    page(range, part.end.min(list.len()).saturating_sub(part.start))
        .map(|index| {
            let index = part.start + index;
            let name = format!("[{index}]");
            list.get(index).map_or_else(
                || Variable {
                    name: name.clone(),
                    value: "unset".to_owned(),
                    type_name: "?".to_owned(),
                    evaluate_name: None,
                    children: None,
                    bits: None,
                },
                |value| variable(&name, &value),
            )
        })
        .collect()
}

/// The ways to look at a buffer, or its elements in one of them.
#[must_use]
pub(crate) fn buffer_children(
    buffer: &Arc<Buffer>,
    view: BufferView,
    range: Option<Range<usize>>,
) -> Vec<Variable> {
    let Some(width) = view.element_width() else {
        return BufferView::ELEMENTS.iter().map(|view| view_choice(buffer, *view)).collect();
    };
    page(range, buffer.len() / width)
        .map(|index| {
            let bytes = buffer.read(index * width, width);
            variable(format!("[{index}]"), &view.decode(&bytes))
        })
        .collect()
}

pub(crate) fn view_choice(buffer: &Arc<Buffer>, view: BufferView) -> Variable {
    let count = buffer.len() / view.element_width().unwrap_or(1);
    Variable {
        name: view.name().to_owned(),
        value: format!("{count} {}", plural(count, "element")),
        type_name: format!("{count}x{}", view.name()),
        evaluate_name: None,
        children: Some(Children {
            node: Node::Buffer(Arc::clone(buffer), view),
            indexed: Some(count),
        }),
        bits: None,
    }
}

pub(crate) fn page(range: Option<Range<usize>>, length: usize) -> Range<usize> {
    let range = range.unwrap_or(0..DEFAULT_PAGE);
    range.start.min(length)..range.end.min(length)
}

impl BufferView {
    const ELEMENTS: [BufferView; 5] = [Self::U8, Self::I32, Self::I64, Self::F32, Self::F64];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Choice => "",
            Self::U8 => "u8",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    pub(crate) fn element_width(self) -> Option<usize> {
        match self {
            Self::Choice => None,
            Self::U8 => Some(1),
            Self::I32 | Self::F32 => Some(4),
            Self::I64 | Self::F64 => Some(8),
        }
    }

    /// The view of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ELEMENTS.into_iter().find(|view| view.name() == name)
    }

    /// What its elements are, as the type of a tensor says it.
    pub(crate) fn element_type(self) -> Option<&'static str> {
        match self {
            Self::Choice => None,
            Self::U8 => Some("ui8"),
            other => Some(other.name()),
        }
    }

    fn decode(self, bytes: &[u8]) -> Value {
        let mut padded = [0; 8];
        padded[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let wide = u64::from_le_bytes(padded);
        match self {
            Self::Choice | Self::U8 => Value::I32(i32::from(padded[0])),
            Self::I32 => Value::I32((wide as u32).cast_signed()),
            Self::I64 => Value::I64(wide.cast_signed()),
            Self::F32 => Value::F32(f32::from_bits(wide as u32)),
            Self::F64 => Value::F64(f64::from_bits(wide)),
        }
    }
}
