//! Names of what the importer leaves out of a source of ONNX, as it computes nothing: the results
//! of identities, and of operations that would change the form of a tensor and have nothing to
//! change. They are their operands. What is computed twice is in [`super::duplicates`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use abi::tensor::Tensor;

use super::duplicates::Duplicates;
use super::{Reference, ReferenceFunction, ReferenceValue};
use crate::dialect_resources::DIALECT_RESOURCES;
use crate::mlir_text::NamedPosition;
use crate::source::{SourceText, WrittenTensor, folded_integers, imported};
use crate::tensors::program::SourceTensor;

/// How an operation of ONNX is written.
pub(super) const OPERATION: &str = " = torch.operator ";
/// The operations, beside those that only change a shape, whose result is the first operand if both
/// have one type of which all sizes are known; a slice only if it goes forwards.
const MOVES: [&str; 3] = ["Cast", "Expand", "Slice"];

/// The result and the operand of an identity that a line of a source is. `goes_forwards` tells of
/// an operand whether the source says that all its numbers are above zero.
fn identity(line: &str, goes_forwards: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let (result, rest) = line.split_once(OPERATION)?;
    let (kind, rest) = imported::kind(rest)?;
    let (operands, types) = rest.strip_prefix('(')?.split_once(')')?;
    let mut operands = operands.split(", ");
    let operand = operands.next()?;
    let steps = operands.nth(3).filter(|_| kind == "Slice");
    if steps.is_some_and(|it| !goes_forwards(it)) {
        return None;
    }
    let is_reshape = imported::RESHAPES.contains(&kind);
    let is_same = || {
        let (of_operands, of_results) = types.rsplit_once(" -> ")?;
        let (before, after) = (imported::types(of_operands)?, imported::types(of_results)?);
        // Where the number of elements stays, the only open size can only be the same.
        let most_open = usize::from(is_reshape);
        let open = after.first()?.matches('?').count();
        Some(before.first()? == after.first()? && open <= most_open)
    };
    let is_identity =
        kind == "Identity" || (is_reshape || MOVES.contains(&kind)) && is_same() == Some(true);
    is_identity.then_some((result, operand))
}

/// Whether the source writes an operand of an operation, and all its numbers are above zero.
fn goes_forwards(source: &SourceText, (line, text): (u32, &str), operand: &str) -> bool {
    let numbers = written(source, (line, text), operand).and_then(|it| folded_integers(&it));
    numbers.is_some_and(|it| it.iter().all(|step| *step > 0))
}

/// The tensor that a name stands for at the operation of a line, if the source writes it.
pub(super) fn written(
    source: &SourceText,
    (line, text): (u32, &str),
    name: &str,
) -> Option<Arc<Tensor>> {
    let column = text.find(OPERATION.trim_start_matches(" = "))?;
    let column = u32::try_from(column + 1).ok()?;
    match source.written_tensor((line, column), name)? {
        WrittenTensor::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

impl Reference<'_> {
    /// Names the results of identities, and of operations that stand there twice.
    pub(super) fn name_identities(&mut self, function: &mut ReferenceFunction) {
        let files = function.values.iter().filter_map(|it| it.tensor.as_ref());
        let files: HashSet<String> = files.map(|it| it.at.file.clone()).collect();
        for file in files {
            let Some(source) = self.source(&file).filter(|it| !it.is_python()) else { continue };
            if ![OPERATION, " = stablehlo."].iter().any(|it| source.text().contains(it)) {
                continue;
            }
            let named = function.values.iter().enumerate().filter_map(|(index, value)| {
                let tensor = value.tensor.as_ref()?;
                let is_own = tensor.at.file == file && tensor.calls.is_empty();
                is_own.then(|| (tensor.name.clone(), index))
            });
            let mut named: HashMap<String, usize> = named.collect();
            let mut duplicates = Duplicates::default();
            // No operation comes after the resources, which are long, begin.
            let lines = source.text().lines().take_while(|it| !it.starts_with(DIALECT_RESOURCES));
            for (line, text) in (1..).zip(lines) {
                let goes_forwards = |steps: &str| goes_forwards(&source, (line, text), steps);
                let earlier = duplicates.earlier(&source, (line, text));
                let found = identity(text, goes_forwards);
                let found = found.or_else(|| Some((text.split_once(" = ")?.0, earlier?)));
                let Some((name, operand)) = found else { continue };
                let Some(index) = named.get(operand).copied() else { continue };
                let operand = function.values[index].tensor.as_ref();
                if !operand.is_some_and(|it| source.are_of_one_function(it.at.line, line)) {
                    continue;
                }
                // The operation's name follows.
                let column = u32::try_from(name.len() + " = ".len() + 1).unwrap_or(1);
                let name = name.trim_start();
                if named.contains_key(name) {
                    continue;
                }
                let tensor = function.values[index].tensor.clone().map(|it| SourceTensor {
                    name: name.to_owned(),
                    at: NamedPosition { file: file.clone(), line, column },
                    ..it
                });
                named.insert(name.to_owned(), function.values.len());
                let value = ReferenceValue { tensor, ..function.values[index].clone() };
                function.values.push(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::identity;

    #[test]
    fn what_changes_nothing_is_its_operand() {
        let of = |kind: &str, from: &str, to: &str| {
            let line = format!(
                "    %2 = torch.operator \"onnx.{kind}\"(%0, %1) : (!torch.vtensor<[{from}],f32>, \
                 !torch.vtensor<[2],si64>) -> !torch.vtensor<[{to}],f32> "
            );
            let found = identity(&line, |it| it == "%forwards");
            found.map(|(result, operand)| (result.trim().to_owned(), operand.to_owned()))
        };
        let found = Some(("%2".to_owned(), "%0".to_owned()));
        assert_eq!(of("Reshape", "1,2", "1,2"), found);
        assert_eq!(of("Identity", "1,2", "?,2"), found);
        assert_eq!(of("Reshape", "?,2", "?,2"), found);
        assert_eq!(of("Reshape", "?,?", "?,?"), None);
        assert_eq!(of("Reshape", "1,2", "2,1"), None);
        assert_eq!(of("Expand", "?,2", "?,2"), None, "one may become many");
        assert_eq!(of("Transpose", "2,2", "2,2"), None);
        assert_eq!(of("Slice", "2,2", "2,2"), found);
        let slice = |steps: &str| {
            let line = format!(
                "    %2 = torch.operator \"onnx.Slice\"(%0, %1, %1, %1, {steps}) : \
                 (!torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> "
            );
            identity(&line, |it| it == "%forwards").is_some()
        };
        assert!(slice("%forwards") && !slice("%backwards"));
        let cast = "%1 = torch.operator \"onnx.Cast\"(%0) {torch.onnx.to = 7 : si64} : \
                    (!torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si64>";
        assert_eq!(identity(cast, |_| true), None);
    }
}
