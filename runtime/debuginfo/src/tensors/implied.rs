//! Operations of ONNX that only move elements and that the compiler has merged into others, so that
//! nothing in its text has their result: a Reshape between two others, the parts of a Split. Each
//! is written here in the dialects that are evaluated, of an operand that has a name.
//!
//! The sizes are those that the importer declares. Where it leaves one open, nothing is said.

use std::sync::Arc;

use mlir::TensorType;

use crate::mlir_text::{CallChain, NamedPosition};
use crate::source::functions::{SourceFunction, SourceOperation};
use crate::source::{SourceText, imported};

use super::program::SourceTensor;
use super::steps::{SourceStep, SourceSteps, StepValue, StepValueId};

/// An operation of ONNX as the importer writes it.
struct Imported<'t> {
    /// `Reshape`.
    kind: &'t str,
    head: &'t str,
    place: NamedPosition,
    operand_types: Vec<TensorType>,
    result_types: Vec<TensorType>,
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
    let shape = result_type.dimensions.iter().flatten().map(|it| format!("{it}x"));
    let tensor_type = shape.collect::<String>() + &result_type.element.to_string();
    let (name, at) = (name.to_owned(), imported.place.clone());
    steps.add(step, SourceTensor { name, at, calls: CallChain::new(), tensor_type });
}

fn value(name: &str, tensor_type: &TensorType, value: StepValueId) -> StepValue {
    StepValue { name: name.to_owned(), type_text: Some(tensor_type.to_string()), value }
}

/// The value that the elements come from, and its type in the compiler's text.
fn source_of(steps: &SourceSteps, imported: &Imported<'_>) -> Option<(StepValueId, TensorType)> {
    if imported.kind == "MatMul" {
        // A product of batches is made one of three dimensions first.
        let product = steps.only_at(&imported.place, "linalg.batch_matmul")?;
        let own = TensorType::parse(steps.type_text(product)?)?;
        let declared = imported.result_types.first()?;
        let is_product = own.element == declared.element
            && without_units(&own.fixed()?) == without_units(&declared.fixed()?);
        return is_product.then_some((product, own));
    }
    let operand = steps.only_named(imported.operands.first()?)?;
    let own = match steps.type_text(operand) {
        Some(declared) => TensorType::parse(declared)?,
        // An argument has the type of its name.
        None => TensorType::parse_shaped(&steps.tensors(operand).first()?.tensor_type)?,
    };
    let is_closed = own.fixed().is_some();
    (is_closed && own == *imported.operand_types.first()?).then_some((operand, own))
}

fn without_units(shape: &[usize]) -> Vec<usize> {
    shape.iter().copied().filter(|it| *it != 1).collect()
}

impl<'t> Imported<'t> {
    fn read(
        function: &'t SourceFunction,
        operation: &SourceOperation,
        head: &'t str,
        file: &str,
    ) -> Option<Self> {
        let (kind, rest) = imported::kind(head)?;
        let is_written_here =
            matches!(kind, "Expand" | "MatMul" | "Split") || imported::RESHAPES.contains(&kind);
        if operation.name != "torch.operator" || !is_written_here {
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
            operand_types: types(of_operands)?,
            result_types: types(of_results)?,
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

/// The types of tensors in a text.
fn types(text: &str) -> Option<Vec<TensorType>> {
    imported::types(text)?.iter().map(|it| TensorType::parse_shaped(it)).collect()
}

/// `[[0, 1, 2]]`; of a tensor without dimensions `[]`.
fn all_in_one(rank: usize) -> String {
    let axes: Vec<String> = (0..rank).map(|it| it.to_string()).collect();
    if axes.is_empty() { "[]".to_owned() } else { format!("[[{}]]", axes.join(", ")) }
}

fn list(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

/// The elements in the shape of the result, by way of one dimension.
fn reshaped(operand_type: &TensorType, result_type: &TensorType) -> Option<Written> {
    let (before, after) = (operand_type.fixed()?, result_type.fixed()?);
    let element = operand_type.element;
    if element != result_type.element || operand_type.count()? != result_type.count()? {
        return None;
    }
    let flat = TensorType { dimensions: vec![operand_type.count()], element };
    let mut text = String::new();
    let mut last = FROM;
    if before.len() != 1 {
        let groups = all_in_one(before.len());
        let (name, sizes) = match before.len() {
            0 => ("expand_shape", " output_shape [1]"),
            _ => ("collapse_shape", ""),
        };
        text =
            format!("%flat = tensor.{name} {last} {groups}{sizes} : {operand_type} into {flat}\n");
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
             {result_type}",
            list(&after)
        ),
    };
    Some(Written { operation: "tensor.expand_shape", text })
}

/// The elements repeated along dimensions of size 1, and along new ones before all.
fn expanded(operand_type: &TensorType, result_type: &TensorType) -> Option<Written> {
    let (before, after) = (operand_type.fixed()?, result_type.fixed()?);
    let element = operand_type.element;
    let new = after.len().checked_sub(before.len())?;
    let fits =
        before.iter().zip(&after[new..]).all(|(before, after)| *before == 1 || before == after);
    if element != result_type.element || !fits {
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
        "%empty = tensor.empty() : {result_type}\n\
         {RESULT} = linalg.generic {{indexing_maps = [affine_map<({all}) -> ({read})>, \
         affine_map<({all}) -> ({all})>], iterator_types = [{parallel}]}} \
         ins({FROM} : {operand_type}) outs(%empty : {result_type}) {{\n\
         ^bb0(%in: {element}, %out: {element}):\n\
         linalg.yield %in : {element}\n\
         }} -> {result_type}"
    );
    Some(Written { operation: "linalg.generic", text })
}

/// A part of a Split: as large as its type, after those before it.
fn part(imported: &Imported<'_>, result: usize, operand_type: &TensorType) -> Option<Written> {
    let whole = operand_type.fixed()?;
    let axis = imported.axis(whole.len())?;
    let mut starts = vec![0_usize];
    for part in &imported.result_types {
        let shape = part.fixed()?;
        let is_part = shape.len() == whole.len()
            && (0..shape.len()).all(|it| it == axis || shape[it] == whole[it]);
        if part.element != operand_type.element || !is_part {
            return None;
        }
        starts.push(starts.last()?.checked_add(*shape.get(axis)?)?);
    }
    if starts.last() != whole.get(axis) {
        return None;
    }
    let part = imported.result_types.get(result)?;
    let mut offsets = vec![0; whole.len()];
    *offsets.get_mut(axis)? = *starts.get(result)?;
    let text = format!(
        "{RESULT} = tensor.extract_slice {FROM}{} {} {} : {operand_type} to {part}",
        list(&offsets),
        list(&part.fixed()?),
        list(&vec![1; whole.len()]),
    );
    Some(Written { operation: "tensor.extract_slice", text })
}
