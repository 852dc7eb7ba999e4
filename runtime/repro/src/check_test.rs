//! `check.mlir`: the function with its inputs and outputs as constants, as a test for
//! iree-check-module.

use std::fmt::Write as _;

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::Tensor;
use debuginfo::DispatchFunction;

use crate::dispatch_run::Input;

/// Tests with more bytes of constants are not written: the compiler would take minutes for them.
pub(crate) const MOST_BYTES: usize = 32 << 20;

/// Why a test is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTest {
    #[error("its constants would have {0} bytes, more than {MOST_BYTES}")]
    TooLarge(usize),
    #[error("elements of type {0} share bytes")]
    Packed(ElementType),
}

/// The text of the test.
///
/// # Errors
/// [`NoTest`]: it cannot be written.
pub(crate) fn check_test(
    function: &DispatchFunction,
    inputs: &[Input],
    outputs: &[Tensor],
) -> Result<String, NoTest> {
    let tensors = inputs.iter().filter_map(|it| match it {
        Input::Tensor(tensor) => Some(tensor),
        Input::Number(_) => None,
    });
    let bytes: usize = tensors.chain(outputs).map(|it| it.bytes.len()).sum();
    if bytes > MOST_BYTES {
        return Err(NoTest::TooLarge(bytes));
    }
    let mut text = function.text().replacen("func.func @", "func.func private @", 1);
    let _ = writeln!(text, "\nfunc.func @check_{}() {{", function.name);
    let mut names = Vec::new();
    for (index, (argument, input)) in function.arguments.iter().zip(inputs).enumerate() {
        let (name, written) = (format!("%input{index}"), &argument.written_type);
        match input {
            Input::Number(number) => {
                let _ = writeln!(text, "  {name} = util.unfoldable_constant {number} : {written}");
            }
            Input::Tensor(tensor) => constant(&mut text, &name, tensor, written)?,
        }
        names.push(name);
    }
    let types = |types: Vec<&str>| types.join(", ");
    let taken = types(function.arguments.iter().map(|it| it.written_type.as_str()).collect());
    let given = types(function.results.iter().map(|it| it.written_type.as_str()).collect());
    let count = function.results.len();
    let _ = writeln!(
        text,
        "  %all:{count} = func.call @{}({}) : ({taken}) -> ({given})",
        function.name,
        names.join(", "),
    );
    for (index, (result, output)) in function.results.iter().zip(outputs).enumerate() {
        let written = static_type(&result.written_type, output);
        let expected = format!("%expected{index}");
        constant(&mut text, &expected, output, &written)?;
        let mut value = format!("%all#{index}");
        if written != result.written_type {
            let cast = format!("%result{index}");
            let from = &result.written_type;
            let _ = writeln!(text, "  {cast} = tensor.cast {value} : {from} to {written}");
            value = cast;
        }
        let check = match output.element_type.kind {
            NumericalKind::Float if output.element_type.bits >= 16 && !has_nan(output) => {
                "expect_almost_eq"
            }
            _ => "expect_eq",
        };
        let _ = writeln!(text, "  check.{check}({value}, {expected}) : {written}");
    }
    text.push_str("  return\n}\n");
    Ok(function.module_text(&text))
}

/// Whether a tensor of floats has one that is no number, which no number is almost equal to.
fn has_nan(tensor: &Tensor) -> bool {
    let bits = tensor.element_type.bits;
    tensor.bytes.chunks_exact(usize::from(bits / 8)).any(|it| match (bits, it) {
        (16, &[a, b]) => half::f16::from_le_bytes([a, b]).is_nan(),
        (32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (64, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]).is_nan(),
        _ => true,
    })
}

/// A written type with the sizes of a tensor in the place of those that are dynamic.
fn static_type(written: &str, tensor: &Tensor) -> String {
    let mut sizes = tensor.shape.iter();
    let inner = written.trim_start_matches("tensor<").trim_end_matches('>');
    let count = tensor.shape.len();
    let element_type = inner.splitn(count + 1, 'x').nth(count).unwrap_or(inner);
    let shape: String = sizes.by_ref().map(|size| format!("{size}x")).collect();
    match written.contains('?') {
        true => format!("tensor<{shape}{element_type}>"),
        false => written.to_owned(),
    }
}

/// Writes a constant that the compiler does not look into.
fn constant(text: &mut String, name: &str, tensor: &Tensor, written: &str) -> Result<(), NoTest> {
    if tensor.element_type.is_packed() {
        return Err(NoTest::Packed(tensor.element_type));
    }
    let elements = match tensor.bytes.is_empty() {
        true => "dense<>".to_owned(),
        false => {
            let digits = tensor.bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02X}");
                text
            });
            format!("dense<\"0x{digits}\">")
        }
    };
    let own = static_type(written, tensor);
    let _ = match own == *written {
        true => writeln!(text, "  {name} = util.unfoldable_constant {elements} : {own}"),
        false => {
            writeln!(
                text,
                "  {name} = flow.tensor.dynamic_constant {elements} : {own} -> {written}"
            )
        }
    };
    Ok(())
}
