//! Arguments and results: JSON, with tensors beside it.
//!
//! Results are JSON in which every value says what it is, as Python has more kinds than JSON:
//!
//! | value | JSON |
//! | --- | --- |
//! | null, truth value, integer, text | itself |
//! | float | itself; `{"f": "nan"}` if JSON has no number for it |
//! | tensor | `{"t": number}` |
//! | list, tuple | `{"l": [...]}`, `{"u": [...]}` |
//! | dictionary | `{"d": [[key, value], ...]}` |
//! | another object | `{"o": type}` |

use abi::cconv::ValueType;
use abi::explain::CallForm;
use abi::json::Json as GivenJson;
use abi::signature::SequenceForm;
use hal::{BufferView, Host};
use serde_json::{Value as Json, json};
use values::{Inputs, Unpacked, pack_with};
use vm::Value;

use crate::error::Error;
use crate::messages::Said;
use crate::tensors::Lent;

/// The arguments of a function: a JSON array, and the tensors that it names.
///
/// # Errors
/// They do not fit the function. The error names the place.
pub(crate) fn arguments(
    host: &Host,
    form: &CallForm,
    types: &[ValueType],
    given: &str,
    tensors: &[BufferView],
) -> Result<Vec<Value>, Error> {
    let json = GivenJson::parse(given)?;
    let inputs = Inputs::from_json(json)?;
    Ok(pack_with(host, form, types, &inputs, tensors)?)
}

/// The results of a function, in the structure of its signature.
///
/// # Errors
/// They do not fit it. The error names the place.
pub(crate) fn results(form: &CallForm, results: Vec<Value>) -> Result<Said, Error> {
    let unpacked = values::unpack(form, &results)?;
    // From here on, only tensors are kept, so that one which nothing else has can be given away.
    drop(results);
    let mut said = Said::default();
    let items = unpacked.into_iter().map(|it| tagged(it, &mut said.tensors));
    said.text = Json::Array(items.collect::<Result<_, Error>>()?);
    Ok(said)
}

fn tagged(value: Unpacked, tensors: &mut Vec<Lent>) -> Result<Json, Error> {
    Ok(match value {
        Unpacked::Null => Json::Null,
        Unpacked::Bool(value) => value.into(),
        Unpacked::Int(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => value.into(),
            (_, Ok(value)) => value.into(),
            _ => value.to_string().into(),
        },
        Unpacked::Float(value, _) if value.is_finite() => value.into(),
        Unpacked::Float(value, _) => json!({"f": value.to_string()}),
        Unpacked::Tensor(view) => {
            tensors.push(Lent::new(&view)?);
            json!({"t": tensors.len() - 1})
        }
        Unpacked::String(text) => text.into(),
        Unpacked::Sequence(form, items) => {
            let items = items.into_iter().map(|it| tagged(it, tensors));
            let items: Vec<Json> = items.collect::<Result<_, _>>()?;
            match form {
                SequenceForm::List => json!({"l": items}),
                SequenceForm::Tuple => json!({"u": items}),
            }
        }
        Unpacked::Dictionary(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(key, it)| Ok(json!([key, tagged(it, tensors)?])));
            json!({"d": fields.collect::<Result<Vec<_>, Error>>()?})
        }
        Unpacked::Opaque(name) => json!({"o": name}),
    })
}
