//! Names of what the importer leaves out of a source of ONNX, as it computes nothing: the results
//! of identities, and of operations that would change the form of a tensor and have nothing to
//! change. They are their operands.

use std::collections::{HashMap, HashSet};

use super::{Reference, ReferenceFunction, ReferenceValue};
use crate::mlir_text::NamedPosition;
use crate::source::imported;
use crate::tensors::program::SourceTensor;

/// How an operation of ONNX is written.
const OPERATION: &str = " = torch.operator ";
/// The operations, beside those that only change a shape, whose result is the first operand if both
/// have one type of which all sizes are known.
const MOVES: [&str; 2] = ["Cast", "Expand"];

/// The result and the operand of an identity that a line of a source is.
fn identity(line: &str) -> Option<(&str, &str)> {
    let (result, rest) = line.split_once(OPERATION)?;
    let (kind, rest) = imported::kind(rest)?;
    let (operands, types) = rest.strip_prefix('(')?.split_once(')')?;
    let operand = operands.split(", ").next()?;
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

impl Reference<'_> {
    /// Names the results of identities.
    pub(super) fn name_identities(&mut self, function: &mut ReferenceFunction) {
        let files = function.values.iter().filter_map(|it| it.tensor.as_ref());
        let files: HashSet<String> = files.map(|it| it.at.file.clone()).collect();
        for file in files {
            let Some(source) = self.source(&file).filter(|it| !it.is_python()) else { continue };
            if !source.text().contains(OPERATION) {
                continue;
            }
            let named = function.values.iter().enumerate().filter_map(|(index, value)| {
                let tensor = value.tensor.as_ref()?;
                let is_own = tensor.at.file == file && tensor.calls.is_empty();
                is_own.then(|| (tensor.name.clone(), index))
            });
            let mut named: HashMap<String, usize> = named.collect();
            for (line, text) in (1..).zip(source.text().lines()) {
                let Some((name, operand)) = identity(text) else { continue };
                let Some(index) = named.get(operand).copied() else { continue };
                let operand = function.values[index].tensor.as_ref();
                if !operand.is_some_and(|it| source.are_of_one_function(it.at.line, line)) {
                    continue;
                }
                let (name, column) = (name.trim_start(), name.len() - name.trim_start().len() + 1);
                if named.contains_key(name) {
                    continue;
                }
                let column = u32::try_from(column).unwrap_or(1);
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
            identity(&line).map(|(result, operand)| (result.trim().to_owned(), operand.to_owned()))
        };
        let found = Some(("%2".to_owned(), "%0".to_owned()));
        assert_eq!(of("Reshape", "1,2", "1,2"), found);
        assert_eq!(of("Identity", "1,2", "?,2"), found);
        assert_eq!(of("Reshape", "?,2", "?,2"), found);
        assert_eq!(of("Reshape", "?,?", "?,?"), None);
        assert_eq!(of("Reshape", "1,2", "2,1"), None);
        assert_eq!(of("Expand", "?,2", "?,2"), None, "one may become many");
        assert_eq!(of("Transpose", "2,2", "2,2"), None);
        let cast = "%1 = torch.operator \"onnx.Cast\"(%0) {torch.onnx.to = 7 : si64} : \
                    (!torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si64>";
        assert_eq!(identity(cast), None);
    }
}
