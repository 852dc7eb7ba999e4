//! VM calling-convention strings: `0rii_r` as a [`Signature`] and back.
//!
//! Every import and every function of a VM module has such a string; it is the only part of a
//! signature that the runtime itself reads. The grammar, in today's version `0`:
//!
//! ```text
//! cconv     = "" | "0" fragment? ( "_" fragment )?      arguments, then results
//! fragment  = "v" | item*                               "v": nothing
//! item      = scalar | "C" scalar+ "D"                  a span: a counted sequence of tuples
//! scalar    = "i" i32 | "I" i64 | "f" f32 | "F" f64 | "r" reference
//! ```
//!
//! Spans appear in imports only (`0CiDi_i`): the caller passes a count and that many tuples. Narrow
//! integers travel as `i`, `index` as `I`, `f16` and `bf16` as the raw bits in an `i`, tensors and
//! buffers as `r`.
//!
//! [`Signature::parse`] accepts only strings that can be printed again; [`Signature::to_cconv`]
//! writes the form of today's compilers (both fragments, `v` if one is empty). [`Signature`]'s
//! `Display` is for people: `(ref, i32) -> (ref)`.

use std::fmt;

/// One argument or result as the VM passes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// `i`: a 32-bit integer; also carries `i1`, `i8`, `i16` and the raw bits of 16-bit floats.
    I32,
    /// `I`: a 64-bit integer; also carries `index`.
    I64,
    /// `f`: a 32-bit float.
    F32,
    /// `F`: a 64-bit float.
    F64,
    /// `r`: a counted reference to an object (buffer, list, buffer view, …), or null.
    Ref,
    /// `C…D`: a count, then that many tuples of these types. Holds one scalar or more, never
    /// another span.
    Span(Vec<ValueType>),
}

impl ValueType {
    /// The scalar that a character of a calling convention stands for; `None` for spans and other
    /// characters.
    pub(crate) const fn from_char(c: char) -> Option<Self> {
        Some(match c {
            'i' => Self::I32,
            'I' => Self::I64,
            'f' => Self::F32,
            'F' => Self::F64,
            'r' => Self::Ref,
            _ => return None,
        })
    }

    fn write_cconv(&self, out: &mut String) {
        match self {
            Self::I32 => out.push('i'),
            Self::I64 => out.push('I'),
            Self::F32 => out.push('f'),
            Self::F64 => out.push('F'),
            Self::Ref => out.push('r'),
            Self::Span(tuple) => {
                out.push('C');
                tuple.iter().for_each(|item| item.write_cconv(out));
                out.push('D');
            }
        }
    }
}

/// `i32`, `f64`, `ref`; a span as `variadic<i32>` or `variadic<(ref, i32)>`.
impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::I32 => f.write_str("i32"),
            Self::I64 => f.write_str("i64"),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
            Self::Ref => f.write_str("ref"),
            Self::Span(tuple) => match tuple.as_slice() {
                [one] => write!(f, "variadic<{one}>"),
                many => {
                    f.write_str("variadic<(")?;
                    write_list(f, many)?;
                    f.write_str(")>")
                }
            },
        }
    }
}

/// The arguments and results of a function, as the VM passes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The arguments in order; a span counts as one.
    pub arguments: Vec<ValueType>,
    /// The results in order.
    pub results: Vec<ValueType>,
}

impl Signature {
    /// Reads a calling-convention string.
    ///
    /// # Errors
    /// The string is malformed, with the byte of the error and the kind of problem.
    pub fn parse(text: &str) -> Result<Self, CconvError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        if !text.starts_with('0') {
            return Err(CconvError { position: 0, kind: CconvErrorKind::Version });
        }
        let mut parser = Parser { text: text.as_bytes(), position: 1 };
        let arguments = parser.fragment()?;
        let results = if parser.eat(b'_') { parser.fragment()? } else { Vec::new() };
        match parser.peek() {
            None => Ok(Self { arguments, results }),
            Some(b'_') => Err(parser.fail(CconvErrorKind::SecondSeparator)),
            Some(_) => Err(parser.unexpected(text)),
        }
    }

    /// The string as today's compilers write it: `0v_v`, `0rii_r`.
    pub fn to_cconv(&self) -> String {
        let mut out = String::from("0");
        write_fragment(&self.arguments, &mut out);
        out.push('_');
        write_fragment(&self.results, &mut out);
        out
    }

    /// Whether any argument or result is a span. Such functions can only be called from bytecode.
    pub fn is_variadic(&self) -> bool {
        self.arguments.iter().chain(&self.results).any(|item| matches!(item, ValueType::Span(_)))
    }
}

/// `(ref, i32) -> (i64)`, `() -> ()`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        write_list(f, &self.arguments)?;
        f.write_str(") -> (")?;
        write_list(f, &self.results)?;
        f.write_str(")")
    }
}

impl std::str::FromStr for Signature {
    type Err = CconvError;

    fn from_str(text: &str) -> Result<Self, CconvError> {
        Self::parse(text)
    }
}

/// An error in a calling-convention string, and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (byte {position} of the calling convention)")]
pub struct CconvError {
    /// The byte offset into the text; the text's length if something is missing at the end.
    pub position: usize,
    /// The problem.
    pub kind: CconvErrorKind,
}

/// The problems of calling-convention strings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CconvErrorKind {
    /// The first character is not the version `0`.
    #[error("unknown version: a calling convention begins with `0`")]
    Version,
    /// A character that is no type, or no type that is allowed here.
    #[error(
        "unexpected `{0}`: expected one of `i I f F r`, a span `C…D`, or `_` before the results"
    )]
    Unexpected(char),
    /// `v` beside values.
    #[error("`v` means no values and cannot stand beside others")]
    VoidBesideValues,
    /// More than one `_`.
    #[error("a second `_`: the results begin only once")]
    SecondSeparator,
    /// `CD`.
    #[error("empty span: `C` needs one type or more before its `D`")]
    EmptySpan,
    /// A `C` without its `D`.
    #[error("the span opened at byte {0} is not closed by `D`")]
    OpenSpan(usize),
    /// A span inside a span.
    #[error("a span inside a span")]
    NestedSpan,
    /// A `D` without its `C`.
    #[error("`D` closes no span")]
    StrayClose,
}

struct Parser<'a> {
    text: &'a [u8],
    position: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    fn fail(&self, kind: CconvErrorKind) -> CconvError {
        CconvError { position: self.position, kind }
    }

    fn unexpected(&self, text: &str) -> CconvError {
        let found = text[self.position..].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        self.fail(CconvErrorKind::Unexpected(found))
    }

    /// Everything up to `_`, the end, or a character that begins no item.
    fn fragment(&mut self) -> Result<Vec<ValueType>, CconvError> {
        if self.eat(b'v') {
            return match self.peek() {
                None | Some(b'_') => Ok(Vec::new()),
                Some(_) => Err(self.fail(CconvErrorKind::VoidBesideValues)),
            };
        }
        let mut items = Vec::new();
        loop {
            match self.peek() {
                Some(b'C') => items.push(self.span()?),
                Some(b'D') => return Err(self.fail(CconvErrorKind::StrayClose)),
                Some(b'v') => return Err(self.fail(CconvErrorKind::VoidBesideValues)),
                other => match other.and_then(|byte| ValueType::from_char(char::from(byte))) {
                    Some(scalar) => {
                        self.position += 1;
                        items.push(scalar);
                    }
                    None => return Ok(items),
                },
            }
        }
    }

    fn span(&mut self) -> Result<ValueType, CconvError> {
        let open = self.position;
        self.position += 1;
        let mut tuple = Vec::new();
        loop {
            match self.peek() {
                Some(b'D') if tuple.is_empty() => {
                    return Err(self.fail(CconvErrorKind::EmptySpan));
                }
                Some(b'D') => {
                    self.position += 1;
                    return Ok(ValueType::Span(tuple));
                }
                Some(b'C') => return Err(self.fail(CconvErrorKind::NestedSpan)),
                other => match other.and_then(|byte| ValueType::from_char(char::from(byte))) {
                    Some(scalar) => {
                        self.position += 1;
                        tuple.push(scalar);
                    }
                    None => return Err(self.fail(CconvErrorKind::OpenSpan(open))),
                },
            }
        }
    }
}

fn write_fragment(items: &[ValueType], out: &mut String) {
    if items.is_empty() {
        out.push('v');
    }
    items.iter().for_each(|item| item.write_cconv(out));
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[ValueType]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CconvErrorKind as Kind, Signature};

    #[test]
    fn reads_and_writes() {
        for (text, canonical, human) in [
            ("", "0v_v", "() -> ()"),
            ("0", "0v_v", "() -> ()"),
            ("0v_v", "0v_v", "() -> ()"),
            ("0_", "0v_v", "() -> ()"),
            ("0i", "0i_v", "(i32) -> ()"),
            ("0_r", "0v_r", "() -> (ref)"),
            ("0rii_r", "0rii_r", "(ref, i32, i32) -> (ref)"),
            (
                "0iIfFr_rFfIi",
                "0iIfFr_rFfIi",
                "(i32, i64, f32, f64, ref) -> (ref, f64, f32, i64, i32)",
            ),
            ("0CiDi_i", "0CiDi_i", "(variadic<i32>, i32) -> (i32)"),
            (
                "0rIiiiiICiDCiirIID_v",
                "0rIiiiiICiDCiirIID_v",
                "(ref, i64, i32, i32, i32, i32, i64, variadic<i32>, \
                 variadic<(i32, i32, ref, i64, i64)>) -> ()",
            ),
        ] {
            let signature = Signature::parse(text).unwrap();
            assert_eq!(signature.to_cconv(), canonical, "{text}");
            assert_eq!(signature.to_string(), human, "{text}");
            assert_eq!(Signature::parse(canonical).as_ref(), Ok(&signature), "{text}");
            assert_eq!(signature.is_variadic(), text.contains('C'), "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_fault() {
        for (text, position, kind) in [
            ("1i_i", 0, Kind::Version),
            ("é", 0, Kind::Version),
            ("0x_i", 1, Kind::Unexpected('x')),
            ("0i.i", 2, Kind::Unexpected('.')),
            ("0ié", 2, Kind::Unexpected('é')),
            ("0i_i_i", 4, Kind::SecondSeparator),
            ("0vi_v", 2, Kind::VoidBesideValues),
            ("0iv_v", 2, Kind::VoidBesideValues),
            ("0CD_v", 2, Kind::EmptySpan),
            ("0iCi_v", 4, Kind::OpenSpan(2)),
            ("0CiCiDD_v", 3, Kind::NestedSpan),
            ("0iD_v", 2, Kind::StrayClose),
        ] {
            let error = Signature::parse(text).unwrap_err();
            assert_eq!((error.position, &error.kind), (position, &kind), "{text}");
            assert!(error.to_string().contains(&format!("byte {position} ")), "{error}");
        }
    }
}
