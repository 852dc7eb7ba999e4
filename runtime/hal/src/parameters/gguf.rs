//! `.gguf`, the format of llama.cpp: key-value pairs, tensor descriptions, data.
//!
//! ```text
//! "GGUF" u32 version (2, 3)  u64 tensors  u64 pairs
//! pair      string key  u32 type  value
//! tensor    string name  u32 rank  u64 dimension…  u32 type  u64 offset
//! data      from the next multiple of `general.alignment` (32)
//! string    u64 length  bytes
//! ```
//!
//! The size of a tensor is not stored: it follows from its type, whose elements come in blocks.

use std::borrow::Cow;

use vm::Status;

use super::index::{Index, Source};
use super::reader::Reader;

const MAGIC: &[u8] = b"GGUF";
const DEFAULT_ALIGNMENT: u64 = 32;

/// Tensor types: code, name, elements in a block, bytes of a block.
const TENSOR_TYPES: [(u32, &str, u64, u64); 31] = [
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (9, "Q8_1", 32, 40),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (15, "Q8_K", 256, 292),
    (16, "IQ2_XXS", 256, 66),
    (17, "IQ2_XS", 256, 74),
    (18, "IQ3_XXS", 256, 98),
    (19, "IQ1_S", 256, 50),
    (20, "IQ4_NL", 32, 18),
    (21, "IQ3_S", 256, 110),
    (22, "IQ2_S", 256, 82),
    (23, "IQ4_XS", 256, 136),
    (24, "I8", 1, 1),
    (25, "I16", 1, 2),
    (26, "I32", 1, 4),
    (27, "I64", 1, 8),
    (28, "F64", 1, 8),
    (29, "IQ1_M", 256, 56),
    (30, "BF16", 1, 2),
    (34, "TQ1_0", 256, 54),
    (35, "TQ2_0", 256, 66),
];

const VALUE_STRING: u32 = 8;
const VALUE_ARRAY: u32 = 9;
const VALUE_U32: u32 = 4;

/// Adds the file's tensors to `index`.
pub(super) fn parse(source: &Source, index: &mut Index) -> Result<(), Status> {
    let mut reader = Reader::new(source.bytes(), 0);
    let magic = reader.bytes(4, "the GGUF header")?;
    if *magic != *MAGIC {
        return Err(Status::invalid_argument(format!(
            "not a .gguf file: it begins with {magic:02x?}, not \"GGUF\""
        )));
    }
    let version = reader.u32("the version")?;
    if !(2..=3).contains(&version) {
        return Err(Status::unimplemented(format!(
            "version {version} of the .gguf format is not known; known are 2 and 3"
        )));
    }
    let tensor_count = reader.u64("the number of tensors")?;
    let pair_count = reader.u64("the number of key-value pairs")?;
    let alignment = read_alignment(&mut reader, pair_count)?;
    // The data begins after the descriptions, so all of them are read first.
    let mut descriptions = reader;
    for _ in 0..tensor_count {
        Tensor::read(&mut descriptions)?;
    }
    let data = descriptions.offset().checked_next_multiple_of(alignment).ok_or_else(|| {
        Status::out_of_range(format!(
            "an alignment of {alignment} bytes puts the data outside of any file"
        ))
    })?;
    for _ in 0..tensor_count {
        let tensor = Tensor::read(&mut reader)?;
        let length = tensor.byte_length()?;
        let offset = data.checked_add(tensor.offset).ok_or_else(|| {
            Status::out_of_range(format!("the data of `{}` is outside of any file", tensor.name))
        })?;
        index.add_data(&tensor.name, source, offset, length)?;
        index.state_type(&tensor.shape, tensor.element_type());
    }
    Ok(())
}

/// Reads past the key-value pairs; returns the alignment, which one of them may set.
fn read_alignment(reader: &mut Reader<'_>, pair_count: u64) -> Result<u64, Status> {
    let mut alignment = DEFAULT_ALIGNMENT;
    for _ in 0..pair_count {
        let key = string(reader, "a key")?;
        let value_type = reader.u32("the type of a value")?;
        if *key == *b"general.alignment" {
            if value_type != VALUE_U32 {
                return Err(Status::invalid_argument(
                    "the value of general.alignment is not a uint32",
                ));
            }
            alignment = u64::from(reader.u32("general.alignment")?);
            if alignment == 0 {
                return Err(Status::invalid_argument("general.alignment is 0"));
            }
            continue;
        }
        skip_value(reader, value_type)?;
    }
    Ok(alignment)
}

fn skip_value(reader: &mut Reader<'_>, value_type: u32) -> Result<(), Status> {
    match value_type {
        VALUE_STRING => skip_string(reader),
        VALUE_ARRAY => {
            let element_type = reader.u32("the type of an array's elements")?;
            let count = reader.u64("the length of an array")?;
            match element_type {
                VALUE_STRING => (0..count).try_for_each(|_| skip_string(reader)),
                VALUE_ARRAY => Err(Status::unimplemented("an array of arrays in the .gguf file")),
                scalar => {
                    let length = count.saturating_mul(scalar_length(scalar)?);
                    reader.skip(length, "an array")
                }
            }
        }
        scalar => reader.skip(scalar_length(scalar)?, "a value"),
    }
}

fn scalar_length(value_type: u32) -> Result<u64, Status> {
    Ok(match value_type {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        _ => {
            return Err(Status::unimplemented(format!(
                "values of type {value_type} in the .gguf file are not known"
            )));
        }
    })
}

fn string<'f>(reader: &mut Reader<'f>, what: &str) -> Result<Cow<'f, [u8]>, Status> {
    let length = reader.u64(what)?;
    reader.bytes(length, what)
}

fn skip_string(reader: &mut Reader<'_>) -> Result<(), Status> {
    let length = reader.u64("a value")?;
    reader.skip(length, "a value")
}

/// The description of a tensor.
struct Tensor {
    name: String,
    /// The size of each axis, outermost first.
    shape: Vec<u64>,
    /// `None` if the count overflows.
    element_count: Option<u64>,
    tensor_type: u32,
    offset: u64,
}

impl Tensor {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Status> {
        let name = String::from_utf8_lossy(&string(reader, "the name of a tensor")?).into_owned();
        let rank = reader.u32("the rank of a tensor")?;
        let mut element_count = Some(1_u64);
        let mut shape = Vec::new();
        for _ in 0..rank {
            let dimension = reader.u64("a dimension")?;
            element_count = element_count.and_then(|count| count.checked_mul(dimension));
            shape.push(dimension);
        }
        // The file has the innermost first.
        shape.reverse();
        let tensor_type = reader.u32("the type of a tensor")?;
        let offset = reader.u64("the offset of a tensor")?;
        Ok(Self { name, shape, element_count, tensor_type, offset })
    }

    /// The type of the elements: IREE's name, or that of the format of blocks.
    fn element_type(&self) -> &'static str {
        let name = TENSOR_TYPES.iter().find(|(code, ..)| *code == self.tensor_type);
        match name.map_or("?", |(_, name, ..)| *name) {
            "F64" => "f64",
            "F32" => "f32",
            "F16" => "f16",
            "BF16" => "bf16",
            "I64" => "i64",
            "I32" => "i32",
            "I16" => "i16",
            "I8" => "i8",
            other => other,
        }
    }

    fn byte_length(&self) -> Result<u64, Status> {
        let Self { name, tensor_type, .. } = self;
        let (_, _, block, bytes) =
            TENSOR_TYPES.iter().find(|(code, ..)| code == tensor_type).ok_or_else(|| {
                Status::unimplemented(format!(
                    "the type {tensor_type} of the tensor `{name}` is not known"
                ))
            })?;
        self.element_count.and_then(|count| (count / block).checked_mul(*bytes)).ok_or_else(|| {
            Status::out_of_range(format!("the tensor `{name}` is larger than any file"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{Index, Source};
    use super::parse;

    fn text(bytes: &mut Vec<u8>, text: &str) {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }

    fn file() -> Vec<u8> {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(2_u64.to_le_bytes());
        bytes.extend(3_u64.to_le_bytes());
        text(&mut bytes, "general.alignment");
        bytes.extend([4, 0, 0, 0, 16, 0, 0, 0]);
        text(&mut bytes, "words");
        bytes.extend([9, 0, 0, 0, 8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        text(&mut bytes, "a");
        text(&mut bytes, "");
        text(&mut bytes, "half");
        bytes.extend([6, 0, 0, 0, 0, 0, 0, 0x3F]);
        for (name, dimensions, code, offset) in
            [("first", vec![2_u64, 3], 16_u32 + 8, 0_u64), ("second", vec![64], 8, 16)]
        {
            text(&mut bytes, name);
            bytes.extend(u32::try_from(dimensions.len()).unwrap().to_le_bytes());
            bytes.extend(dimensions.iter().flat_map(|dimension| dimension.to_le_bytes()));
            bytes.extend(code.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes.extend((0..16 + 68).map(|at| at as u8));
        bytes
    }

    fn index(bytes: Vec<u8>) -> Result<Index, vm::Status> {
        let mut index = Index::default();
        parse(&Source::from_bytes(bytes), &mut index)?;
        Ok(index)
    }

    #[test]
    fn tensors_are_found() {
        let index = index(file()).unwrap();
        assert_eq!(index.find("first").unwrap().bytes(0, 6).unwrap(), [0, 1, 2, 3, 4, 5]);
        let second = index.find("second").unwrap();
        assert_eq!(second.length, 2 * 34);
        assert_eq!(second.bytes(66, 2).unwrap(), [82, 83]);
    }

    #[test]
    fn damage_is_told_or_harmless() {
        let good = file();
        for at in 0..good.len() {
            assert!(index(good[..at].to_vec()).is_err(), "{at}");
            for value in [0, 9, 0x7F, 0xFF] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let _ = index(bytes);
            }
        }
    }
}
