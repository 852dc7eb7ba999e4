//! The model that all calling conventions share: a function's arguments and results as data.
//!
//! ```text
//! cconv ┐                            ┌ cconv
//! iree  │                            │ iree
//! raw   ├──►  Function ─ Slot ─ Type ├ raw
//! sip   │                            │ sip
//! tvm   │                            │ tvm
//! memref┘                            └ memref
//! ```
//!
//! Each convention is parsed into a [`Function`] and printed from one. What a convention cannot
//! express is lost on the way: its printer says so ([`Printed::notes`]) or refuses
//! ([`Unrepresentable`]). [`crate::convention`] lists the conventions.
//!
//! Types are as the caller sees them. How values travel (registers, descriptors, lists) is the
//! business of each convention's module.

use std::fmt::{self, Write as _};

pub use crate::unrepresentable::{NoForm, Unrepresentable};

use crate::values::element_type::ElementType;

/// A function as its callers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name, where the text has one.
    pub name: Option<String>,
    /// Its arguments, in order.
    pub arguments: Vec<Slot>,
    /// Its results, in order.
    pub results: Vec<Slot>,
}

/// One argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name, where the text has one.
    pub name: Option<String>,
    /// Its type.
    pub ty: Type,
    /// Which side has to release it.
    pub ownership: Ownership,
    /// Whether it is passed by name instead of by position.
    pub keyword: bool,
}

impl Slot {
    /// An unnamed slot of a type, with that type's default ownership.
    #[must_use]
    pub fn of(ty: Type) -> Self {
        let ownership = if ty.is_plain() { Ownership::Copied } else { Ownership::Borrowed };
        Self { name: None, ty, ownership, keyword: false }
    }

    /// The same with a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same, owned by the receiver, unless it is plain data.
    #[must_use]
    pub fn owned(mut self) -> Self {
        if !self.ty.is_plain() {
            self.ownership = Ownership::Owned;
        }
        self
    }
}

/// Which side releases the object that a slot refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Plain data, which is not released.
    Copied,
    /// The giver. A receiver that needs the object after the call takes a reference of its own.
    Borrowed,
    /// The receiver.
    Owned,
}

impl fmt::Display for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copied => "copied",
            Self::Borrowed => "borrowed",
            Self::Owned => "owned",
        })
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// No value: a null reference, a gap in a list, `None`.
    Null,
    /// A type that the text does not state.
    Unknown,
    /// Any value, with its type known only at run time.
    Any,
    /// A number.
    Scalar(ScalarType),
    /// A SIMD vector.
    Vector(Vector),
    /// An array of any rank: tensor, buffer view, memref.
    Array(Array),
    /// Text.
    String,
    /// Bytes that are not text.
    Bytes,
    /// A counted reference to an object, with the name of its type if that is known.
    Reference(Option<String>),
    /// A fixed number of values, each of a type of its own.
    Sequence(SequenceForm, Vec<Type>),
    /// Any number of values of one type.
    List(Box<Type>),
    /// Named values, in the order in which they travel.
    Dictionary(Vec<(String, Type)>),
    /// Any number of keys with values.
    Map(Box<Type>, Box<Type>),
    /// A counted sequence of tuples, passed in place.
    Variadic(Vec<Type>),
    /// A value or nothing.
    Optional(Box<Type>),
    /// A value of one of several types.
    OneOf(Vec<Type>),
    /// A function, with its types if they are known.
    Function(Option<Box<Function>>),
    /// The argument or result with this index of the underlying raw function.
    Position(u32),
}

/// The form of a sequence of fixed length in the caller's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceForm {
    /// A list.
    List,
    /// A tuple, which is immutable.
    Tuple,
}

/// The signedness of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// Decided by each operation: `i32`.
    Signless,
    /// `si32`
    Signed,
    /// `ui32`
    Unsigned,
}

/// The type of a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// An integer as wide as an address.
    Index,
    /// An integer; with one bit, a boolean.
    Integer(Signedness, u32),
    /// An IEEE 754 float of this many bits.
    Float(u32),
    /// A float of another format.
    SpecialFloat(SpecialFloat),
    /// A complex number of this type of parts.
    Complex(Box<ScalarType>),
    /// Opaque bits.
    Opaque(u32),
}

/// A float format that its width alone does not identify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecialFloat {
    /// Its name in MLIR.
    pub name: &'static str,
    /// The bits of one value.
    pub bits: u32,
}

/// The formats, with the widths in which they are stored.
pub(crate) const SPECIAL_FLOATS: [SpecialFloat; 13] = [
    SpecialFloat { name: "bf16", bits: 16 },
    SpecialFloat { name: "tf32", bits: 19 },
    SpecialFloat { name: "f8E5M2", bits: 8 },
    SpecialFloat { name: "f8E4M3", bits: 8 },
    SpecialFloat { name: "f8E4M3FN", bits: 8 },
    SpecialFloat { name: "f8E5M2FNUZ", bits: 8 },
    SpecialFloat { name: "f8E4M3FNUZ", bits: 8 },
    SpecialFloat { name: "f8E4M3B11FNUZ", bits: 8 },
    SpecialFloat { name: "f8E3M4", bits: 8 },
    SpecialFloat { name: "f8E8M0FNU", bits: 8 },
    SpecialFloat { name: "f6E3M2FN", bits: 6 },
    SpecialFloat { name: "f6E2M3FN", bits: 6 },
    SpecialFloat { name: "f4E2M1FN", bits: 4 },
];

impl ScalarType {
    /// `bf16`
    pub const BF16: Self = Self::SpecialFloat(SPECIAL_FLOATS[0]);
    /// `i1`
    pub const BOOL: Self = Self::signless(1);

    /// `i<bits>`
    #[must_use]
    pub const fn signless(bits: u32) -> Self {
        Self::Integer(Signedness::Signless, bits)
    }

    /// Parses MLIR's notation: `i32`, `si8`, `f16`, `bf16`, `index`, `complex<f32>`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "index" {
            return Some(Self::Index);
        }
        if let Some(format) = SPECIAL_FLOATS.iter().find(|format| format.name == text) {
            return Some(Self::SpecialFloat(*format));
        }
        if let Some(part) = text.strip_prefix("complex<").and_then(|text| text.strip_suffix('>')) {
            let part = Self::parse(part.trim())?;
            return matches!(part, Self::Integer(..) | Self::Float(_) | Self::SpecialFloat(_))
                .then(|| Self::Complex(Box::new(part)));
        }
        let digits = text.trim_start_matches(|c: char| c.is_ascii_lowercase());
        let bits = width(digits)?;
        Some(match &text[..text.len() - digits.len()] {
            "i" => Self::Integer(Signedness::Signless, bits),
            "si" => Self::Integer(Signedness::Signed, bits),
            "ui" => Self::Integer(Signedness::Unsigned, bits),
            "f" => Self::Float(bits),
            _ => return None,
        })
    }

    /// The element type of tensors of such numbers; `None` if there is none.
    #[must_use]
    pub fn element_type(&self) -> Option<ElementType> {
        let name = match self {
            Self::Index => "i64".to_owned(),
            Self::Complex(part) => format!("cf{}", part.bits().checked_mul(2)?),
            other => other.to_string(),
        };
        name.parse().ok()
    }

    /// The smallest and the greatest integer that is taken for this type. A type with a sign, or
    /// without one, takes its own numbers; `i8` says neither, and takes those of both readings.
    #[must_use]
    pub fn integer_range(&self) -> (i128, i128) {
        let bits = self.bits().clamp(1, 64);
        let (lowest, highest) = (-(1_i128 << (bits - 1)), (1_i128 << bits) - 1);
        match self {
            Self::Integer(Signedness::Signed, _) => (lowest, -1 - lowest),
            Self::Integer(Signedness::Unsigned, _) => (0, highest),
            // -1 is the usual `true` of languages that have signed truth values only.
            _ => (lowest, highest),
        }
    }

    /// The integer that bits of this type mean: with a sign, unless the type has none.
    #[must_use]
    pub fn integer_of(&self, bits: i64) -> i128 {
        let unused = 64 - self.bits().clamp(1, 64);
        match self {
            Self::Integer(Signedness::Unsigned, _) => {
                (bits.cast_unsigned() << unused >> unused).into()
            }
            _ => (bits << unused >> unused).into(),
        }
    }

    /// Whether values are integers.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        matches!(self, Self::Index | Self::Integer(..))
    }

    /// The bits of one value; `index` counts as 64.
    #[must_use]
    pub fn bits(&self) -> u32 {
        match self {
            Self::Index => 64,
            Self::Integer(_, bits) | Self::Float(bits) | Self::Opaque(bits) => *bits,
            Self::SpecialFloat(format) => format.bits,
            Self::Complex(part) => part.bits().saturating_mul(2),
        }
    }
}

/// A width in bits: digits without a leading zero, at most MLIR's 2^24 - 1.
fn width(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    let bits = digits.parse().ok().filter(|_| is_number && !digits.starts_with('0'))?;
    (bits < 1 << 24).then_some(bits)
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => f.write_str("index"),
            Self::Integer(Signedness::Signless, bits) => write!(f, "i{bits}"),
            Self::Integer(Signedness::Signed, bits) => write!(f, "si{bits}"),
            Self::Integer(Signedness::Unsigned, bits) => write!(f, "ui{bits}"),
            Self::Float(bits) => write!(f, "f{bits}"),
            Self::SpecialFloat(format) => f.write_str(format.name),
            Self::Complex(part) => write!(f, "complex<{part}>"),
            Self::Opaque(bits) => write!(f, "*{bits}"),
        }
    }
}

/// A SIMD vector; a scalable dimension is a multiple of its stated length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The lengths, outermost first, each with whether it is scalable.
    pub dimensions: Vec<(u64, bool)>,
    /// What it holds.
    pub element: Box<Type>,
}

impl Vector {
    /// Appends the dimensions as MLIR writes them, each with an `x` after it.
    pub(crate) fn write_dimensions(&self, out: &mut String) {
        for (length, scalable) in &self.dimensions {
            let _ = if *scalable { write!(out, "[{length}]x") } else { write!(out, "{length}x") };
        }
    }
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut dimensions = String::new();
        self.write_dimensions(&mut dimensions);
        write!(f, "vector<{dimensions}{}>", self.element)
    }
}

/// An array of any rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its element type; [`Type::Unknown`] if the text does not state it.
    pub element: Box<Type>,
    /// Its dimensions, outermost first, unknown ones `None`; `None` if the rank is unknown too.
    pub shape: Option<Vec<Option<u64>>>,
    /// The layout of its elements.
    pub layout: Layout,
    /// Its memory space, as MLIR writes it; `None` for the default one.
    pub memory_space: Option<String>,
}

impl Array {
    /// Whether an array of this shape is of this type: its rank and lengths agree with the known
    /// ones.
    #[must_use]
    pub fn has_shape(&self, found: &[u64]) -> bool {
        self.shape.as_ref().is_none_or(|shape| {
            shape.len() == found.len()
                && shape
                    .iter()
                    .zip(found)
                    .all(|(wanted, found)| wanted.is_none_or(|wanted| wanted == *found))
        })
    }

    /// A dense array in row-major order.
    #[must_use]
    pub fn dense(element: Type, shape: Option<Vec<Option<u64>>>) -> Self {
        Self { element: Box::new(element), shape, layout: Layout::RowMajor, memory_space: None }
    }

    /// Whether every dimension is known.
    #[must_use]
    pub(crate) fn is_static(&self) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.iter().all(Option::is_some))
    }

    /// `4x?xf32`, `*xf32`: shape and element as MLIR writes them.
    pub(crate) fn write_shaped(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            None => f.write_str("*x")?,
            Some(shape) => {
                for dimension in shape {
                    match dimension {
                        Some(length) => write!(f, "{length}x")?,
                        None => f.write_str("?x")?,
                    }
                }
            }
        }
        write!(f, "{}", self.element)
    }
}

/// The layout of an array's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Contiguous, the last index varying fastest.
    RowMajor,
    /// With a stride for each dimension, in elements; `None` if only known at run time.
    Strided {
        /// The strides, outermost first.
        strides: Vec<Option<i64>>,
        /// The offset of the first element.
        offset: Option<i64>,
    },
    /// A layout that strides cannot express, as MLIR writes it.
    Other(String),
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |f: &mut fmt::Formatter<'_>, value: Option<i64>| match value {
            Some(value) => write!(f, "{value}"),
            None => f.write_str("?"),
        };
        match self {
            Self::RowMajor => f.write_str("row-major"),
            Self::Other(text) => f.write_str(text),
            Self::Strided { strides, offset } => {
                f.write_str("strided<[")?;
                for (index, stride) in strides.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    number(f, *stride)?;
                }
                f.write_str("]")?;
                if *offset != Some(0) {
                    f.write_str(", offset: ")?;
                    number(f, *offset)?;
                }
                f.write_str(">")
            }
        }
    }
}

impl Type {
    /// The number type with this name in MLIR; the name has to be valid.
    #[must_use]
    pub fn scalar(name: &str) -> Self {
        ScalarType::parse(name).map_or(Self::Unknown, Self::Scalar)
    }

    /// Whether a value is plain data, which is copied.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Null | Self::Scalar(_) | Self::Vector(_) => true,
            Self::Variadic(items) => items.iter().all(Self::is_plain),
            _ => false,
        }
    }
}

/// For people, in the notation of MLIR and Python: `tensor<4x?xf32>`, `(f32, i32)`, `{"x": f32}`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Unknown => f.write_str("unknown"),
            Self::Any => f.write_str("any"),
            Self::Scalar(scalar) => scalar.fmt(f),
            Self::Vector(vector) => vector.fmt(f),
            Self::Array(array) => {
                f.write_str("tensor<")?;
                array.write_shaped(f)?;
                if array.layout != Layout::RowMajor {
                    write!(f, ", {}", array.layout)?;
                }
                if let Some(space) = &array.memory_space {
                    write!(f, ", {space}")?;
                }
                f.write_str(">")
            }
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Reference(None) => f.write_str("ref"),
            Self::Reference(Some(name)) => write!(f, "ref<{name}>"),
            Self::Sequence(SequenceForm::List, items) => bracketed(f, "[", items, "]"),
            Self::Sequence(SequenceForm::Tuple, items) => bracketed(f, "(", items, ")"),
            Self::List(item) => write!(f, "list<{item}>"),
            Self::Dictionary(fields) => {
                f.write_str("{")?;
                for (index, (key, ty)) in fields.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    write!(f, "{key:?}: {ty}")?;
                }
                f.write_str("}")
            }
            Self::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Self::Variadic(items) => match items.as_slice() {
                [item] => write!(f, "variadic<{item}>"),
                items => bracketed(f, "variadic<(", items, ")>"),
            },
            Self::Optional(item) => write!(f, "optional<{item}>"),
            Self::OneOf(items) => bracketed(f, "one_of<", items, ">"),
            Self::Function(None) => f.write_str("function"),
            Self::Function(Some(function)) => write!(f, "function<{function}>"),
            Self::Position(index) => write!(f, "#{index}"),
        }
    }
}

fn bracketed(f: &mut fmt::Formatter<'_>, open: &str, items: &[Type], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.iter().enumerate() {
        f.write_str(if index > 0 { ", " } else { "" })?;
        write!(f, "{item}")?;
    }
    f.write_str(close)
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}{} ", if self.keyword { "=:" } else { ":" })?;
        }
        self.ty.fmt(f)
    }
}

/// `(x: tensor<4xf32>, i32) -> (f32)`
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (separator, slots) in [("(", &self.arguments), (") -> (", &self.results)] {
            f.write_str(separator)?;
            for (index, slot) in slots.iter().enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                slot.fmt(f)?;
            }
        }
        f.write_str(")")
    }
}

/// A signature as text of a convention, and what was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// What was lost or assumed, one sentence each, without repetition.
    pub notes: Vec<String>,
}

/// Adds a note unless it is there.
pub(crate) fn note(notes: &mut Vec<String>, text: &str) {
    if !notes.iter().any(|known| known == text) {
        notes.push(text.to_owned());
    }
}

/// Calls `convert` for the type of every slot; an error gets the slot's path.
pub(crate) fn each_slot<T>(
    function: &Function,
    mut convert: impl FnMut(&Slot, &str) -> Result<T, Unrepresentable>,
) -> Result<(Vec<T>, Vec<T>), Unrepresentable> {
    let mut all = |name: &str, slots: &[Slot]| {
        let paths = (0..slots.len()).map(|index| format!("{name}[{index}]"));
        slots.iter().zip(paths).map(|(slot, path)| convert(slot, &path)).collect::<Result<_, _>>()
    };
    Ok((all("args", &function.arguments)?, all("results", &function.results)?))
}
