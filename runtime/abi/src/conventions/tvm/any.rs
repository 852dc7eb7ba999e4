//! The meaning of the 16 bytes of a tagged value, without following addresses.

use std::fmt;

use super::index;
use super::layout::{Any, DlDataType};
use crate::signature::{ScalarType, Signedness, Type};

/// A value as far as its own bytes define it.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyValue {
    /// No value.
    None,
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A float.
    Float(f64),
    /// The type of elements.
    DataType(DlDataType),
    /// Type and number of a device.
    Device(i32, i32),
    /// A string stored in the value itself.
    SmallStr(Vec<u8>),
    /// Bytes stored in the value itself.
    SmallBytes(Vec<u8>),
    /// The address of an object of the type with this index.
    Address(u64),
}

/// Why bytes are no tagged value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnyError {
    /// Not 16 bytes.
    #[error("a tagged value has 16 bytes, here are {0}")]
    Length(usize),
    /// An index of no type.
    #[error("there is no type index {0}")]
    Index(i32),
    /// A small string longer than the space for it.
    #[error("a small string has at most 7 bytes, this one claims {0}")]
    SmallLength(u32),
    /// Unused bytes that are not 0. They have to be, as values are compared byte by byte.
    #[error("bytes {0} must be 0 for this type")]
    NotZero(&'static str),
    /// A boolean that is neither 0 nor 1.
    #[error("{0} is no truth value")]
    Bool(u64),
}

impl Any {
    /// Reads 16 bytes.
    ///
    /// # Errors
    /// There are more or fewer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AnyError> {
        let bytes: &[u8; 16] = bytes.try_into().map_err(|_| AnyError::Length(bytes.len()))?;
        let word = |at: usize| {
            bytes[at..at + 4].iter().rev().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte))
        };
        Ok(Self {
            type_index: word(0).cast_signed(),
            small_len: word(4),
            payload: u64::from(word(8)) | u64::from(word(12)) << 32,
        })
    }

    /// The 16 bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&self.type_index.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.small_len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.payload.to_le_bytes());
        bytes
    }

    /// An integer.
    #[must_use]
    pub fn int(value: i64) -> Self {
        Self { type_index: index::INT, small_len: 0, payload: value.cast_unsigned() }
    }

    /// A float.
    #[must_use]
    pub fn float(value: f64) -> Self {
        Self { type_index: index::FLOAT, small_len: 0, payload: value.to_bits() }
    }

    /// A truth value.
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self { type_index: index::BOOL, small_len: 0, payload: u64::from(value) }
    }

    /// A string, if it is small.
    #[must_use]
    pub fn small_str(text: &str) -> Option<Self> {
        let mut payload = [0; 8];
        let bytes = text.as_bytes();
        if bytes.len() > 7 {
            return None;
        }
        payload[..bytes.len()].copy_from_slice(bytes);
        Some(Self {
            type_index: index::SMALL_STR,
            small_len: bytes.len() as u32,
            payload: u64::from_le_bytes(payload),
        })
    }

    /// Checks the bytes and decodes them.
    ///
    /// # Errors
    /// See [`AnyError`].
    pub fn decode(self) -> Result<AnyValue, AnyError> {
        let bytes = self.payload.to_le_bytes();
        let is_small = matches!(self.type_index, index::SMALL_STR | index::SMALL_BYTES);
        if !is_small && self.small_len != 0 {
            return Err(AnyError::NotZero("4 to 7"));
        }
        let high_zero = |value| {
            if self.payload >> 32 == 0 { Ok(value) } else { Err(AnyError::NotZero("12 to 15")) }
        };
        let low = self.payload as u32;
        Ok(match self.type_index {
            index::NONE if self.payload == 0 => AnyValue::None,
            index::NONE => return Err(AnyError::NotZero("8 to 15")),
            index::INT => AnyValue::Int(self.payload.cast_signed()),
            index::BOOL => match self.payload {
                0 => AnyValue::Bool(false),
                1 => AnyValue::Bool(true),
                other => return Err(AnyError::Bool(other)),
            },
            index::FLOAT => AnyValue::Float(f64::from_bits(self.payload)),
            index::DATA_TYPE => high_zero(AnyValue::DataType(DlDataType {
                code: bytes[0],
                bits: bytes[1],
                lanes: u16::from_le_bytes([bytes[2], bytes[3]]),
            }))?,
            index::DEVICE => {
                AnyValue::Device(low.cast_signed(), ((self.payload >> 32) as u32).cast_signed())
            }
            index::SMALL_STR | index::SMALL_BYTES => {
                let length = self.small_len as usize;
                if length > 7 {
                    return Err(AnyError::SmallLength(self.small_len));
                }
                if bytes[length..].iter().any(|byte| *byte != 0) {
                    return Err(AnyError::NotZero("after the small string"));
                }
                let text = bytes[..length].to_vec();
                if self.type_index == index::SMALL_STR {
                    AnyValue::SmallStr(text)
                } else {
                    AnyValue::SmallBytes(text)
                }
            }
            known if known >= index::DYNAMIC_BEGIN => AnyValue::Address(self.payload),
            known if known >= 0 && index::key(known).is_some() => AnyValue::Address(self.payload),
            unknown => return Err(AnyError::Index(unknown)),
        })
    }
}

impl fmt::Display for AnyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Int(value) => value.fmt(f),
            Self::Bool(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::DataType(dtype) => f.write_str(&dtype.name()),
            Self::Device(1, number) => write!(f, "cpu:{number}"),
            Self::Device(2, number) => write!(f, "cuda:{number}"),
            Self::Device(kind, number) => write!(f, "device type {kind}:{number}"),
            Self::SmallStr(text) => write!(f, "{:?}", String::from_utf8_lossy(text)),
            Self::SmallBytes(bytes) => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Self::Address(address) => write!(f, "{address:#x}"),
        }
    }
}

/// DLPack's codes for formats that their width alone does not identify.
const FLOAT8: [(u8, &str, &str); 11] = [
    (7, "float8_e3m4", "f8E3M4"),
    (8, "float8_e4m3", "f8E4M3"),
    (9, "float8_e4m3b11fnuz", "f8E4M3B11FNUZ"),
    (10, "float8_e4m3fn", "f8E4M3FN"),
    (11, "float8_e4m3fnuz", "f8E4M3FNUZ"),
    (12, "float8_e5m2", "f8E5M2"),
    (13, "float8_e5m2fnuz", "f8E5M2FNUZ"),
    (14, "float8_e8m0fnu", "f8E8M0FNU"),
    (15, "float6_e2m3fn", "f6E2M3FN"),
    (16, "float6_e3m2fn", "f6E3M2FN"),
    (17, "float4_e2m1fn", "f4E2M1FN"),
];

impl DlDataType {
    /// As TVM writes it: `float32`, `int8x4`, `bool`.
    #[must_use]
    pub fn name(self) -> String {
        let bits = self.bits;
        let mut name = match self.code {
            0 => format!("int{bits}"),
            1 => format!("uint{bits}"),
            2 => format!("float{bits}"),
            3 => format!("handle{bits}"),
            4 => format!("bfloat{bits}"),
            5 => format!("complex{bits}"),
            6 => "bool".to_owned(),
            code => match FLOAT8.iter().find(|(known, ..)| *known == code) {
                Some((_, name, _)) => (*name).to_owned(),
                None => format!("custom[{code}]{bits}"),
            },
        };
        if self.lanes != 1 {
            name.push_str(&format!("x{}", self.lanes));
        }
        name
    }

    /// The scalar type, if elements are no vectors.
    #[must_use]
    pub fn scalar(self) -> Option<ScalarType> {
        let bits = u32::from(self.bits);
        if self.lanes != 1 {
            return None;
        }
        Some(match self.code {
            0 => ScalarType::Integer(Signedness::Signed, bits),
            1 => ScalarType::Integer(Signedness::Unsigned, bits),
            2 => ScalarType::Float(bits),
            4 if bits == 16 => ScalarType::BF16,
            5 => ScalarType::Complex(Box::new(ScalarType::Float(bits / 2))),
            6 => ScalarType::BOOL,
            code => ScalarType::parse(FLOAT8.iter().find(|(known, ..)| *known == code)?.2)?,
        })
    }

    /// The data type of a scalar type.
    #[must_use]
    pub fn of(scalar: &ScalarType) -> Option<Self> {
        let (code, bits) = match scalar {
            ScalarType::Index => (0, 64),
            ScalarType::Integer(Signedness::Signless, 1) => (6, 8),
            ScalarType::Integer(Signedness::Unsigned, bits) => (1, *bits),
            ScalarType::Integer(_, bits) => (0, *bits),
            ScalarType::Float(bits) => (2, *bits),
            ScalarType::SpecialFloat(format) if format.name == "bf16" => (4, 16),
            ScalarType::SpecialFloat(format) => {
                (FLOAT8.iter().find(|(_, _, name)| *name == format.name)?.0, format.bits)
            }
            ScalarType::Complex(part) => (5, part.bits().checked_mul(2)?),
            ScalarType::Opaque(_) => return None,
        };
        Some(Self { code, bits: u8::try_from(bits).ok()?, lanes: 1 })
    }
}

/// The model's type for values with this index.
#[must_use]
pub fn type_of_index(type_index: i32) -> Type {
    match index::key(type_index) {
        Some(key) => super::schema::leaf(key),
        None => Type::Reference(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        for (any, value, text) in [
            (Any::default(), AnyValue::None, "None"),
            (Any::int(-5), AnyValue::Int(-5), "-5"),
            (Any::float(1.5), AnyValue::Float(1.5), "1.5"),
            (Any::bool(true), AnyValue::Bool(true), "true"),
            (
                Any::small_str("abcdefg").unwrap(),
                AnyValue::SmallStr(b"abcdefg".to_vec()),
                "\"abcdefg\"",
            ),
            (Any::small_str("").unwrap(), AnyValue::SmallStr(Vec::new()), "\"\""),
        ] {
            assert_eq!(Any::from_bytes(&any.to_bytes()), Ok(any));
            let found = any.decode().unwrap();
            assert_eq!((found.to_string().as_str(), &found), (text, &value));
        }
        assert_eq!(Any::small_str("abcdefgh"), None);
    }

    #[test]
    fn nonsense_is_refused() {
        let any = |type_index, small_len, payload| Any { type_index, small_len, payload }.decode();
        assert_eq!(any(11, 8, 0), Err(AnyError::SmallLength(8)));
        assert_eq!(any(11, 1, 0x4141), Err(AnyError::NotZero("after the small string")));
        assert_eq!(any(1, 1, 0), Err(AnyError::NotZero("4 to 7")));
        assert_eq!(any(2, 0, 2), Err(AnyError::Bool(2)));
        assert_eq!(any(100, 0, 0), Err(AnyError::Index(100)));
        assert_eq!(any(-1, 0, 0), Err(AnyError::Index(-1)));
        assert_eq!(Any::from_bytes(&[0; 15]), Err(AnyError::Length(15)));
    }

    #[test]
    fn data_types() {
        for (name, mlir) in [
            ("float32", "f32"),
            ("bfloat16", "bf16"),
            ("uint8", "ui8"),
            ("int64", "si64"),
            ("bool", "i1"),
            ("complex64", "complex<f32>"),
            ("float8_e4m3fn", "f8E4M3FN"),
        ] {
            let scalar = ScalarType::parse(mlir).unwrap();
            let dtype = DlDataType::of(&scalar).unwrap();
            assert_eq!(dtype.name(), name);
            assert_eq!(dtype.scalar(), Some(scalar));
        }
        assert_eq!(DlDataType { code: 0, bits: 8, lanes: 4 }.name(), "int8x4");
    }
}
