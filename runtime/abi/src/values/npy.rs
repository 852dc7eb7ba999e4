//! NumPy's `.npy` format: a header and the bytes of a tensor. A file may hold several, one after
//! the other.
//!
//! ```text
//! "\x93NUMPY" major minor  u16 (version 1) or u32 length  header  data
//! header = Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//! ```

use std::ops::Range;

use crate::values::element_type::{ElementType, NumericalKind};
use crate::values::tensor::{Tensor, TensorType};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers end at a multiple of this many bytes from the start of the array.
const ALIGNMENT: usize = 64;

/// Why an array cannot be read, or a tensor cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    /// The bytes do not begin with the format's signature.
    #[error("not a .npy file: it does not begin with \\x93NUMPY")]
    Magic,
    /// An unknown version of the format.
    #[error("version {0} of the .npy format is not known; save it again with numpy.save")]
    Version(u8),
    /// The file ends before the array does.
    #[error("the .npy file is cut short: {needed} bytes are needed, {available} are there")]
    Truncated {
        /// The bytes that header and data need.
        needed: u64,
        /// The bytes that are there.
        available: usize,
    },
    /// The header is malformed.
    #[error("the header of the .npy file has no readable '{0}': {1}")]
    Header(&'static str, String),
    /// The array is in column-major order.
    #[error("the array is in Fortran order; save numpy.ascontiguousarray(array) instead")]
    FortranOrder,
    /// NumPy does not have the element type, or this crate does not.
    #[error("there is no NumPy type for {0}")]
    ElementType(String),
}

impl NpyError {
    /// The name of the status with which IREE's tools fail in this case.
    #[must_use]
    pub fn status_name(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "OUT_OF_RANGE",
            Self::Version(_) | Self::FortranOrder | Self::ElementType(_) => "UNIMPLEMENTED",
            Self::Magic | Self::Header(..) => "INVALID_ARGUMENT",
        }
    }
}

/// NumPy's letters for kinds of elements. A letter of several kinds is read as the first of them.
const KINDS: [(char, NumericalKind); 13] = [
    ('b', NumericalKind::Boolean),
    ('i', NumericalKind::SignedInteger),
    ('i', NumericalKind::Integer),
    ('u', NumericalKind::UnsignedInteger),
    ('f', NumericalKind::Float),
    ('c', NumericalKind::ComplexFloat),
    ('V', NumericalKind::Opaque),
    // NumPy has no names for these; its extensions store them as opaque bytes.
    ('V', NumericalKind::BrainFloat),
    ('V', NumericalKind::Float8E5M2),
    ('V', NumericalKind::Float8E4M3Fn),
    ('V', NumericalKind::Float8E5M2Fnuz),
    ('V', NumericalKind::Float8E4M3Fnuz),
    ('V', NumericalKind::Float8E8M0Fnu),
];

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Shape and element type.
    pub tensor_type: TensorType,
    /// The range of the data in the bytes that the header was read from.
    pub data: Range<usize>,
}

impl Header {
    /// Reads the header that `bytes` begin with.
    ///
    /// # Errors
    /// See [`NpyError`].
    pub fn read(bytes: &[u8]) -> Result<Self, NpyError> {
        Self::read_first(bytes, bytes.len())
    }

    /// Reads the header that a file of `length_of_file` bytes begins with, from its first bytes.
    ///
    /// # Errors
    /// See [`NpyError`].
    pub fn read_first(bytes: &[u8], length_of_file: usize) -> Result<Self, NpyError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(NpyError::Magic)?;
        let truncated = |needed: u64| NpyError::Truncated { needed, available: bytes.len() };
        let (length, start) = match rest {
            [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            [1..=3, ..] | [] => return Err(truncated(12)),
            [version, ..] => return Err(NpyError::Version(*version)),
        };
        let start_of_data = start + length;
        let header =
            bytes.get(start..start_of_data).ok_or_else(|| truncated(start_of_data as u64))?;
        let tensor_type = read_header(&String::from_utf8_lossy(header))?;
        let size = tensor_type.byte_length(usize::MAX).ok();
        let end = size.and_then(|size| size.checked_add(start_of_data));
        let end = end.ok_or_else(|| truncated(u64::MAX))?;
        if end > length_of_file {
            return Err(truncated(end as u64));
        }
        Ok(Self { tensor_type, data: start_of_data..end })
    }
}

/// Reads the array that `bytes` begin with; also returns the number of bytes that it takes.
///
/// # Errors
/// See [`NpyError`].
pub fn read(bytes: &[u8]) -> Result<(Tensor, usize), NpyError> {
    let Header { tensor_type: TensorType { shape, element_type }, data } = Header::read(bytes)?;
    let end = data.end;
    Ok((Tensor { shape, element_type, bytes: bytes[data].to_vec() }, end))
}

/// The text of a value in the dictionary, after `'key':`.
fn value<'h>(header: &'h str, key: &'static str) -> Result<&'h str, NpyError> {
    let missing = || NpyError::Header(key, header.trim().to_owned());
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let at = quoted.iter().find_map(|quoted| Some(header.find(quoted)? + quoted.len()));
    let rest = header[at.ok_or_else(missing)?..].trim_start();
    Ok(rest.strip_prefix(':').ok_or_else(missing)?.trim_start())
}

fn read_header(header: &str) -> Result<TensorType, NpyError> {
    let descr = value(header, "descr")?;
    let name = descr.split(['\'', '"']).nth(1).unwrap_or(descr);
    let element_type =
        read_element_type(name).ok_or_else(|| NpyError::ElementType(format!("'{name}'")))?;
    if value(header, "fortran_order")?.starts_with("True") {
        return Err(NpyError::FortranOrder);
    }
    let shape = value(header, "shape")?;
    let wrong = || NpyError::Header("shape", shape.trim().to_owned());
    let tuple =
        shape.strip_prefix('(').and_then(|rest| rest.split(')').next()).ok_or_else(wrong)?;
    let dimensions = tuple.split(',').map(str::trim).filter(|text| !text.is_empty());
    let shape: Result<Vec<u64>, _> = dimensions.map(str::parse).collect();
    Ok(TensorType { shape: shape.map_err(|_| wrong())?, element_type })
}

/// Reads `<f4`: the byte order (`|` for none, `=` for the order of the machine that wrote the
/// file), the kind, and the number of bytes.
fn read_element_type(name: &str) -> Option<ElementType> {
    let name = name.strip_prefix(['<', '|', '=']).unwrap_or(name);
    let letter = name.chars().next()?;
    let bytes: u8 = name[letter.len_utf8()..].parse().ok()?;
    let (_, kind) = KINDS.iter().find(|(known, _)| *known == letter)?;
    let bits = bytes.checked_mul(8).filter(|bits| *bits > 0)?;
    Some(ElementType { kind: *kind, bits })
}

/// The bytes of a file that holds the tensor. They can also be appended to such a file.
///
/// # Errors
/// NumPy has no name for its element type.
pub fn write(tensor: &Tensor) -> Result<Vec<u8>, NpyError> {
    let ElementType { kind, .. } = tensor.element_type;
    let letter = KINDS.iter().find(|(_, known)| *known == kind).map(|(letter, _)| *letter);
    let letter = letter
        .filter(|_| !tensor.element_type.is_packed())
        .ok_or_else(|| NpyError::ElementType(tensor.element_type.to_string()))?;
    let width = tensor.element_type.byte_count();
    let order = if width == 1 { '|' } else { '<' };
    let name = format!("{order}{letter}{width}");
    let mut shape: String = tensor.shape.iter().map(|dimension| format!("{dimension}, ")).collect();
    if tensor.shape.len() > 1 {
        shape.truncate(shape.len() - 2);
    } else {
        shape.truncate(shape.trim_end().len());
    }
    let mut header = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({shape}), }}");
    let start = MAGIC.len() + 4;
    let end = (start + header.len() + 1).next_multiple_of(ALIGNMENT);
    header.extend(std::iter::repeat_n(' ', end - start - header.len() - 1));
    header.push('\n');
    let length = u16::try_from(header.len())
        .map_err(|_| NpyError::Header("shape", "too many dimensions".to_owned()))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(&tensor.bytes);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{NpyError, read, write};
    use crate::values::tensor::Tensor;

    #[test]
    fn tensors_survive_a_round_trip() {
        for text in [
            "2x3xf32=[1 2 3][4 5 6]",
            "f64=2.5",
            "4xsi64=1 -2 3 -4",
            "2xi1=01 00",
            "0x3xui8=",
            "2xf16=1 2",
            "1x1xcf64=0000803F00000040",
        ] {
            let tensor = Tensor::parse(text, 1 << 16).unwrap();
            let bytes = write(&tensor).unwrap();
            assert_eq!((bytes.len() - tensor.bytes.len()) % 64, 0, "{text}");
            let (back, length) = read(&bytes).unwrap();
            assert_eq!((back, length), (tensor, bytes.len()), "{text}");
        }
    }

    #[test]
    fn several_in_one_file() {
        let first = Tensor::parse("2xf32=1 2", 64).unwrap();
        let second = Tensor::parse("si32=7", 64).unwrap();
        let file = [write(&first).unwrap(), write(&second).unwrap()].concat();
        let (tensor, length) = read(&file).unwrap();
        assert_eq!(tensor, first);
        assert_eq!(read(&file[length..]).unwrap().0, second);
    }

    #[test]
    fn what_numpy_writes_is_read() {
        // numpy.save of numpy.array([1.5, 2.5], dtype=numpy.float32).
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        bytes.extend(format!("{header:<117}\n").as_bytes());
        bytes.extend([0, 0, 0xC0, 0x3F, 0, 0, 0x20, 0x40]);
        assert_eq!(read(&bytes).unwrap().0.to_string(), "2xf32=1.5 2.5");
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        let file = |header: &str| {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
            bytes.extend(header.as_bytes());
            bytes
        };
        for (header, message) in [
            ("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "no NumPy type for '>f4'"),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", "Fortran order"),
            ("{'descr': '<f4', 'fortran_order': False}", "no readable 'shape'"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", "no readable 'shape'"),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999)}",
                "cut short",
            ),
        ] {
            let error = read(&file(header)).unwrap_err();
            assert!(error.to_string().contains(message), "{header}: {error}");
        }
        assert_eq!(read(b"PK"), Err(NpyError::Magic));
        assert_eq!(read(b"\x93NUMPY\x09\x00\x00\x00"), Err(NpyError::Version(9)));
        assert!(write(&Tensor::parse("2xi4=1", 64).unwrap()).is_err());
        let tensor = Tensor::parse("bf16=1", 64).unwrap();
        let (back, _) = read(&write(&tensor).unwrap()).unwrap();
        assert_eq!((back.element_type.to_string(), back.bytes), ("*16".to_owned(), tensor.bytes));
    }
}
