//! `iree-dbg abi buffer`: the oracle of the raw function ABI, which says whether a buffer can be
//! passed as it is.

use std::io::Write;

use abi::convention::Convention;
use abi::raw::{Code, RawSignature};
use abi::raw_buffers::{BufferDescription, Verdict, describe};
use abi::signature::Type;
use serde_json::{Value, json};

use super::text::with_caret;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The raw signature (attribute `f`) of the function
    #[arg(long, value_name = "SIGNATURE")]
    raw: String,

    /// The argument that the buffer is for
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    argument: usize,

    /// The result that the buffer is for, instead of an argument
    #[arg(long, value_name = "INDEX", conflicts_with = "argument")]
    result: Option<usize>,

    /// Its strides in bytes, outermost first; undecided if left out
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    strides: Option<Vec<i64>>,

    /// Its length in bytes; undecided if left out
    #[arg(long)]
    length: Option<u64>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Shape and element type of the buffer: 1x384xsi32, ?x4xf32
    #[arg(value_name = "SHAPExTYPE")]
    buffer: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let raw = &arguments.raw;
    let signature = RawSignature::parse(raw)
        .map_err(|error| with_caret(raw, error.position, &error.to_string()))?;
    let (what, types, index) = match arguments.result {
        Some(index) => ("result", &signature.results, index),
        None => ("argument", &signature.inputs, arguments.argument),
    };
    let wanted = types.get(index).ok_or_else(|| {
        format!("the raw signature has {} {what}s, no {what} {index}", types.len())
    })?;
    let buffer = buffer(arguments)?;
    let verdict = describe(wanted, &buffer)
        .map_err(|error| format!("{what} {index} is a {wanted}: {error}"))?;
    if arguments.json {
        writeln!(crate::printing::output(), "{:#}", as_json(&verdict))?;
    } else {
        writeln!(crate::printing::output(), "{}", as_text(&verdict))?;
    }
    Ok(ExitStatus::Success)
}

fn buffer(arguments: &Arguments) -> Result<BufferDescription, Failure> {
    let text = &arguments.buffer;
    let wrong = || format!("`{text}` is no shape and element type, such as 4x?xf32");
    let function = Convention::Memref.parse(&format!("memref<{text}>")).map_err(|_| wrong())?;
    let [argument] = function.arguments.as_slice() else { return Err(wrong().into()) };
    let Type::Array(array) = &argument.ty else { return Err(wrong().into()) };
    let Type::Scalar(scalar) = &*array.element else { return Err(wrong().into()) };
    let element = Code::of(scalar)
        .ok_or_else(|| format!("the raw function ABI has no elements of type {scalar}"))?;
    let shape = array.shape.iter().flatten().map(|length| match length {
        Some(length) => u32::try_from(*length).map(Some).map_err(|_| wrong()),
        None => Ok(None),
    });
    let shape = shape.collect::<Result<_, _>>()?;
    let (strides, length) = (arguments.strides.clone(), arguments.length);
    Ok(BufferDescription { element, shape, strides, length })
}

/// Shape, strides and length of a buffer for people.
fn shown(buffer: &BufferDescription) -> String {
    let shape = buffer.shape.iter().map(|length| length.map_or("?x".into(), |it| format!("{it}x")));
    let mut text = shape.collect::<String>() + &buffer.element.scalar().to_string();
    if let Some(strides) = buffer.strides.as_ref().filter(|strides| !strides.is_empty()) {
        let strides: Vec<String> = strides.iter().map(ToString::to_string).collect();
        text += &format!(", strides of {} bytes", strides.join(", "));
    }
    if let Some(length) = buffer.length {
        text += &format!(", {length} bytes");
    }
    text
}

fn as_text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Compatible => "compatible: it can be passed as it is".to_owned(),
        Verdict::NeedsConversion(buffer) => {
            format!("convert: copy its elements into {}", shown(buffer))
        }
        Verdict::Completed(buffer) => format!("allocate: {}", shown(buffer)),
        Verdict::UnderSpecified => {
            "open: its size is not known before the call; pass null".to_owned()
        }
    }
}

fn as_json(verdict: &Verdict) -> Value {
    let (word, buffer) = match verdict {
        Verdict::Compatible => ("compatible", None),
        Verdict::NeedsConversion(buffer) => ("convert", Some(buffer)),
        Verdict::Completed(buffer) => ("allocate", Some(buffer)),
        Verdict::UnderSpecified => ("open", None),
    };
    let buffer = buffer.map(|it| {
        json!({
            "element": it.element.scalar().to_string(),
            "shape": it.shape,
            "strides": it.strides,
            "bytes": it.length,
        })
    });
    json!({"verdict": word, "buffer": buffer})
}
