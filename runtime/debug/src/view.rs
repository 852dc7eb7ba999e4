//! What a stopped program looks like: frames, scopes, variables. Plain structs; adapters convert.
//!
//! A variable that has children carries a [`Node`], which says what to expand. A node holds the
//! object itself, so it stays good for as long as somebody keeps it; nodes of frames are only good
//! until the program runs on.

use std::path::PathBuf;
use std::sync::Arc;

use crate::inlined::FrameId;
use vm::{Buffer, FrameIndex, List, Position};

use crate::address::LinearAddress;
use crate::tensor::TensorView;

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// As the compiler was given it.
    pub file: String,
    /// Where it is on this machine, if it was found.
    pub path: Option<PathBuf>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// A frame of the call stack. A call that was inlined is a frame of its own, inside of the one that
/// executes its code.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The frame of the machine that it is or belongs to.
    pub index: FrameIndex,
    /// How many inlined calls lead to it, where any are told apart.
    pub calls: Option<usize>,
    /// `function` or, for another module than the program's main one, `module.function`.
    pub name: String,
    /// The module's name.
    pub module: String,
    /// The instruction that runs next, in outer frames the call. None in native code.
    pub position: Option<Position>,
    /// Where that came from.
    pub source: Option<SourceLine>,
    /// Whether it is a call that the compiler has inlined.
    pub is_inlined: bool,
    /// Whether it is a part of what a native function does: a command, a workgroup.
    pub is_part: bool,
}

/// The kinds of scopes, in the order in which they are shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScopeKind {
    /// What the dispatch works on that the frame belongs to.
    Dispatch,
    /// The names of the source that are in scope, or the values of the VM program that are alive.
    Locals,
    /// What the function was called with.
    Arguments,
    /// Values of the VM program that no name of the source stands for.
    Compiler,
    /// The frame's registers, typed by the instructions that wrote them.
    Registers,
    /// The module's globals.
    Globals,
    /// What is alive on the device.
    Device,
}

impl ScopeKind {
    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Locals => "Locals",
            Self::Arguments => "Arguments",
            Self::Compiler => "Compiler values",
            Self::Registers => "Registers",
            Self::Globals => "Globals",
            Self::Dispatch => "Dispatch",
            Self::Device => "Device",
        }
    }
}

/// Something that can be expanded.
#[derive(Clone, Debug)]
pub enum Node {
    /// A scope of a frame.
    Scope(FrameId, ScopeKind),
    /// A list's elements.
    List(Arc<List>),
    /// A list's elements: from, to.
    ListPart(Arc<List>, usize, usize),
    /// A buffer's contents.
    Buffer(Arc<Buffer>, BufferView),
    /// A tensor's rows or elements.
    Tensor(TensorView),
}

/// How a buffer's bytes are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BufferView {
    /// The choice of views itself.
    Choice,
    /// One element a byte, unsigned.
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

/// A named value.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name within its parent.
    pub name: String,
    /// Its value, short enough for one line.
    pub value: String,
    /// Its type.
    pub type_name: String,
    /// An expression that names it anywhere in the frame, where there is one.
    pub evaluate_name: Option<String>,
    /// What is inside it.
    pub children: Option<Children>,
    /// The bits of the integer that it is, in its own width; none where its value is to be written
    /// as it is.
    pub bits: Option<u64>,
}

impl Frame {
    /// What names it to whoever asks about its values.
    #[must_use]
    pub fn id(&self) -> FrameId {
        FrameId { index: self.index, calls: self.calls }
    }
}

impl Variable {
    /// With its integers in hexadecimal. Floats stay as they are: their bits are asked for one by
    /// one, with a format letter behind an expression.
    #[must_use]
    pub fn in_hexadecimal(mut self) -> Self {
        if let Some(bits) = self.bits {
            self.value = format!("{bits:#x}");
        } else if let Some(Children { node: Node::Tensor(tensor), .. }) = &self.children
            && let Some(elements) = tensor.short_hexadecimal()
            && let Some(before) = self.value.strip_suffix(&tensor.short())
        {
            self.value = format!("{before}{elements}");
        }
        self
    }
}

/// What is inside a variable.
#[derive(Clone, Debug)]
pub struct Children {
    /// What to expand.
    pub node: Node,
    /// How many elements an indexed node has; None for named children.
    pub indexed: Option<usize>,
}

/// One line of a disassembly view.
#[derive(Clone, Debug)]
pub struct DisassembledInstruction {
    /// Its address.
    pub address: LinearAddress,
    /// Its bytes in hexadecimal; empty where there is no instruction.
    pub bytes: String,
    /// Its text.
    pub text: String,
    /// The function's name, on the function's first instruction.
    pub symbol: Option<String>,
    /// Where it came from.
    pub source: Option<SourceLine>,
    /// Whether there is an instruction at all; views ask beyond the ends of the code.
    pub is_valid: bool,
}
