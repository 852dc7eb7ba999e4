//! The command line of `iree-dbg abi`, with `decode`, `encode` and `convert`. A text is given on
//! the command line, or `-` reads it from standard input.

use std::io::Write;

use abi::convention::{Convention, ParsedCall};
use abi::raw::RawSignature;
use abi::signature::{Function, Printed};
use abi::sip::SipSignature;
use serde_json::Value;

use super::super::examples;
use super::text::{Text, given, with_caret};
use super::{buffer, explain, json, views};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Decode a signature string into JSON; `-` reads standard input
    #[command(after_help = examples::ABI_DECODE)]
    Decode(DecodeArguments),
    /// Write the signature that JSON describes, as `decode` prints it; `-` reads standard input
    #[command(after_help = examples::ABI_ENCODE)]
    Encode(EncodeArguments),
    /// Write a signature in the text of another convention; notes on what is lost go to standard
    /// error
    #[command(after_help = examples::ABI_CONVERT)]
    Convert(ConvertArguments),
    /// Show the exports of a module, or a signature, in all conventions, and how to call them
    #[command(after_help = examples::ABI_EXPLAIN)]
    Explain(explain::Arguments),
    /// Ask whether a buffer can be passed to a function of the raw function ABI as it is
    #[command(after_help = examples::ABI_BUFFER)]
    Buffer(buffer::Arguments),
}

#[derive(clap::Args)]
struct DecodeArguments {
    /// The kind of the signature
    #[arg(long, value_enum)]
    kind: Kind,

    /// The raw signature (attribute `f`) of a sip signature, so that its leaves have types
    #[arg(long, value_name = "SIGNATURE")]
    raw: Option<String>,

    /// The text, for example 0rii_r; for a tvm value its 16 bytes in hexadecimal
    #[arg(allow_hyphen_values = true)]
    text: String,
}

#[derive(clap::Args)]
struct EncodeArguments {
    /// The kind of signature to write
    #[arg(long, value_enum)]
    kind: Kind,

    /// The JSON: an object with `arguments` and `results`
    #[arg(allow_hyphen_values = true)]
    json: String,
}

#[derive(clap::Args)]
struct ConvertArguments {
    /// The kind of the signature
    #[arg(long, value_enum, visible_alias = "kind")]
    from: Kind,

    /// The kind of signature to write
    #[arg(long, value_enum)]
    to: Kind,

    /// The raw signature (attribute `f`) of a sip signature, so that its leaves have types
    #[arg(long, value_name = "SIGNATURE")]
    raw: Option<String>,

    /// The text
    #[arg(allow_hyphen_values = true)]
    text: String,
}

#[derive(clap::ValueEnum, Clone, Copy)]
pub(super) enum Kind {
    /// A VM calling convention, such as 0rii_r
    Cconv,
    /// `iree.abi` JSON, or an `iree.abi.declaration`
    Iree,
    /// The raw function ABI of 2019 to 2021
    Raw,
    /// Structured index paths (sip) over a raw signature
    Sip,
    /// A TVM FFI type schema, a written type such as (Tensor, int) -> float, or a value
    Tvm,
    /// An MLIR function over memrefs
    Memref,
}

impl Kind {
    pub(super) fn convention(self) -> Convention {
        match self {
            Self::Cconv => Convention::Cconv,
            Self::Iree => Convention::Iree,
            Self::Raw => Convention::Raw,
            Self::Sip => Convention::Sip,
            Self::Tvm => Convention::Tvm,
            Self::Memref => Convention::Memref,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    match &arguments.command {
        Command::Decode(arguments) => decode(arguments),
        Command::Encode(arguments) => encode(arguments),
        Command::Convert(arguments) => convert(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Buffer(arguments) => buffer::run(arguments),
    }
}

fn decode(arguments: &DecodeArguments) -> Result<ExitStatus, Failure> {
    let text = Text::read(arguments.kind.convention(), &arguments.text)?;
    let convention = arguments.kind.convention();
    let shown = match (convention, &arguments.raw) {
        (Convention::Sip, raw) => views::sip(&text.plain, raw.as_deref()),
        (_, Some(_)) => return Err("--raw= is for --kind=sip only".into()),
        (Convention::Cconv, None) => views::cconv(&text.plain),
        (Convention::Iree, None) => views::iree(&text.plain),
        (Convention::Raw, None) => views::raw(&text.plain),
        (Convention::Tvm, None) => views::tvm(&text.plain),
        (Convention::Memref, None) => views::memref(&text.plain),
    };
    writeln!(crate::printing::output(), "{:#}", shown.map_err(|error| text.fail(&error))?)?;
    Ok(ExitStatus::Success)
}

fn encode(arguments: &EncodeArguments) -> Result<ExitStatus, Failure> {
    let text = given(&arguments.json)?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("no JSON: {error}"))?;
    let function = json::read_function(&value)?;
    print_signature(&write_as(arguments.kind.convention(), &function, false)?)
}

/// Writes a function in a convention. A raw signature is flat: only sip keeps the structure.
fn write_as(
    convention: Convention,
    function: &Function,
    has_fences: bool,
) -> Result<Printed, Failure> {
    Ok(match convention {
        Convention::Raw => convention.print_call(&abi::sip::flatten(function), has_fences)?,
        _ => convention.print_call(function, has_fences)?,
    })
}

fn convert(arguments: &ConvertArguments) -> Result<ExitStatus, Failure> {
    let text = Text::read(arguments.from.convention(), &arguments.text)?;
    let convention = arguments.from.convention();
    let parsed = match &arguments.raw {
        Some(raw) if convention == Convention::Sip => {
            ParsedCall { function: sip_with_raw(&text.plain, raw)?, has_fences: false }
        }
        Some(_) => return Err("--raw= is for --from=sip only".into()),
        None => convention.parse_call(&text.plain).map_err(|error| text.fail(&error))?,
    };
    print_signature(&write_as(arguments.to.convention(), &parsed.function, parsed.has_fences)?)
}

fn sip_with_raw(text: &str, raw: &str) -> Result<Function, Failure> {
    let signature = RawSignature::parse(raw)
        .map_err(|error| with_caret(raw, error.position, &error.to_string()))?;
    let paths = SipSignature::parse(text.as_bytes())
        .map_err(|error| with_caret(text, error.position, &error.to_string()))?;
    Ok(paths.to_function(Some(&signature))?)
}

fn print_signature(printed: &Printed) -> Result<ExitStatus, Failure> {
    for note in &printed.notes {
        errln!("note: {note}");
    }
    writeln!(crate::printing::output(), "{}", printed.text)?;
    Ok(ExitStatus::Success)
}
