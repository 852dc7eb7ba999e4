//! Values as the text of command lines: `--input=` in, `result[0]: i32=5` out.
//!
//! Syntax and wording are those of `iree-run-module`; numbers are in [`abi::scalar`].

use std::fmt::Write;

use abi::cconv::{Signature, ValueType};
use abi::scalar::{Scalar, ScalarError};

use crate::objects::{List, Ref, ScalarType, Type, Value};

/// Lists may contain each other, even themselves; deeper levels print as dots.
const MAX_LIST_DEPTH: usize = 16;

/// The most elements of a tensor that print without an explicit number.
const MAX_ELEMENT_COUNT: usize = 1024;

/// Why an `--input=` is no argument of the function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("INVALID_ARGUMENT; {reason}; parsing input `{text}`")]
pub struct InputError {
    text: String,
    reason: InputReason,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum InputReason {
    #[error("no value specified for input")]
    Empty,
    #[error("function expected fewer input values")]
    TooMany,
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    #[error(
        "the argument is a reference: this build knows no tensors, only `(null)` can be passed"
    )]
    Tensor,
    #[error("the argument is a span, which only bytecode can pass")]
    Span,
}

/// Parses arguments for the first parameters of `signature`. [`crate::Invocation::new`] checks
/// their number.
///
/// # Errors
/// The first text that is not a value of its parameter's type, or exceeds the parameters.
pub fn parse_inputs<T: AsRef<str>>(
    signature: &Signature,
    texts: &[T],
) -> Result<Vec<Value>, InputError> {
    parse_values(&signature.arguments, texts)
}

/// Reads values of the given types; see [`parse_inputs`].
///
/// # Errors
/// The first text that is no value of its type, or is one too many.
pub fn parse_values<T: AsRef<str>>(
    types: &[ValueType],
    texts: &[T],
) -> Result<Vec<Value>, InputError> {
    let mut types = types.iter();
    texts
        .iter()
        .map(|text| {
            let text = text.as_ref().trim();
            parse_value(types.next(), text)
                .map_err(|reason| InputError { text: text.to_owned(), reason })
        })
        .collect()
}

fn parse_value(value_type: Option<&ValueType>, text: &str) -> Result<Value, InputReason> {
    if text.is_empty() {
        return Err(InputReason::Empty);
    }
    let value_type = value_type.ok_or(InputReason::TooMany)?;
    let is_null = is_ignored(text);
    match value_type {
        ValueType::Span(_) => Err(InputReason::Span),
        ValueType::Ref if is_null => Ok(Value::Ref(Ref::Null)),
        ValueType::Ref => Err(InputReason::Tensor),
        scalar => match Scalar::zero(scalar).filter(|_| is_null) {
            Some(zero) => Ok(zero.into()),
            None => Ok(Scalar::parse(text, scalar)?.into()),
        },
    }
}

/// Whether the text stands for any value: zero, null, or a result that is not compared.
#[must_use]
pub fn is_ignored(text: &str) -> bool {
    matches!(text, "(null)" | "(ignored)")
}

/// The values, each in a line (or more, for lists) that begins with its index: `result[0]: i32=5`.
/// Of a tensor 1024 elements.
#[must_use]
pub fn format_values(list_name: &str, values: &[Value]) -> String {
    format_values_up_to(list_name, values, MAX_ELEMENT_COUNT)
}

/// [`format_values`] with at most `max_element_count` elements of a tensor.
#[must_use]
pub fn format_values_up_to(list_name: &str, values: &[Value], max_element_count: usize) -> String {
    let mut writer = Writer { out: String::new(), max_element_count };
    for (index, value) in values.iter().enumerate() {
        writer.element(list_name, index, Some(value), None, 0);
    }
    writer.out
}

/// A value without its index: `i32=5`, `(null)`, or the type of a reference with its contents on
/// the following lines, at most `max_element_count` elements of a tensor.
#[must_use]
pub fn format_value(value: &Value, max_element_count: usize) -> String {
    let mut writer = Writer { out: String::new(), max_element_count };
    writer.value(value, None, 0);
    writer.out
}

struct Writer {
    out: String,
    max_element_count: usize,
}

impl Writer {
    fn element(
        &mut self,
        list_name: &str,
        index: usize,
        value: Option<&Value>,
        element_type: Option<&Type>,
        depth: usize,
    ) {
        let written = write!(self.out, "{list_name}[{index}]: ");
        debug_assert!(written.is_ok(), "writing to a String does not fail");
        match value {
            Some(value) => self.value(value, element_type, depth),
            None => self.out.push_str("(null)"),
        }
        self.out.push('\n');
    }

    fn value(&mut self, value: &Value, element_type: Option<&Type>, depth: usize) {
        let scalar = match value {
            Value::I32(value) => match element_type {
                // Narrow elements are widened on the way out of a list, but keep their name.
                Some(Type::Scalar(narrow @ (ScalarType::I8 | ScalarType::I16))) => {
                    self.out.push_str(&format!("{}={value}", narrow.name()));
                    return;
                }
                _ => Scalar::I32(*value),
            },
            Value::I64(value) => Scalar::I64(*value),
            Value::F32(value) => Scalar::F32(*value),
            Value::F64(value) => Scalar::F64(*value),
            Value::Ref(Ref::Null) => return self.out.push_str("(null)"),
            Value::Ref(reference) => {
                self.out.push_str(reference.type_name());
                self.out.push('\n');
                return self.contents(reference, depth);
            }
        };
        self.out.push_str(&scalar.to_string());
    }

    fn contents(&mut self, reference: &Ref, depth: usize) {
        let contents = match reference {
            Ref::List(list) => return self.list(list, depth + 1),
            Ref::Object(object) => object.contents(self.max_element_count),
            Ref::Null | Ref::Buffer(_) => None,
        };
        self.out.push_str(contents.as_deref().unwrap_or("(no printer)"));
    }

    fn list(&mut self, list: &List, depth: usize) {
        if depth > MAX_LIST_DEPTH {
            return self.out.push_str("...\n");
        }
        for index in 0..list.len() {
            let value = list.get(index);
            self.element("child_list", index, value.as_ref(), Some(list.element_type()), depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_the_signature() {
        let signature = Signature::parse("0iFr_v").unwrap();
        let values = parse_inputs(&signature, &[" 7 ", "2.5", "(null)"]).unwrap();
        assert_eq!(
            format_values("result", &values),
            "result[0]: i32=7\nresult[1]: f64=2.5\nresult[2]: (null)\n"
        );
        for (texts, message) in [
            (&["x"][..], "parsing value `x` as i32"),
            (&["1", "2", "(null)", "3"], "function expected fewer input values"),
            (&[""], "no value specified for input"),
            (&["1", "2", "4xf32=1"], "the argument is a reference"),
        ] {
            let error = parse_inputs(&signature, texts).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
