//! `.safetensors`, the format of Hugging Face: a JSON dictionary of tensors, then their data.
//!
//! ```text
//! u64 length  JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": …}  data
//! ```
//!
//! Offsets are relative to the end of the JSON; the second one is exclusive.

use serde_json::Value;
use vm::Status;

use super::index::{Index, Source};
use super::reader::Reader;

/// The entry of the dictionary that is not a tensor.
const METADATA_KEY: &str = "__metadata__";

/// Adds the file's tensors to `index`.
pub(super) fn parse(source: &Source, index: &mut Index) -> Result<(), Status> {
    let mut reader = Reader::new(source.bytes(), 0);
    let length = reader.u64("the length of the header")?;
    let header = reader.bytes(length, "the header")?;
    let header: Value = serde_json::from_slice(&header)
        .map_err(|error| Status::invalid_argument(format!("the header is not JSON: {error}")))?;
    let tensors = header
        .as_object()
        .ok_or_else(|| Status::invalid_argument("the header is not a dictionary of tensors"))?;
    let data = reader.offset();
    for (name, tensor) in tensors.iter().filter(|(name, _)| *name != METADATA_KEY) {
        let (begin, end) = data_offsets(tensor).ok_or_else(|| {
            Status::invalid_argument(format!(
                "the tensor `{name}` has no `data_offsets` of two numbers, the lower one first"
            ))
        })?;
        let offset = data.checked_add(begin).ok_or_else(|| {
            Status::out_of_range(format!("the data of `{name}` is outside of any file"))
        })?;
        index.add_data(name, source, offset, end - begin)?;
        if let Some((shape, element_type)) = stated_type(tensor) {
            index.state_type(&shape, element_type);
        }
    }
    Ok(())
}

/// The shape and the type of elements, by IREE's name if it has one.
fn stated_type(tensor: &Value) -> Option<(Vec<u64>, &str)> {
    let sizes = tensor.get("shape")?.as_array()?.iter();
    let dtype = tensor.get("dtype")?.as_str()?;
    let element_type = match dtype {
        "F64" => "f64",
        "F32" => "f32",
        "F16" => "f16",
        "BF16" => "bf16",
        "F8_E4M3" => "f8E4M3FN",
        "F8_E5M2" => "f8E5M2",
        "I64" => "i64",
        "I32" => "i32",
        "I16" => "i16",
        "I8" => "i8",
        "U64" => "ui64",
        "U32" => "ui32",
        "U16" => "ui16",
        "U8" => "ui8",
        "BOOL" => "i1",
        other => other,
    };
    Some((sizes.map(Value::as_u64).collect::<Option<_>>()?, element_type))
}

fn data_offsets(tensor: &Value) -> Option<(u64, u64)> {
    match tensor.get("data_offsets")?.as_array()?.as_slice() {
        [begin, end] => {
            let (begin, end) = (begin.as_u64()?, end.as_u64()?);
            (begin <= end).then_some((begin, end))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{Index, Source};
    use super::parse;

    fn index(json: &str, data: &[u8]) -> Result<Index, vm::Status> {
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend(json.as_bytes());
        bytes.extend(data);
        let mut index = Index::default();
        parse(&Source::from_bytes(bytes), &mut index)?;
        Ok(index)
    }

    #[test]
    fn tensors_are_found() {
        let json = r#"{"__metadata__": {"a": "b"},
            "w\u00e9": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]},
            "none": {"dtype": "F32", "shape": [0], "data_offsets": [3, 3]}}   "#;
        let index = index(json, &[9, 8, 7]).unwrap();
        assert_eq!(index.entries().count(), 2);
        assert_eq!(index.find("none").unwrap().stated_type(), Some("0xf32"));
        assert_eq!(index.find("wé").unwrap().bytes(0, 2).unwrap(), [8, 7]);
        assert_eq!(index.find("none").unwrap().length, 0);
    }

    #[test]
    fn damage_is_told() {
        for (json, message) in [
            ("", "not JSON"),
            ("[]", "not a dictionary"),
            (r#"{"a": 1}"#, "`a` has no `data_offsets`"),
            (r#"{"a": {"data_offsets": [2, 1]}}"#, "`a` has no `data_offsets`"),
            (r#"{"a": {"data_offsets": [0, 1, 2]}}"#, "`a` has no `data_offsets`"),
            (r#"{"a": {"data_offsets": [0, -1]}}"#, "`a` has no `data_offsets`"),
            (r#"{"a": {"data_offsets": [0, 5]}}"#, "needs 5 bytes"),
            (r#"{"a": {"data_offsets": [18446744073709551615, 18446744073709551615]}}"#, "outside"),
        ] {
            let error = index(json, &[1, 2, 3]).unwrap_err().to_string();
            assert!(error.contains(message), "{json}: {error}");
        }
        let nested = "[".repeat(100_000);
        assert!(index(&nested, &[]).is_err());
        let mut all = Index::default();
        assert!(parse(&Source::from_bytes(vec![0xFF; 12]), &mut all).is_err());
        assert!(parse(&Source::from_bytes(vec![0; 3]), &mut all).is_err());
    }
}
