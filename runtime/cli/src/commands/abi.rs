//! `iree-dbg abi decode`: signature strings as JSON.

use std::process::ExitCode;

use abi::cconv::{Signature, ValueType};
use serde_json::{Value, json};

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Decode a signature string into JSON
    Decode(DecodeArguments),
}

#[derive(clap::Args)]
struct DecodeArguments {
    /// Which kind of signature the text is
    #[arg(long, value_enum)]
    kind: Kind,

    /// The text, for example 0rii_r
    #[arg(allow_hyphen_values = true)]
    text: String,
}

#[derive(clap::ValueEnum, Clone, Copy)]
enum Kind {
    /// A VM calling convention, such as 0rii_r
    Cconv,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Command::Decode(DecodeArguments { kind: Kind::Cconv, text }) = &arguments.command;
    match Signature::parse(text) {
        Ok(signature) => {
            println!("{:#}", cconv_json(&signature));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(with_caret(text, error.position, &error.to_string()).into()),
    }
}

fn cconv_json(signature: &Signature) -> Value {
    json!({
        "kind": "cconv",
        "cconv": signature.to_cconv(),
        "signature": signature.to_string(),
        "variadic": signature.is_variadic(),
        "arguments": signature.arguments.iter().map(type_json).collect::<Vec<_>>(),
        "results": signature.results.iter().map(type_json).collect::<Vec<_>>(),
    })
}

/// A scalar is its name, a span an object with the types of its tuple.
fn type_json(value_type: &ValueType) -> Value {
    match value_type {
        ValueType::Span(tuple) => json!({"span": tuple.iter().map(type_json).collect::<Vec<_>>()}),
        scalar => json!(scalar.to_string()),
    }
}

/// The message, and below it the text with a caret under the byte at `position`.
fn with_caret(text: &str, position: usize, message: &str) -> String {
    let column = text.get(..position).unwrap_or(text).chars().count();
    format!("{message}\n  {text}\n  {:column$}^", "")
}
