//! The arguments of a call as JSON: by position and by name.

use abi::json::{Json, Value as JsonValue};

use super::error::{StructureError, fail};

/// The arguments of a caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// The arguments by position.
    pub positional: Vec<Json>,
    /// The arguments by name.
    pub keywords: Vec<(String, Json)>,
}

impl Inputs {
    /// Reads a JSON array of arguments, or an object with `args` and `kwargs`. Any other object has
    /// arguments by name.
    ///
    /// # Errors
    /// The JSON is neither an array nor an object.
    pub fn from_json(json: Json) -> Result<Self, StructureError> {
        let kind = json.kind();
        match json.value {
            JsonValue::Array(positional) => Ok(Self { positional, keywords: Vec::new() }),
            JsonValue::Object(fields) => {
                let is_both = fields.iter().all(|(key, _)| key == "args" || key == "kwargs");
                if !is_both {
                    return Ok(Self { positional: Vec::new(), keywords: fields });
                }
                let mut inputs = Self::default();
                for (key, value) in fields {
                    match (key.as_str(), value.value) {
                        ("args", JsonValue::Array(items)) => inputs.positional = items,
                        ("kwargs", JsonValue::Object(fields)) => inputs.keywords = fields,
                        ("args", _) => return fail("args", "expected a list"),
                        _ => return fail("kwargs", "expected an object"),
                    }
                }
                Ok(inputs)
            }
            _ => fail(
                "args",
                format!("expected a list of arguments or an object of named ones, got {kind}"),
            ),
        }
    }
}
