//! Nested arguments and results: `--inputs-json=`, `--kwarg=` and `--outputs-json`, converted by
//! the signature that the module declares.

use abi::explain::{CallForm, CallFormError};
use abi::json::{Json, Value as JsonValue};
use abi::signature::{Function, Slot, Type};
use hal::Host;
use values::{Inputs, StructureError, Unpacked, pack, unpack};
use vm::Value;
use vmfb::Export;
use vmfb::Module;

use crate::failure::Failure;

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
    form: CallForm,
    as_json: bool,
}

impl StructuredArguments {
    /// The form of calls of a native function, if the flags ask for it or its numbers need it:
    /// 16-bit floats travel as bits.
    pub(crate) fn structure_of(&self, function: &Function) -> Option<Structure> {
        let is_narrow = |slot: &Slot| match &slot.ty {
            Type::Scalar(scalar) => scalar.bits() == 16 && !scalar.is_integer(),
            _ => false,
        };
        let is_wanted =
            self.is_wanted() || function.arguments.iter().chain(&function.results).any(is_narrow);
        let form = CallForm::from(function.clone());
        is_wanted.then_some(Structure { form, as_json: self.outputs_json })
    }

    fn is_wanted(&self) -> bool {
        self.inputs_json.is_some() || !self.keywords.is_empty() || self.outputs_json
    }

    /// The form of calls of `export`, if the flags ask for it.
    ///
    /// # Errors
    /// The signature that the module states is malformed.
    pub(crate) fn structure(
        &self,
        module: &Module,
        export: &Export,
    ) -> Result<Option<Structure>, Failure> {
        if !self.is_wanted() {
            return Ok(None);
        }
        let form = call_form(module, export)
            .map_err(|error| format!("INVALID_ARGUMENT; `{}`: {error}", export.name))?;
        Ok(Some(Structure { form, as_json: self.outputs_json }))
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
    ) -> Result<Vec<Value>, Failure> {
        let mut inputs = match &self.inputs_json {
            None => Inputs::default(),
            Some(text) => Inputs::from_json(read_json(text)?)?,
        };
        inputs.positional.extend(texts.iter().map(|text| json_or_text(text)));
        for keyword in &self.keywords {
            let Some((name, value)) = keyword.split_once('=') else {
                return Err(
                    format!("INVALID_ARGUMENT; --kwarg {keyword}: expected NAME=VALUE").into()
                );
            };
            inputs.keywords.push((name.to_owned(), json_or_text(value)));
        }
        Ok(pack(host, &structure.form, types, &inputs)?)
    }
}

impl Structure {
    /// The results as text.
    ///
    /// # Errors
    /// They do not fit the signature.
    pub(crate) fn format(&self, values: &[Value]) -> Result<String, StructureError> {
        let results = unpack(&self.form, values)?;
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

fn call_form(module: &Module, export: &Export) -> Result<CallForm, CallFormError> {
    let Some(function) = module.function(export.function) else { return Ok(CallForm::default()) };
    let signature = &function.signature;
    CallForm::of(signature.calling_convention.as_deref(), &signature.pairs())
}

fn read_json(text: &str) -> Result<Json, Failure> {
    let (source, text) = match text.strip_prefix('@') {
        Some(file) => {
            let text = vmfb::read_to_its_end(file.as_ref())
                .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
                .map_err(|error| format!("NOT_FOUND; --inputs-json=@{file}: {error}"))?;
            (file.to_owned(), text)
        }
        None => ("--inputs-json".to_owned(), text.to_owned()),
    };
    Json::parse(&text).map_err(|error| {
        let line = text[..error.position].matches('\n').count() + 1;
        format!("INVALID_ARGUMENT; {source}, line {line}: {error}").into()
    })
}

/// The text as JSON, or as a string if it is not JSON.
fn json_or_text(text: &str) -> Json {
    Json::parse(text)
        .unwrap_or_else(|_| Json { position: 0, value: JsonValue::String(text.to_owned()) })
}
