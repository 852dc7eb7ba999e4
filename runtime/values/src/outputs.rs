//! Results to files and against expectations: the meaning of `--output=` and `--expected_output=`.
//!
//! ```text
//! --output=             nothing
//! --output=-            the text of the value
//! --output=@x.npy       a NumPy file; `+` instead of `@` appends to the file
//! --output=@x.bin       only the bytes
//! ```
//!
//! Behaviour and messages are those of `iree-run-module`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use abi::c_float::format_g_upper;
use abi::compare::{Tolerances, first_difference};
use abi::element_type::ElementType;
use abi::npy;
use abi::tensor::{Tensor, TensorType};
use hal::{Buffer, BufferView, Encoding};
use vm::{Ref, Status, StatusCode, Value};
use vmfb::WholeFile;

use crate::inputs::Input;

/// The element type of memory without a type: bytes.
const BYTE_TYPE: u32 = 0x1000_0008;

/// Writes a value to the file that `spec` names after its `@` or `+`.
///
/// # Errors
/// The value has no bytes, `spec` has another mode, or the file cannot be written.
pub fn write_output(value: &Value, spec: &str) -> Result<(), Status> {
    let (path, is_added) = if let Some(path) = spec.strip_prefix('@') {
        (path, false)
    } else if let Some(path) = spec.strip_prefix('+') {
        (path, true)
    } else {
        return Err(Status::unimplemented(format!(
            "unsupported output mode specification '{spec}'; results can be printed (`-`), ignored (empty), \
             written (`@file`) or appended (`+file`)"
        )));
    };
    let tensor = tensor(value)?;
    let bytes = if path.ends_with(".npy") {
        npy::write(&tensor).map_err(|error| Status::unimplemented(error.to_string()))?
    } else {
        tensor.bytes
    };
    let failed = |error: std::io::Error| {
        Status::new(StatusCode::Unknown, format!("{}: {error}", Path::new(path).display()))
    };
    if !is_added {
        return WholeFile::write(Path::new(path), &bytes).map_err(failed);
    }
    let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
    let before = file.metadata().map_err(failed)?;
    file.write_all(&bytes).map_err(|error| {
        if before.is_file() {
            // What was there before is still whole, if the system lets it be.
            let _ = file.set_len(before.len());
        }
        failed(error)
    })
}

/// Checks that all tensors among the values have the elements that their shapes claim.
///
/// # Errors
/// A tensor has fewer.
pub fn check_tensors(values: &[Value]) -> Result<(), Status> {
    values.iter().try_for_each(|value| match value {
        Value::Ref(reference) => reference.downcast().map_or(Ok(()), BufferView::check),
        _ => Ok(()),
    })
}

/// A value as a tensor: a scalar without dimensions, memory without a type as bytes.
fn tensor(value: &Value) -> Result<Tensor, Status> {
    let scalar = |name: &str, bytes: &[u8]| {
        let element_type = name.parse().map_err(|_| Status::internal("no such element type"))?;
        Ok(Tensor { shape: Vec::new(), element_type, bytes: bytes.to_vec() })
    };
    let bytes = |bytes: Vec<u8>| Tensor {
        shape: vec![bytes.len() as u64],
        element_type: ElementType::from_any_code(BYTE_TYPE),
        bytes,
    };
    match value {
        Value::I32(value) => scalar("i32", &value.to_le_bytes()),
        Value::I64(value) => scalar("i64", &value.to_le_bytes()),
        Value::F32(value) => scalar("f32", &value.to_le_bytes()),
        Value::F64(value) => scalar("f64", &value.to_le_bytes()),
        Value::Ref(Ref::Null) => Ok(bytes(Vec::new())),
        Value::Ref(Ref::Buffer(buffer)) => Ok(bytes(buffer.read(0, buffer.len()))),
        Value::Ref(reference) => {
            if let Some(view) = reference.downcast::<BufferView>() {
                let element_type = ElementType::from_any_code(view.element_code());
                let shape = view.shape().to_vec();
                return Ok(Tensor { shape, element_type, bytes: view.read()? });
            }
            let buffer = reference.downcast::<Buffer>().ok_or_else(|| {
                Status::invalid_argument(format!(
                    "unsupported output source type {}; expected: !hal.buffer, !hal.buffer_view, !vm.buffer",
                    reference.type_name()
                ))
            })?;
            Ok(bytes(buffer.read(0, buffer.len())))
        }
    }
}

/// How results are compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Equality {
    /// Floats in tensors may differ within tolerances.
    Approximate(Tolerances),
    /// Every bit must be equal.
    Exact,
}

/// The differences from the expected values, one line each, in the words of `iree-run-module`;
/// empty if there are none.
///
/// Scalars must be equal. (`iree-run-module` reports any two scalars of the same type as a type
/// mismatch, which cannot be intended.)
#[must_use]
pub fn mismatches(
    expected: &[Input],
    results: &[Value],
    equality: Equality,
    max_element_count: usize,
) -> String {
    if expected.len() != results.len() {
        return format!(
            "[FAILED] expected {} list elements but {} provided\n",
            expected.len(),
            results.len()
        );
    }
    let pairs = expected.iter().zip(results).enumerate();
    pairs
        .filter(|(_, (expected, _))| !expected.is_ignored)
        .filter_map(|(index, (expected, actual))| {
            let mismatch = mismatch(&expected.value, actual, equality, max_element_count)?;
            Some(format!("[FAILED] result[{index}]: {mismatch}\n"))
        })
        .collect()
}

fn mismatch(
    expected: &Value,
    actual: &Value,
    equality: Equality,
    max_element_count: usize,
) -> Option<String> {
    let is_equal = match (expected, actual) {
        // An expected null matches any result.
        (Value::Ref(Ref::Null), _) => true,
        (Value::I32(expected), Value::I32(actual)) => expected == actual,
        (Value::I64(expected), Value::I64(actual)) => expected == actual,
        (Value::F32(expected), Value::F32(actual)) => {
            expected == actual || expected.is_nan() && actual.is_nan()
        }
        (Value::F64(expected), Value::F64(actual)) => {
            expected == actual || expected.is_nan() && actual.is_nan()
        }
        (Value::Ref(expected), Value::Ref(actual)) => {
            if let (Some(expected), Some(actual)) =
                (expected.downcast::<BufferView>(), actual.downcast::<BufferView>())
            {
                return mismatch_of_views(expected, actual, equality, max_element_count);
            }
            expected.is_same(actual)
        }
        _ => false,
    };
    if is_equal {
        return None;
    }
    Some(match (number(expected), number(actual)) {
        (Some(wanted), Some(found)) if expected.value_type() == actual.value_type() => {
            let value_type = actual.value_type();
            format!("{value_type} values differ\n  expected: {wanted}\n  actual: {found}")
        }
        _ => {
            let (expected, actual) = (type_name(expected), type_name(actual));
            format!("variant types mismatch; expected {expected} but got {actual}")
        }
    })
}

fn number(value: &Value) -> Option<String> {
    Some(match value {
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::F32(value) => format_g_upper(f64::from(*value)),
        Value::F64(value) => format_g_upper(*value),
        Value::Ref(_) => return None,
    })
}

fn type_name(value: &Value) -> String {
    match value {
        Value::Ref(Ref::Null) => "empty".to_owned(),
        Value::Ref(reference) => reference.type_name().to_owned(),
        scalar => scalar.value_type().to_string(),
    }
}

fn mismatch_of_views(
    expected: &BufferView,
    actual: &BufferView,
    equality: Equality,
    max_element_count: usize,
) -> Option<String> {
    let type_of = |view: &BufferView| TensorType {
        shape: view.shape().to_vec(),
        element_type: ElementType::from_any_code(view.element_code()),
    };
    let (expected_type, actual_type) = (type_of(expected), type_of(actual));
    let text = |view: &BufferView| {
        view.text(max_element_count).unwrap_or_else(|status| format!("({status})"))
    };
    let is_alike = expected_type == actual_type
        && expected.element_code() == actual.element_code()
        && (expected.encoding() == actual.encoding() || expected.encoding() == Encoding::OPAQUE);
    let problem = if is_alike {
        match (expected.read(), actual.read()) {
            (Ok(expected), Ok(actual)) => {
                difference(actual_type.element_type, &expected, &actual, equality)?
            }
            (Err(status), _) | (_, Err(status)) => status.to_string(),
        }
    } else {
        format!("metadata is {actual_type}; expected that the view matches {expected_type}")
    };
    Some(format!(
        "{problem}; expected that the view is equal to contents of a view of {expected_type}\n  expected:\n{}\n  \
         actual:\n{}",
        text(expected),
        text(actual)
    ))
}

fn difference(
    element_type: ElementType,
    expected: &[u8],
    actual: &[u8],
    equality: Equality,
) -> Option<String> {
    let tolerance = match equality {
        Equality::Approximate(tolerances) => tolerances.of(element_type),
        Equality::Exact => None,
    };
    let index = first_difference(element_type, actual, expected, tolerance)?;
    let element = |bytes: &[u8]| {
        let mut text = String::new();
        element_type.format_element_at(bytes, index, &mut text);
        text
    };
    Some(format!(
        "element at index {index} ({}) does not match the expected ({})",
        element(actual),
        element(expected)
    ))
}

#[cfg(test)]
mod tests {
    use abi::cconv::Signature;

    use super::*;
    use crate::inputs::parse_values;
    use hal::{Config, Host};

    #[test]
    fn tensors_that_claim_more_than_they_have_are_found() {
        let [whole] = &values("0r_v", &["2xf32=1,2"])[..] else { panic!("one value") };
        let Value::Ref(reference) = &whole.value else { panic!("a ref") };
        let view: &BufferView = reference.downcast().unwrap();
        let claim = |count| {
            let (code, encoding) = (view.element_code(), view.encoding());
            let view = BufferView::new(view.buffer().clone(), vec![count], code, encoding);
            [Value::I32(1), Value::Ref(Ref::object(view))]
        };
        assert_eq!(check_tensors(&claim(2)), Ok(()));
        assert_eq!(check_tensors(&claim(3)).unwrap_err().code, StatusCode::OutOfRange);
        assert_eq!(check_tensors(&claim(u64::MAX)).unwrap_err().code, StatusCode::OutOfRange);
    }

    fn values(signature: &str, texts: &[&str]) -> Vec<Input> {
        let signature = Signature::parse(signature).unwrap();
        parse_values(&Host::new(&Config::default()), &signature.arguments, texts).unwrap()
    }

    fn compare(signature: &str, expected: &[&str], actual: &[&str]) -> String {
        let actual: Vec<Value> =
            values(signature, actual).into_iter().map(|input| input.value).collect();
        let equality = Equality::Approximate(Tolerances::default());
        mismatches(&values(signature, expected), &actual, equality, 1024)
    }

    #[test]
    fn differences_in_the_words_of_the_reference() {
        let same = compare("0irr_v", &["1", "2xf32=1 2", "(ignored)"], &["1", "2xf32=1 2", "i8=1"]);
        assert_eq!(same, "");
        assert_eq!(
            compare("0rr_v", &["2xf32=1 2", "i8=3"], &["2xf32=1 2.5", "1xi8=3"]),
            "[FAILED] result[0]: element at index 1 (2.5) does not match the expected (2); \
             expected that the view is equal to contents of a view of 2xf32\n  expected:\n\
             2xf32=1 2\n  actual:\n2xf32=1 2.5\n[FAILED] result[1]: metadata is 1xi8; expected \
             that the view matches i8; expected that the view is equal to contents of a view of i8\n  expected:\ni8=3\n  actual:\n1xi8=3\n"
        );
        assert_eq!(
            compare("0if_v", &["1", "1.5"], &["2", "2.5"]),
            "[FAILED] result[0]: i32 values differ\n  expected: 1\n  actual: 2\n[FAILED] result[1]: f32 values \
             differ\n  expected: 1.5\n  actual: 2.5\n"
        );
        assert_eq!(
            compare("0r_v", &["i8=1"], &["&i8=1"]),
            "[FAILED] result[0]: variant types mismatch; expected hal.buffer_view but got hal.buffer\n"
        );
        assert_eq!(
            compare("0rr_v", &["i8=1"], &["i8=1", "i8=1"]),
            "[FAILED] expected 1 list elements but 2 provided\n"
        );
    }

    #[test]
    fn files_of_every_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let inputs = values("0rifrr_v", &["2xsi16=1 2", "5", "2.5", "(null)", "&2xi8=7"]);
        let (npy_path, bin_path) = (path("x.npy"), path("x.bin"));
        for (index, input) in inputs.iter().enumerate() {
            let mode = if index == 0 { '@' } else { '+' };
            write_output(&input.value, &format!("{mode}{npy_path}")).unwrap();
            write_output(&input.value, &format!("{mode}{bin_path}")).unwrap();
        }
        let bytes = std::fs::read(npy_path).unwrap();
        let mut texts = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (tensor, length) = npy::read(&bytes[at..]).unwrap();
            texts.push(tensor.to_string());
            at += length;
        }
        assert_eq!(texts, ["2xsi16=1 2", "si32=5", "f32=2.5", "0xsi8=", "2xsi8=7 7"]);
        let bytes = std::fs::read(bin_path).unwrap();
        assert_eq!(bytes, [1, 0, 2, 0, 5, 0, 0, 0, 0, 0, 0x20, 0x40, 7, 7]);
        let error = write_output(&inputs[0].value, "x.npy").unwrap_err();
        assert_eq!(error.code, StatusCode::Unimplemented);
    }
}
