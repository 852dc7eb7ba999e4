//! The raw function ABI (attributes `f`, `fv`, `fbr`) of modules from December 2019 to June 2021.
//!
//! ```text
//! signature = "I" span of types "R" span of types          see `tagged` for spans and integers
//! type      = "B" span of ( "t" code | "d" dimension )*     a buffer; no "t": f32; a negative dimension: unknown
//!           | "S" span of ( "t" code )?                     a scalar
//!           | "O" empty span                                a reference to an object
//!           | "U" empty span                                a type that the compiler did not recognise
//! ```
//!
//! The original parser refused `U`, though the compiler wrote it; here it is a type of its own. The
//! first compilers, of December 2019, put each argument into a span `I` of its own within the outer
//! one, and each result into an `R`; that is accepted too.

use std::fmt;

use crate::conventions::tagged::{
    Body, Component, Reader, inputs_and_results, write_integer, write_span,
};
use crate::signature::{
    Array, Function, Layout, NoForm, Printed, ScalarType, Signedness, Slot, Type, Unrepresentable,
    each_slot, note,
};
use crate::text::cursor::SyntaxError;

/// The only version of the attribute `fv`.
pub const VERSION: &str = "1";

/// Element types in the order of their codes, with the names that the original printed.
const SCALARS: [(&str, ScalarType); 12] = [
    ("float32", ScalarType::Float(32)),
    ("float16", ScalarType::Float(16)),
    ("float64", ScalarType::Float(64)),
    ("bfloat16", ScalarType::BF16),
    ("sint8", ScalarType::Integer(Signedness::Signed, 8)),
    ("sint16", ScalarType::Integer(Signedness::Signed, 16)),
    ("sint32", ScalarType::Integer(Signedness::Signed, 32)),
    ("sint64", ScalarType::Integer(Signedness::Signed, 64)),
    ("uint8", ScalarType::Integer(Signedness::Unsigned, 8)),
    ("uint16", ScalarType::Integer(Signedness::Unsigned, 16)),
    ("uint32", ScalarType::Integer(Signedness::Unsigned, 32)),
    ("uint64", ScalarType::Integer(Signedness::Unsigned, 64)),
];

/// An element type, by its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(u8);

impl Code {
    /// The code of f32, which is not written.
    pub const F32: Self = Self(0);

    /// The type with a code.
    #[must_use]
    pub fn new(code: i32) -> Option<Self> {
        u8::try_from(code).ok().filter(|code| usize::from(*code) < SCALARS.len()).map(Self)
    }

    /// The code's number.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// The name that the original printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        SCALARS[usize::from(self.0)].0
    }

    /// The type.
    #[must_use]
    pub fn scalar(self) -> ScalarType {
        SCALARS[usize::from(self.0)].1.clone()
    }

    /// Bytes of one value.
    #[must_use]
    pub fn byte_count(self) -> usize {
        self.scalar().bits() as usize / 8
    }

    /// The code that the compiler wrote for a type: signless integers count as signed, booleans as
    /// bytes.
    #[must_use]
    pub fn of(scalar: &ScalarType) -> Option<Self> {
        let same = match scalar {
            ScalarType::Integer(Signedness::Signless, 1) => {
                ScalarType::Integer(Signedness::Signed, 8)
            }
            ScalarType::Integer(Signedness::Signless, bits) => {
                ScalarType::Integer(Signedness::Signed, *bits)
            }
            other => other.clone(),
        };
        SCALARS.iter().position(|(_, scalar)| *scalar == same).map(|code| Self(code as u8))
    }
}

/// A type of an argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawType {
    /// An array.
    Buffer {
        /// Its element type.
        code: Code,
        /// Its dimensions; `None` for an unknown one.
        dimensions: Vec<Option<u32>>,
    },
    /// A number.
    Scalar(Code),
    /// A reference to an object.
    Object,
    /// A type that the compiler did not recognise.
    Unrecognized,
}

/// A raw signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawSignature {
    /// The arguments of the function.
    pub inputs: Vec<RawType>,
    /// The results of the function.
    pub results: Vec<RawType>,
}

impl RawSignature {
    /// Parses the value of the attribute `f`.
    ///
    /// # Errors
    /// At the byte where it stops being a signature.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let (inputs, results) = inputs_and_results(text.as_bytes(), "span")?;
        Ok(Self { inputs: parse_types(inputs, b'I')?, results: parse_types(results, b'R')? })
    }

    /// The text in the compiler's form.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = Vec::new();
        for (tag, types) in [(b'I', &self.inputs), (b'R', &self.results)] {
            let mut contents = Vec::new();
            types.iter().for_each(|ty| ty.write(&mut contents));
            write_span(&mut out, tag, &contents);
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// In the words of the model.
    #[must_use]
    pub fn to_function(&self) -> Function {
        Function {
            name: None,
            arguments: self.inputs.iter().map(|ty| Slot::of(ty.to_type())).collect(),
            results: self.results.iter().map(|ty| Slot::of(ty.to_type()).owned()).collect(),
        }
    }
}

/// The types of the inputs (`side` is `I`) or the results (`R`).
fn parse_types(mut reader: Reader<'_>, side: u8) -> Result<Vec<RawType>, SyntaxError> {
    let mut types = Vec::new();
    while let Some(component) = reader.next()? {
        match component.body {
            Body::Span(mut nested) if component.tag == side => {
                while let Some(component) = nested.next()? {
                    types.push(parse_type(component)?);
                }
            }
            _ => types.push(parse_type(component)?),
        }
    }
    Ok(types)
}

fn parse_type(component: Component<'_>) -> Result<RawType, SyntaxError> {
    let unknown = || {
        SyntaxError::at(
            component.position,
            format!(
                "Unrecognized raw tag `{}`; a type is B (buffer), S (scalar), O (object) or U (unrecognised)",
                char::from(component.tag)
            ),
        )
    };
    let Body::Span(mut fields) = component.body else { return Err(unknown()) };
    let (mut code, mut dimensions) = (Code::F32, Vec::new());
    let kind = match component.tag {
        b'B' => "buffer",
        b'S' => "scalar",
        b'O' => "ref object",
        b'U' => "unrecognised type",
        _ => return Err(unknown()),
    };
    while let Some(field) = fields.next()? {
        match (component.tag, field.tag, field.body) {
            (b'B' | b'S', b't', Body::Integer(number)) => {
                code = Code::new(number).ok_or_else(|| {
                    SyntaxError::at(
                        field.position,
                        format!("Illegal ScalarType code {number}; they are 0 to 11"),
                    )
                })?;
            }
            (b'B', b'd', Body::Integer(length)) => dimensions.push(u32::try_from(length).ok()),
            _ => {
                return Err(SyntaxError::at(
                    field.position,
                    format!("Unrecognized {kind} field tag `{}`", char::from(field.tag)),
                ));
            }
        }
    }
    Ok(match component.tag {
        b'B' => RawType::Buffer { code, dimensions },
        b'S' => RawType::Scalar(code),
        b'O' => RawType::Object,
        _ => RawType::Unrecognized,
    })
}

impl RawType {
    fn write(&self, out: &mut Vec<u8>) {
        let mut contents = Vec::new();
        let tag = match self {
            Self::Buffer { code, dimensions } => {
                write_code(&mut contents, *code);
                for dimension in dimensions {
                    let length = dimension.and_then(|length| i32::try_from(length).ok());
                    write_integer(&mut contents, b'd', length.unwrap_or(-1));
                }
                b'B'
            }
            Self::Scalar(code) => {
                write_code(&mut contents, *code);
                b'S'
            }
            Self::Object => b'O',
            Self::Unrecognized => b'U',
        };
        write_span(out, tag, &contents);
    }

    /// In the words of the model.
    #[must_use]
    pub fn to_type(&self) -> Type {
        match self {
            Self::Buffer { code, dimensions } => Type::Array(Array::dense(
                Type::Scalar(code.scalar()),
                Some(dimensions.iter().map(|length| length.map(u64::from)).collect()),
            )),
            Self::Scalar(code) => Type::Scalar(code.scalar()),
            Self::Object => Type::Reference(None),
            Self::Unrecognized => Type::Unknown,
        }
    }
}

fn write_code(out: &mut Vec<u8>, code: Code) {
    if code != Code::F32 {
        write_integer(out, b't', i32::from(code.number()));
    }
}

/// As the original printed it: `Buffer<float32[10x?]>`, `sint32`, `RefObject<?>`.
impl fmt::Display for RawType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer { code, dimensions } => {
                write!(f, "Buffer<{}[", code.name())?;
                for (index, dimension) in dimensions.iter().enumerate() {
                    f.write_str(if index > 0 { "x" } else { "" })?;
                    match dimension {
                        Some(length) => write!(f, "{length}")?,
                        None => f.write_str("?")?,
                    }
                }
                f.write_str("]>")
            }
            Self::Scalar(code) => f.write_str(code.name()),
            Self::Object => f.write_str("RefObject<?>"),
            Self::Unrecognized => f.write_str("Unrecognized"),
        }
    }
}

/// `(Buffer<float32[4]>) -> (sint32)`
impl fmt::Display for RawSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (open, types) in [("(", &self.inputs), (") -> (", &self.results)] {
            f.write_str(open)?;
            for (index, ty) in types.iter().enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                ty.fmt(f)?;
            }
        }
        f.write_str(")")
    }
}

/// Writes a signature.
///
/// # Errors
/// A type that the raw ABI does not have.
pub fn print(function: &Function) -> Result<Printed, Unrepresentable> {
    let mut notes = Vec::new();
    let (inputs, results) = each_slot(function, |slot, path| {
        from_type(&slot.ty, &mut notes).map_err(|reason| reason.at(path))
    })?;
    if function.arguments.iter().chain(&function.results).any(|slot| slot.name.is_some()) {
        note(&mut notes, "the raw ABI has no names; they are lost");
    }
    Ok(Printed { text: RawSignature { inputs, results }.to_text(), notes })
}

fn from_type(ty: &Type, notes: &mut Vec<String>) -> Result<RawType, NoForm> {
    let mut code_of = |scalar: &ScalarType| {
        if matches!(scalar, ScalarType::Integer(Signedness::Signless, _)) {
            note(notes, "integers without a sign are written as signed, truth values as bytes");
        }
        match scalar {
            ScalarType::Index => Code::of(&ScalarType::signless(64)),
            scalar => Code::of(scalar),
        }
    };
    Ok(match ty {
        Type::Scalar(scalar) => match code_of(scalar) {
            Some(code) => RawType::Scalar(code),
            None => unrecognized(ty, notes),
        },
        Type::Array(array) => {
            let code = match &*array.element {
                Type::Scalar(scalar) => code_of(scalar),
                _ => None,
            };
            let Some(shape) = array.shape.as_ref() else {
                return Ok(unrecognized(ty, notes));
            };
            let fits = shape.iter().flatten().all(|length| i32::try_from(*length).is_ok());
            let Some(code) = code.filter(|_| fits) else { return Ok(unrecognized(ty, notes)) };
            if array.layout != Layout::RowMajor || array.memory_space.is_some() {
                note(notes, "buffers are dense here: layout and memory space are lost");
            }
            let dimensions =
                shape.iter().map(|length| length.and_then(|length| u32::try_from(length).ok()));
            RawType::Buffer { code, dimensions: dimensions.collect() }
        }
        Type::Reference(name) => {
            if name.is_some() {
                note(notes, "the types of references are lost");
            }
            RawType::Object
        }
        Type::Unknown => RawType::Unrecognized,
        Type::Sequence(..) | Type::Dictionary(_) => return Err(NoForm::Structure),
        Type::Position(_) => return Err(NoForm::PositionOnly),
        other => unrecognized(other, notes),
    })
}

fn unrecognized(ty: &Type, notes: &mut Vec<String>) -> RawType {
    note(notes, &format!("`{ty}` is written as unrecognised (U)"));
    RawType::Unrecognized
}
