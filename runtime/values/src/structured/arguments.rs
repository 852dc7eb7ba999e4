//! The arguments of a call as JSON: by position and by name, and in the order of a signature.

use abi::json::{Json, Value as JsonValue};
use abi::signature::Function;

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

    /// For each argument of a function its place in the call, for errors, and its value, if it is
    /// given.
    pub(super) fn in_order(
        &self,
        function: &Function,
    ) -> Result<Vec<(String, Option<&Json>)>, StructureError> {
        let arguments = &function.arguments;
        let mut given: Vec<Option<&Json>> = vec![None; arguments.len()];
        // Parameters with names come after those without, and may be passed by position or by name.
        if self.positional.len() > arguments.len() {
            let (wanted, found) = (arguments.len(), self.positional.len());
            return fail("args", format!("expected {wanted} arguments, got {found}"));
        }
        for (slot, json) in given.iter_mut().zip(&self.positional) {
            *slot = Some(json);
        }
        for (name, json) in &self.keywords {
            let found = arguments.iter().position(|slot| slot.name.as_deref() == Some(name));
            let path = format!("kwargs[{name:?}]");
            let Some(index) = found else {
                let names: Vec<&str> =
                    arguments.iter().filter_map(|slot| slot.name.as_deref()).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return fail(&path, format!("no argument has this name; named are: {names}"));
            };
            if given[index].replace(json).is_some() {
                return fail(&path, format!("given already as args[{index}]"));
            }
        }
        let places = arguments.iter().enumerate().map(|(index, slot)| match &slot.name {
            Some(name) if slot.keyword => format!("kwargs[{name:?}]"),
            _ => format!("args[{index}]"),
        });
        Ok(places.zip(given).collect())
    }
}
