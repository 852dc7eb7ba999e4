//! Inputs as text to arguments, results to text: the forms that `iree-run-module` reads and prints.

use abi::cconv::{Signature, ValueType};
use abi::scalar::Scalar;
use vm::{Ref, Value};

/// Reads the inputs of a function, one text an argument.
///
/// # Errors
/// Says which input does not fit, and what the function takes.
pub fn parse_inputs(signature: &Signature, inputs: &[String]) -> Result<Vec<Value>, String> {
    if inputs.len() != signature.arguments.len() {
        return Err(format!(
            "the function takes {} inputs {signature}, {} were given",
            signature.arguments.len(),
            inputs.len()
        ));
    }
    let pairs = inputs.iter().zip(&signature.arguments).enumerate();
    pairs
        .map(|(index, (text, value_type))| {
            parse_input(text, value_type).map_err(|reason| format!("input {index}: {reason}"))
        })
        .collect()
}

fn parse_input(text: &str, value_type: &ValueType) -> Result<Value, String> {
    match value_type {
        ValueType::Ref if matches!(text, "(null)" | "null") => Ok(Value::Ref(Ref::Null)),
        ValueType::Ref => Err(format!(
            "{text:?} would be a tensor or another object; those need a device, which only (null) does not"
        )),
        ValueType::Span(_) => {
            Err("a function that takes a variable number of values cannot be called from here"
                .to_owned())
        }
        scalar => {
            let scalar = Scalar::parse(text, scalar).map_err(|error| error.to_string())?;
            Ok(match scalar {
                Scalar::I32(value) => Value::I32(value),
                Scalar::I64(value) => Value::I64(value),
                Scalar::F32(value) => Value::F32(value),
                Scalar::F64(value) => Value::F64(value),
            })
        }
    }
}
