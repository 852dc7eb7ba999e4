//! Number formats: a letter after the expression.

use vm::Value;

use super::datum::Datum;
use crate::tensor::Number;
use crate::view::variable::Variable;

/// A number format.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Format {
    /// As numbers of its type are written.
    #[default]
    Natural,
    Hexadecimal,
    Binary,
    Octal,
    Decimal,
    /// The bits as a number without a sign.
    Unsigned,
    /// The number and the character that it stands for.
    Character,
    /// Integers as the floats with the same bits.
    Float,
}

impl Format {
    /// Splits the letter off, if there is one.
    pub(crate) fn split(text: &str) -> (&str, Self) {
        let Some((body, letter)) = text.rsplit_once(',') else { return (text, Self::Natural) };
        let format = match letter.trim() {
            "x" => Self::Hexadecimal,
            "b" => Self::Binary,
            "o" => Self::Octal,
            "d" => Self::Decimal,
            "u" => Self::Unsigned,
            "c" => Self::Character,
            "f" => Self::Float,
            _ => return (text, Self::Natural),
        };
        (body, format)
    }

    /// Writes a value in this format, if it is a number.
    pub(crate) fn apply(self, variable: Variable, datum: &Datum) -> Variable {
        match self.text(datum) {
            Some(value) => Variable { value, bits: None, ..variable },
            None => variable,
        }
    }

    fn text(self, datum: &Datum) -> Option<String> {
        let bits = raw_bits(datum)?;
        Some(match self {
            Self::Natural => return None,
            Self::Hexadecimal => format!("{bits:#x}"),
            Self::Binary => format!("{bits:#b}"),
            Self::Octal => format!("{bits:#o}"),
            Self::Decimal => signed(datum).unwrap_or(bits).to_string(),
            Self::Unsigned => bits.to_string(),
            Self::Character => match u32::try_from(bits).ok().and_then(char::from_u32) {
                Some(c) => format!("{bits} {c:?}"),
                None => signed(datum).unwrap_or(bits).to_string(),
            },
            Self::Float => match datum {
                Datum::Value(Value::I32(value)) => {
                    f32::from_bits(value.cast_unsigned()).to_string()
                }
                Datum::Value(Value::I64(value)) => {
                    f64::from_bits(value.cast_unsigned()).to_string()
                }
                _ => return None,
            },
        })
    }
}

/// An integer with its sign.
fn signed(datum: &Datum) -> Option<i128> {
    match datum {
        Datum::Value(Value::I32(value)) => Some((*value).into()),
        Datum::Value(Value::I64(value)) => Some((*value).into()),
        _ => None,
    }
}

/// The bits of a number in its own width.
pub(crate) fn raw_bits(datum: &Datum) -> Option<i128> {
    Some(match datum {
        Datum::Value(Value::I32(value)) => value.cast_unsigned().into(),
        Datum::Value(Value::I64(value)) => value.cast_unsigned().into(),
        Datum::Value(Value::F32(value)) => value.to_bits().into(),
        Datum::Value(Value::F64(value)) | Datum::Number(Number::Float(value)) => {
            value.to_bits().into()
        }
        Datum::Number(Number::Integer(value)) => *value,
        Datum::Tensor(tensor) => tensor.scalar_bits()?.into(),
        _ => return None,
    })
}
