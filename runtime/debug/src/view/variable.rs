//! Variables: named values with what is inside them.
//!
//! Plain structs, which adapters convert. A variable that has children carries a [`Node`], which
//! says what to expand. A node holds the object itself, so it stays valid as long as it is kept;
//! nodes of frames are valid only until the program resumes.

use std::ops::Range;
use std::sync::Arc;

use abi::tensor::TensorType;
use vm::{Buffer, List, Value};

use super::absent::Absent;
use super::frame::FrameId;
use super::text::list_text;
use crate::tensor::{AsOf, SHORT, Summary, TensorView};

/// The kinds of scopes, in the order in which they are shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScopeKind {
    /// Inputs and outputs of the dispatch that the frame belongs to.
    Dispatch,
    /// The names of the source that are in scope, or the values of the VM program that are alive.
    Locals,
    /// What the function was called with.
    Arguments,
    /// Tensors that the source writes: weights and tables, of which a model has hundreds.
    Constants,
    /// Values of the VM program that have no name in the source.
    Compiler,
    /// The frame's registers, typed by the instructions that wrote them.
    Registers,
    /// The module's globals.
    Globals,
    /// Live allocations of the device.
    Device,
}

impl ScopeKind {
    /// The name that is shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Locals => "Locals",
            Self::Arguments => "Arguments",
            Self::Constants => "Constants",
            Self::Compiler => "Compiler values",
            Self::Registers => "Registers",
            Self::Globals => "Globals",
            Self::Dispatch => "Dispatch",
            Self::Device => "Device",
        }
    }
}

/// A value that can be expanded.
#[derive(Clone, Debug)]
pub enum Node {
    /// A scope of a frame.
    Scope(FrameId, ScopeKind),
    /// What the dispatch of a frame is given, as it is passed: its bindings and constants.
    Passed(FrameId),
    /// A list's elements.
    List(Arc<List>),
    /// Some elements of a list: first and end.
    ListPart(Arc<List>, usize, usize),
    /// A buffer's contents.
    Buffer(Arc<Buffer>, BufferView),
    /// A tensor's rows or elements.
    Tensor(TensorView),
}

/// How a buffer's bytes are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BufferView {
    /// The choice of the views below.
    Choice,
    /// Unsigned 8-bit integers.
    U8,
    /// Signed 32-bit integers.
    I32,
    /// Signed 64-bit integers.
    I64,
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
}

impl BufferView {
    pub(crate) const ELEMENTS: [Self; 5] = [Self::U8, Self::I32, Self::I64, Self::F32, Self::F64];

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

    /// The element type, as tensor types name it.
    pub(crate) fn element_type(self) -> Option<&'static str> {
        match self {
            Self::Choice => None,
            Self::U8 => Some("ui8"),
            other => Some(other.name()),
        }
    }

    /// All of a buffer as a tensor of one dimension.
    #[must_use]
    pub fn tensor(self, buffer: &Arc<Buffer>) -> Option<TensorView> {
        let element = self.element_type()?;
        let count = buffer.len() / self.element_width()?;
        let tensor_type = TensorType::parse(&format!("{count}x{element}")).ok()?;
        TensorView::new(Arc::clone(buffer), tensor_type).ok()
    }

    /// The element in the first bytes.
    pub(crate) fn decode(self, bytes: &[u8]) -> Value {
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

/// A named value.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name within its parent.
    pub name: String,
    /// Its value, short enough for one line.
    pub value: String,
    /// Its type.
    pub type_name: String,
    /// An expression for it that works anywhere in the frame, if there is one.
    pub evaluate_name: Option<String>,
    /// What is inside.
    pub children: Option<Children>,
    /// The bits of an integer, in its own width; none for values that have no hexadecimal form.
    pub bits: Option<u64>,
    /// Why it has no value, if it has none; [`Self::value`] says it in words.
    pub absent: Option<Absent>,
    /// As of which time it is a tensor, if something has overwritten that since.
    pub as_of: Option<AsOf>,
}

impl Variable {
    /// A variable with a text alone: no children, bits or expression.
    pub(crate) fn plain(name: impl Into<String>, value: String, type_name: &str) -> Self {
        Self {
            name: name.into(),
            value,
            type_name: type_name.to_owned(),
            evaluate_name: None,
            children: None,
            bits: None,
            absent: None,
            as_of: None,
        }
    }

    /// A name without a value.
    pub(crate) fn without_value(
        name: impl Into<String>,
        reason: Absent,
        type_name: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            value: reason.to_string(),
            type_name: type_name.into(),
            evaluate_name: None,
            children: None,
            bits: None,
            absent: Some(reason),
            as_of: None,
        }
    }

    /// The same with an expression that works anywhere in the frame.
    pub(crate) fn evaluated_as(self, expression: &str) -> Self {
        Self { evaluate_name: Some(expression.to_owned()), ..self }
    }

    /// The variable with its integers in hexadecimal. Floats stay as they are; a format letter
    /// after an expression shows their bits.
    #[must_use]
    pub fn in_hexadecimal(mut self) -> Self {
        if let Some(bits) = self.bits {
            self.value = format!("{bits:#x}");
        } else if let Some((natural, hexadecimal)) =
            self.children.as_ref().and_then(Children::element_texts)
            && let Some(before) = self.value.strip_suffix(&natural)
        {
            self.value = format!("{before}{hexadecimal}");
        }
        self
    }
}

/// What is inside a variable.
#[derive(Clone, Debug)]
pub struct Children {
    /// What to expand.
    pub node: Node,
    /// The number of elements of an indexed node; none if the children have names.
    pub indexed: Option<usize>,
}

impl Children {
    /// The first elements as they are shown, and the same with integers in hexadecimal.
    fn element_texts(&self) -> Option<(String, String)> {
        let of = |list: &List, part: Range<usize>| {
            (list_text(list, part.clone(), false), list_text(list, part, true))
        };
        match &self.node {
            Node::List(list) => Some(of(list, 0..list.len())),
            Node::ListPart(list, start, end) => Some(of(list, *start..*end)),
            _ => {
                let tensor = self.tensor()?;
                Some((tensor.short(), tensor.hexadecimal(SHORT)?))
            }
        }
    }

    /// Statistics of the first `most` elements of a tensor, or of a buffer that is seen as
    /// elements; none for anything else.
    #[must_use]
    pub fn summary(&self, most: usize) -> Option<Summary> {
        self.tensor()?.summary(most)
    }

    /// The tensor, or a buffer that is seen as elements; none for anything else.
    #[must_use]
    pub fn tensor(&self) -> Option<TensorView> {
        match &self.node {
            Node::Tensor(tensor) => Some(tensor.clone()),
            Node::Buffer(buffer, view) => view.tensor(buffer),
            Node::Scope(..) | Node::Passed(_) | Node::List(_) | Node::ListPart(..) => None,
        }
    }
}
