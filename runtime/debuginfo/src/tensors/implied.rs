//! Operations of ONNX that only move elements and that the compiler has merged into others, so that
//! nothing in its text has their result: a Reshape between two others, the parts of a Split. Each
//! is written here in the dialects that are evaluated, of an operand that has a name.
//!
//! The sizes are those that the importer declares. Where it leaves one open, nothing is said.

use std::sync::Arc;

use crate::mlir_text::{CallChain, NamedPosition};
use crate::source::SourceText;
use crate::source::functions::{SourceFunction, SourceOperation};

use super::program::SourceTensor;
use super::steps::{SourceStep, SourceSteps, StepValue, StepValueId};
use super::torch_types::torch_types;

/// An operation of ONNX as the importer writes it.
struct Imported<'t> {
    /// `Reshape`.
    kind: &'t str,
    head: &'t str,
    place: NamedPosition,
    /// The types of the operands and of the results, as `1x?xf32`.
    operand_types: Vec<String>,
    result_types: Vec<String>,
    operands: Vec<&'t str>,
    results: Vec<&'t str>,
}

/// What the operand and the result are called in what is written here.
const FROM: &str = "%from";
const RESULT: &str = "%to";

/// An operation in the dialects that are evaluated.
struct Written {
    operation: &'static str,
    text: String,
}

impl SourceSteps {
    /// With the operations that only move elements and that the compiler has merged into others.
    #[must_use]
    pub fn with_implied(mut self, file: &dyn Fn(&str) -> Option<Arc<SourceText>>) -> Self {
        if let Some(own) = self.own_place()
            && let Some(source) = file(&own.file).filter(|it| !it.is_python())
        {
            add(&mut self, &own.file, &source, own.line);
        }
        self
    }
}

/// Adds what is missing of the function around a place of a file.
fn add(steps: &mut SourceSteps, file: &str, source: &SourceText, line: u32) {
    let Some(function) = source.function_read(line) else { return };
    for (index, operation) in function.operations.iter().enumerate() {
        let Some(head) = function.head_text(index) else { continue };
        let Some(imported) = Imported::read(&function, operation, head, file) else { continue };
        for result in 0..imported.results.len() {
            add_result(steps, &imported, result);
        }
    }
}

fn add_result(steps: &mut SourceSteps, imported: &Imported<'_>, result: usize) {
    let name = imported.results[result];
    if steps.has_name(name) {
        return;
    }
    let Some((operand, operand_type)) = source_of(steps, imported) else { return };
    let Some(result_type) = imported.result_types.get(result) else { return };
    let written = match imported.kind {
        "Split" => part(imported, result, &operand_type),
        "Expand" => expanded(&operand_type, result_type),
        _ => reshaped(&operand_type, result_type),
    };
    let Some(Written { operation, text }) = written else { return };
    let step = SourceStep {
        operation: operation.to_owned(),
        text,
        place: vec![imported.place.clone()],
        operands: vec![value(FROM, &operand_type, operand)],
        results: vec![value(RESULT, result_type, StepValueId(0))],
    };
    let (name, at, tensor_type) = (name.to_owned(), imported.place.clone(), result_type.clone());
    steps.add(step, SourceTensor { name, at, calls: CallChain::new(), tensor_type });
}

fn value(name: &str, tensor_type: &str, value: StepValueId) -> StepValue {
    StepValue { name: name.to_owned(), type_text: Some(format!("tensor<{tensor_type}>")), value }
}

/// The value that the elements come from, and its type in the compiler's text.
fn source_of(steps: &SourceSteps, imported: &Imported<'_>) -> Option<(StepValueId, String)> {
    let declared = imported.operand_types.first()?;
    if matches!(imported.kind, "MatMul") {
        // A product of batches is made one of three dimensions first.
        let product = steps.only_at(&imported.place, "linalg.batch_matmul")?;
        let own = closed(steps.type_text(product)?)?;
        let declared = imported.result_types.first()?;
        return are_alike_but_for_units(&own, declared).then_some((product, own));
    }
    let operand = steps.only_named(imported.operands.first()?)?;
    // An argument has the type of its name.
    let named = || steps.tensors(operand).first().map(|it| format!("tensor<{}>", it.tensor_type));
    let own = closed(&steps.type_text(operand).map(str::to_owned).or_else(named)?)?;
    (own == *declared).then_some((operand, own))
}

impl<'t> Imported<'t> {
    fn read(
        function: &'t SourceFunction,
        operation: &SourceOperation,
        head: &'t str,
        file: &str,
    ) -> Option<Self> {
        const KINDS: [&str; 7] =
            ["Expand", "Flatten", "MatMul", "Reshape", "Split", "Squeeze", "Unsqueeze"];
        let (kind, rest) = head.trim_start().strip_prefix("\"onnx.")?.split_once('"')?;
        if operation.name != "torch.operator" || !KINDS.contains(&kind) {
            return None;
        }
        let (of_operands, of_results) = rest.rsplit_once(" -> ")?;
        let (_, of_operands) = of_operands.rsplit_once(" : ")?;
        let name = |value: &usize| function.values.get(*value).map(|it| it.name.as_str());
        let (line, column) = operation.place;
        Some(Self {
            kind,
            head,
            place: NamedPosition { file: file.to_owned(), line, column },
            operand_types: torch_types(of_operands)?,
            result_types: torch_types(of_results)?,
            operands: operation.operands.iter().map(name).collect::<Option<_>>()?,
            results: operation.results.iter().map(name).collect::<Option<_>>()?,
        })
    }

    /// The axis that an attribute says, of so many.
    fn axis(&self, rank: usize) -> Option<usize> {
        let (_, value) = self.head.split_once("torch.onnx.axis = ")?;
        let axis: i64 = value.split_once(" :")?.0.parse().ok()?;
        let rank = i64::try_from(rank).ok()?;
        usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()
    }
}

/// `1x2xf32` of `tensor<1x2xf32>`.
fn closed(type_text: &str) -> Option<String> {
    let inner = type_text.strip_prefix("tensor<")?.strip_suffix('>')?;
    (!inner.contains(['?', ',', '*'])).then(|| inner.to_owned())
}

/// The sizes and the element type of `1x2xf32`; none if one is open.
fn sizes(tensor_type: &str) -> Option<(Vec<u64>, &str)> {
    let mut parts: Vec<&str> = tensor_type.split('x').collect();
    let element = parts.pop()?;
    let sizes: Option<Vec<u64>> = parts.into_iter().map(|it| it.parse().ok()).collect();
    Some((sizes?, element))
}

fn count(sizes: &[u64]) -> Option<u64> {
    sizes.iter().try_fold(1_u64, |count, it| count.checked_mul(*it))
}

fn are_alike_but_for_units(one: &str, other: &str) -> bool {
    let without = |tensor_type: &str| {
        let (sizes, element) = sizes(tensor_type)?;
        let sizes: Vec<u64> = sizes.into_iter().filter(|it| *it != 1).collect();
        Some((sizes, element.to_owned()))
    };
    matches!((without(one), without(other)), (Some(one), Some(other)) if one == other)
}

/// `[[0, 1, 2]]`; of a tensor without dimensions `[]`.
fn all_in_one(rank: usize) -> String {
    let axes: Vec<String> = (0..rank).map(|it| it.to_string()).collect();
    if axes.is_empty() { "[]".to_owned() } else { format!("[[{}]]", axes.join(", ")) }
}

fn list(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

/// The elements in the shape of the result, by way of one dimension.
fn reshaped(operand_type: &str, result_type: &str) -> Option<Written> {
    let ((before, element), (after, of_result)) = (sizes(operand_type)?, sizes(result_type)?);
    let count = count(&before)?;
    if element != of_result || Some(count) != self::count(&after) {
        return None;
    }
    let flat = format!("tensor<{count}x{element}>");
    let mut text = String::new();
    let mut last = FROM;
    if before.len() != 1 {
        let groups = all_in_one(before.len());
        let (name, sizes) = match before.len() {
            0 => ("expand_shape", " output_shape [1]"),
            _ => ("collapse_shape", ""),
        };
        text = format!(
            "%flat = tensor.{name} {last} {groups}{sizes} : tensor<{operand_type}> into {flat}\n"
        );
        last = "%flat";
    }
    let groups = all_in_one(after.len());
    text += &match after.len() {
        0 => format!("{RESULT} = tensor.collapse_shape {last} [] : {flat} into tensor<{element}>"),
        1 if text.is_empty() => return None,
        1 => {
            return Some(Written {
                operation: "tensor.collapse_shape",
                text: text.replace("%flat", RESULT),
            });
        }
        _ => format!(
            "{RESULT} = tensor.expand_shape {last} {groups} output_shape {} : {flat} into \
             tensor<{result_type}>",
            list(&after)
        ),
    };
    Some(Written { operation: "tensor.expand_shape", text })
}

/// The elements repeated along dimensions of size 1, and along new ones before all.
fn expanded(operand_type: &str, result_type: &str) -> Option<Written> {
    let ((before, element), (after, of_result)) = (sizes(operand_type)?, sizes(result_type)?);
    let new = after.len().checked_sub(before.len())?;
    let fits =
        before.iter().zip(&after[new..]).all(|(before, after)| *before == 1 || before == after);
    if element != of_result || !fits {
        return None;
    }
    let axes: Vec<String> = (0..after.len()).map(|it| format!("d{it}")).collect();
    let read = before.iter().zip(&after[new..]).zip(&axes[new..]);
    let read: Vec<&str> = read
        .map(|((before, after), axis)| if before == after { axis.as_str() } else { "0" })
        .collect();
    let (all, read) = (axes.join(", "), read.join(", "));
    let parallel = vec!["\"parallel\""; after.len()].join(", ");
    let text = format!(
        "%empty = tensor.empty() : tensor<{result_type}>\n\
         {RESULT} = linalg.generic {{indexing_maps = [affine_map<({all}) -> ({read})>, \
         affine_map<({all}) -> ({all})>], iterator_types = [{parallel}]}} \
         ins({FROM} : tensor<{operand_type}>) outs(%empty : tensor<{result_type}>) {{\n\
         ^bb0(%in: {element}, %out: {element}):\n\
         linalg.yield %in : {element}\n\
         }} -> tensor<{result_type}>"
    );
    Some(Written { operation: "linalg.generic", text })
}

/// A part of a Split: as large as its type, after those before it.
fn part(imported: &Imported<'_>, result: usize, operand_type: &str) -> Option<Written> {
    let (whole, element) = sizes(operand_type)?;
    let axis = imported.axis(whole.len())?;
    let mut starts = vec![0];
    for part in &imported.result_types {
        let (part, of_part) = sizes(part)?;
        let is_part = part.len() == whole.len()
            && (0..part.len()).all(|it| it == axis || part[it] == whole[it]);
        if of_part != element || !is_part {
            return None;
        }
        starts.push(starts.last()? + part.get(axis)?);
    }
    if starts.last() != whole.get(axis) {
        return None;
    }
    let (size, _) = sizes(imported.result_types.get(result)?)?;
    let mut offsets = vec![0; whole.len()];
    *offsets.get_mut(axis)? = *starts.get(result)?;
    let ones = vec![1; whole.len()];
    let text = format!(
        "{RESULT} = tensor.extract_slice {FROM}{} {} {} : tensor<{operand_type}> to tensor<{}>",
        list(&offsets),
        list(&size),
        list(&ones),
        imported.result_types.get(result)?
    );
    Some(Written { operation: "tensor.extract_slice", text })
}
