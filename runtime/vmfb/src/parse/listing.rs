//! A `.vmasm` text as data: names are text with a place, not yet ordinals.

use std::ops::Range;

use abi::cconv::Signature;

use crate::encode::{Remap, Value};
use crate::isa::Op;

/// Byte range in the source.
pub(crate) type Span = Range<usize>;

/// A name and its place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Name<'s> {
    pub(crate) text: &'s str,
    pub(crate) span: Span,
}

/// The contents of a text, in order of appearance.
#[derive(Default, Debug)]
pub(crate) struct Listing<'s> {
    /// Name and version.
    pub(crate) module: Option<(Name<'s>, u32)>,
    pub(crate) types: Vec<Name<'s>>,
    pub(crate) imports: Vec<ImportLine<'s>>,
    pub(crate) rodata: Vec<Vec<u8>>,
    pub(crate) globals: Vec<GlobalLine<'s>>,
    pub(crate) exports: Vec<ExportLine<'s>>,
    pub(crate) functions: Vec<FunctionLines<'s>>,
}

/// `vm.import optional @name cconv "0v_v"`.
#[derive(Debug)]
pub(crate) struct ImportLine<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) calling_convention: Name<'s>,
    pub(crate) is_optional: bool,
}

/// `vm.global.i32 private mutable @name`.
#[derive(Debug)]
pub(crate) struct GlobalLine<'s> {
    pub(crate) name: Name<'s>,
    /// Bytes of storage; 0 for a ref.
    pub(crate) size: u32,
}

/// `vm.export @name` or `vm.export @name = @function`. Names are free text, so where the first ends
/// may depend on the function that follows.
#[derive(Debug)]
pub(crate) struct ExportLine<'s> {
    /// What follows the first `@`.
    pub(crate) text: Name<'s>,
    /// The text with an apparent comment after it, which may belong to the name.
    pub(crate) with_comment: Option<Name<'s>>,
    /// The index of the function that follows.
    pub(crate) before: usize,
}

/// A function: its header and body.
#[derive(Debug)]
pub(crate) struct FunctionLines<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) signature: Signature,
    pub(crate) items: Vec<Item<'s>>,
    /// Where its closing brace is.
    pub(crate) end: usize,
    /// Whether some of it could not be read.
    pub(crate) is_damaged: bool,
}

impl<'s> FunctionLines<'s> {
    pub(crate) fn new(name: Name<'s>, signature: Signature) -> Self {
        Self { name, signature, items: Vec::new(), end: 0, is_damaged: false }
    }
}

/// A line of a function's body.
#[derive(Debug)]
pub(crate) enum Item<'s> {
    /// `^bb0:`
    Block(Label<'s>),
    Instruction(InstructionLine<'s>),
}

/// A block's label, without the caret.
pub(crate) type Label<'s> = Name<'s>;

/// An instruction as written, its operands in the order of the table.
#[derive(Debug)]
pub(crate) struct InstructionLine<'s> {
    pub(crate) op: Op,
    pub(crate) operands: Vec<OperandText<'s>>,
    /// The whole statement.
    pub(crate) span: Span,
    /// The line read as if it had no comment: what looks like one may belong to the callee's name.
    /// Rare, so it is kept out of line.
    pub(crate) with_comment: Option<Box<InstructionLine<'s>>>,
}

impl<'s> InstructionLine<'s> {
    /// The name of the function that the instruction calls or asks about.
    pub(crate) fn callee(&self) -> Option<&Name<'s>> {
        self.operands.iter().find_map(|operand| match operand {
            OperandText::Function(name) => Some(name),
            _ => None,
        })
    }
}

/// An operand: a value, or names to resolve to one.
#[derive(Clone, Debug)]
pub(crate) enum OperandText<'s> {
    Value(Value),
    Type(Name<'s>),
    /// A type that the text leaves out, though the instruction has one.
    OmittedType,
    /// A callee.
    Function(Name<'s>),
    Global(Global<'s>),
    Target(Label<'s>),
    Cases(Vec<(Label<'s>, Remap)>),
}

/// A global: its place, or its declared name.
#[derive(Clone, Debug)]
pub(crate) enum Global<'s> {
    At(u32),
    Named(Name<'s>),
}
