//! Nested arguments and results: `--inputs-json=`, `--kwarg=` and `--outputs-json`, converted by
//! the signature that the module declares.

use abi::explain::explain;
use abi::json::{Json, Value as JsonValue};
use abi::signature::Function;
use hal::Host;
use values::{Inputs, Unpacked, pack, unpack};
use vm::Value;
use vmfb::Export;
use vmfb::Module;

/// The flags for nested values.
#[derive(clap::Args)]
pub(crate) struct StructuredArguments {
    /// All arguments as JSON: a list, or an object of named ones, or {"args": […], "kwargs": {…}};
    /// arrays are nested lists, "@file.npy" or "2xf32=1 2". Results are printed in the structure
    /// of the signature
    #[arg(long = "inputs-json", visible_alias = "inputs_json", value_name = "JSON or @FILE")]
    inputs_json: Option<String>,

    /// A named argument; the value is JSON, @file.npy or text as for --input
    #[arg(long = "kwarg", value_name = "NAME=VALUE")]
    keywords: Vec<String>,

    /// Print results as JSON, in the structure of the signature
    #[arg(long = "outputs-json", visible_alias = "outputs_json")]
    outputs_json: bool,
}

/// The signature of a call with nested values, and the format of its results.
pub(crate) struct Structure {
    function: Function,
    as_json: bool,
}

impl StructuredArguments {
    /// The signature of `export`, if the flags ask for it.
    pub(crate) fn structure(&self, module: &Module, export: &Export) -> Option<Structure> {
        let is_wanted =
            self.inputs_json.is_some() || !self.keywords.is_empty() || self.outputs_json;
        is_wanted
            .then(|| Structure { function: signature(module, export), as_json: self.outputs_json })
    }

    /// The arguments. `texts` come from `--input=`.
    ///
    /// # Errors
    /// A text is malformed, or does not fit the signature.
    pub(crate) fn pack(
        &self,
        host: &Host,
        structure: &Structure,
        types: &[abi::cconv::ValueType],
        texts: &[String],
    ) -> Result<Vec<Value>, String> {
        let mut inputs = match &self.inputs_json {
            None => Inputs::default(),
            Some(text) => Inputs::from_json(read_json(text)?).map_err(|error| error.to_string())?,
        };
        inputs.positional.extend(texts.iter().map(|text| json_or_text(text)));
        for keyword in &self.keywords {
            let Some((name, value)) = keyword.split_once('=') else {
                return Err(format!("INVALID_ARGUMENT; --kwarg {keyword}: expected NAME=VALUE"));
            };
            inputs.keywords.push((name.to_owned(), json_or_text(value)));
        }
        pack(host, &structure.function, types, &inputs).map_err(|error| error.to_string())
    }
}

impl Structure {
    /// The results as text.
    ///
    /// # Errors
    /// They do not fit the signature.
    pub(crate) fn format(&self, values: &[Value]) -> Result<String, String> {
        let results = unpack(&self.function, values).map_err(|error| error.to_string())?;
        if self.as_json {
            let all: Vec<String> = results.iter().map(Unpacked::to_json).collect();
            return Ok(match all.as_slice() {
                [] => "null\n".to_owned(),
                [one] => format!("{one}\n"),
                many => format!("[{}]\n", many.join(", ")),
            });
        }
        let lines = results.iter().enumerate();
        Ok(lines
            .map(|(index, result)| format!("result[{index}]: {}\n", result.to_text()))
            .collect())
    }

    /// Whether standard output gets nothing but JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.as_json
    }
}

/// The most detailed signature that the module has for an export.
fn signature(module: &Module, export: &Export) -> Function {
    let Some(function) = module.function(export.function) else { return Function::default() };
    let attributes: Vec<(&str, &str)> = function
        .signature
        .attributes
        .iter()
        .map(|pair| (pair.key.as_str(), pair.value.as_str()))
        .collect();
    explain(function.signature.calling_convention.as_deref(), &attributes).function
}

fn read_json(text: &str) -> Result<Json, String> {
    let (source, text) = match text.strip_prefix('@') {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| format!("NOT_FOUND; --inputs-json=@{file}: {error}"))?;
            (file.to_owned(), text)
        }
        None => ("--inputs-json".to_owned(), text.to_owned()),
    };
    Json::parse(&text).map_err(|error| {
        let line = text[..error.position].matches('\n').count() + 1;
        format!("INVALID_ARGUMENT; {source}, line {line}: {error}")
    })
}

/// The text as JSON, or as a string if it is not JSON.
fn json_or_text(text: &str) -> Json {
    Json::parse(text)
        .unwrap_or_else(|_| Json { position: 0, value: JsonValue::String(text.to_owned()) })
}
