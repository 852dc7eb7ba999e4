//! Operations of ONNX and of StableHLO that a source has twice, with the same operands: the
//! compiler computes them once, and the second one has no place in what it prints. Both have the
//! same result.

use std::collections::HashMap;

use abi::tensor::TensorType;

use super::identities::{OPERATION, written};
use crate::source::{SourceText, imported};

/// The operations that may leave another result each time.
const RANDOM: [&str; 7] = [
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];
/// How an operation of ONNX begins.
const IMPORTED: &str = "torch.operator ";
/// The most bytes of a constant that is compared with others.
const MOST_BYTES: usize = 256;

/// The operations of a function that were read so far.
#[derive(Default)]
pub(super) struct Duplicates {
    /// The results of operations, by all that the operations are.
    results: HashMap<String, String>,
    /// The first of each result that is the same.
    first: HashMap<String, String>,
}

impl Duplicates {
    /// The result of an earlier operation that is the one of a line. Lines come in their order.
    pub(super) fn earlier(&mut self, source: &SourceText, at: (u32, &str)) -> Option<&str> {
        let (_, line) = at;
        if line.trim_start().starts_with("func.func ") {
            *self = Self::default();
            return None;
        }
        let (result, operation) = line.split_once(" = ")?;
        let result = result.trim_start();
        let operation = operation.trim_end();
        // Regions are in the lines that follow; several results are not one.
        if operation.ends_with('{') || result.contains(':') {
            return None;
        }
        let whole = match operation.strip_prefix(IMPORTED).map(imported::kind) {
            Some(kind) => match kind?.0 {
                kind if RANDOM.contains(&kind) => return None,
                "Constant" => constant(source, at)?,
                _ => self.with_first_operands(operation),
            },
            None if is_computed(operation) && is_outermost(source, at.0, line, operation) => {
                self.with_first_operands(operation)
            }
            None => return None,
        };
        let known = self.results.entry(whole).or_insert_with(|| result.to_owned());
        if known == result {
            return None;
        }
        self.first.insert(result.to_owned(), known.clone());
        Some(known)
    }

    /// An operation, with the first of each operand that is the same.
    fn with_first_operands(&self, operation: &str) -> String {
        let mut written = String::with_capacity(operation.len());
        let mut rest = operation;
        while let Some(at) = rest.find('%') {
            written += &rest[..at];
            let end =
                rest[at + 1..].find(|it: char| !(it.is_ascii_alphanumeric() || "_#".contains(it)));
            let (name, after) = rest[at..].split_at(end.map_or(rest.len() - at, |it| it + 1));
            written += self.first.get(name).map_or(name, String::as_str);
            rest = after;
        }
        written + rest
    }
}

/// Whether an operation of StableHLO gives the same for the same operands. Long constants are not
/// compared.
fn is_computed(operation: &str) -> bool {
    let name = operation.split([' ', '(']).next().unwrap_or_default();
    let is_other = matches!(name, "stablehlo.rng" | "stablehlo.custom_call")
        || name == "stablehlo.constant" && operation.len() > MOST_BYTES;
    name.starts_with("stablehlo.") && !is_other
}

/// Whether an operation is in no region of another: regions beside each other have values of the
/// same names.
fn is_outermost(source: &SourceText, line: u32, text: &str, operation: &str) -> bool {
    let find = || {
        let column = u32::try_from(text.find(operation)? + 1).ok()?;
        let function = source.function_read(line)?;
        let found = function.operation_at((line, column))?;
        Some(function.operations.get(found)?.parent == Some(0))
    };
    find().unwrap_or(false)
}

/// A short constant, by its type and its bytes. A weight is not even read.
fn constant(source: &SourceText, at: (u32, &str)) -> Option<String> {
    let (result, operation) = at.1.split_once(OPERATION)?;
    let (_, declared) = operation.rsplit_once(" -> ")?;
    let declared = TensorType::parse(imported::types(declared)?.first()?).ok()?;
    if declared.element_count()? > MOST_BYTES {
        return None;
    }
    let tensor = written(source, at, result.trim_start())?;
    let is_short = tensor.bytes.len() <= MOST_BYTES;
    is_short.then(|| format!("{} {:?}", tensor.tensor_type(), tensor.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_operation_on_the_same_operands_has_one_result() {
        let operator = |it: &str| format!("    {it}\n");
        let text: String = [
            "func.func @f(%arg0: !torch.vtensor<[4],f32>) {",
            "%0 = torch.operator \"onnx.Constant\"() {torch.onnx.value = dense<2> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>",
            "%1 = torch.operator \"onnx.Constant\"() {torch.onnx.value = dense<2> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>",
            "%2 = torch.operator \"onnx.Relu\"(%arg0) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>",
            "%3 = torch.operator \"onnx.Slice\"(%2, %0) : (!torch.vtensor<[4],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2],f32>",
            "%4 = torch.operator \"onnx.Relu\"(%arg0) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>",
            "%5 = torch.operator \"onnx.Slice\"(%4, %1) : (!torch.vtensor<[4],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2],f32>",
            "%6 = torch.operator \"onnx.RandomNormalLike\"(%2) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>",
            "%7 = torch.operator \"onnx.RandomNormalLike\"(%2) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>",
            "%8 = torch.operator \"onnx.Slice\"(%2, %arg0) : (!torch.vtensor<[4],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2],f32>",
            "func.func @g(%arg0: !torch.vtensor<[4],f32>) {",
            "%0 = torch.operator \"onnx.Relu\"(%arg0) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>",
        ]
        .map(operator)
        .concat();
        let source = SourceText::new(text.clone());
        let mut duplicates = Duplicates::default();
        let found: Vec<String> = (1..)
            .zip(text.lines())
            .filter_map(|(line, text)| {
                let earlier = duplicates.earlier(&source, (line, text))?.to_owned();
                Some(format!("{} is {earlier}", text.split_once(OPERATION)?.0.trim()))
            })
            .collect();
        assert_eq!(found, ["%1 is %0", "%4 is %2", "%5 is %3"]);
    }

    #[test]
    fn regions_beside_each_other_have_values_of_the_same_names() {
        let text = "\
func.func @f(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
    %0 = stablehlo.multiply %x, %x : tensor<4xf32>
    %1 = stablehlo.multiply %x, %x : tensor<4xf32>
    %3 = stablehlo.rng %n, %n : tensor<4xf32>
    %4 = stablehlo.rng %n, %n : tensor<4xf32>
    %5 = stablehlo.while(%iterArg = %0) : tensor<4xf32>
    cond {
      %6 = stablehlo.add %iterArg, %iterArg : tensor<4xf32>
    } do {
      %6 = stablehlo.add %iterArg, %iterArg : tensor<4xf32>
      %7 = stablehlo.add %iterArg, %iterArg : tensor<4xf32>
    }
}
";
        let source = SourceText::new(text.to_owned());
        let mut duplicates = Duplicates::default();
        let lines = (1..).zip(text.lines());
        let found: Vec<(u32, String)> = lines
            .filter_map(|(line, text)| {
                Some((line, duplicates.earlier(&source, (line, text))?.to_owned()))
            })
            .collect();
        assert_eq!(found, [(3, "%0".to_owned())]);
    }
}
