//! Which value of the program each tensor of a dispatch's interface is.
//!
//! A dispatch declares its tensors in the order of the operation's operands and results, except
//! that those whose offset or sizes are computed come after the others. So tensors of different
//! types or uses are told apart by these, and equal ones by their order if the same is computed for
//! all of them.

use std::borrow::Cow;

use super::program::{TensorOperationId, TensorOperationKind, TensorProgram, TensorValueId};
use crate::dispatches::{DeclaredTensor, DispatchInterface, OperandAccess};

/// A tensor that a dispatch reads or writes.
struct InterfaceTensor {
    tensor_type: String,
    access: OperandAccess,
    /// The value that the dispatch finds or leaves there, if it fits.
    value: Option<TensorValueId>,
}

impl TensorProgram {
    /// For each tensor that a dispatch reads or writes, in the order of
    /// [`DispatchInterface::operands`] with all tensors placed, the value that the dispatch finds
    /// or leaves there: a written one is a result. Values that do not fit are left out, and so are
    /// encoded tensors.
    #[must_use]
    pub fn interface_values(
        &self,
        operation: TensorOperationId,
        interface: &DispatchInterface,
    ) -> Vec<Option<TensorValueId>> {
        let declared = interface.declared();
        let unknown = vec![None; declared.iter().filter(|it| !it.is_encoded).count()];
        let Some(found) = self.values_of_body(operation) else { return unknown };
        let body: Vec<_> = found.iter().map(|it| (it.tensor_type.clone(), it.access)).collect();
        let Some(matched) = matched(&body, &declared) else { return unknown };
        let plain = matched.into_iter().zip(&declared).filter(|(_, it)| !it.is_encoded);
        plain.map(|(index, _)| found.get(index?)?.value).collect()
    }

    /// For each tensor that a dispatch reads or writes, in the order of
    /// [`DispatchInterface::operands`] with all tensors placed, the argument of the dispatch's
    /// function in the program of tensors. Arguments that do not fit are left out.
    #[must_use]
    pub fn interface_arguments(
        &self,
        export: &str,
        interface: &DispatchInterface,
    ) -> Vec<Option<usize>> {
        let declared = interface.declared();
        let unknown = vec![None; declared.iter().filter(|it| !it.is_encoded).count()];
        let Some(tensors) = self.bodies.get(export) else { return unknown };
        let body: Vec<_> = tensors.iter().map(|it| (it.tensor_type.clone(), it.access)).collect();
        let Some(matched) = matched(&body, &declared) else { return unknown };
        let plain = matched.into_iter().zip(&declared).filter(|(_, it)| !it.is_encoded);
        plain.map(|(index, _)| Some(tensors.get(index?)?.argument)).collect()
    }

    /// The tensors of a dispatch, and for each the value that the dispatch finds or leaves there.
    fn values_of_body(&self, id: TensorOperationId) -> Option<Vec<InterfaceTensor>> {
        let operation = self.operation(id)?;
        let TensorOperationKind::Dispatch { export } = &operation.kind else { return None };
        let function = self.functions.get(id.function)?;
        // Results that are not tied come after the operands.
        let results = || operation.results.iter().copied().zip(&operation.tied);
        let mut untied = results().filter_map(|(result, tied)| tied.is_none().then_some(result));
        let tied = |operand: TensorValueId| {
            results().find(|(_, tied)| **tied == Some(operand)).map(|(result, _)| result)
        };
        let body = self.bodies.get(export)?.iter().map(|tensor| {
            let operand = operation.operands.get(tensor.argument).copied();
            let value = match (operand, tensor.access) {
                (Some(operand), OperandAccess::Read) => Some(operand),
                (Some(operand), _) => tied(operand),
                (None, _) => untied.next(),
            };
            let value = value.filter(|value| {
                is_same_type(&function.value(*value).tensor_type, &tensor.tensor_type)
            });
            InterfaceTensor {
                tensor_type: tensor.tensor_type.clone(),
                access: tensor.access,
                value,
            }
        });
        Some(body.collect())
    }
}

/// For each declared tensor, the index of the tensor of the body that it is; `None` if they are not
/// of one dispatch.
fn matched(
    body: &[(String, OperandAccess)],
    declared: &[DeclaredTensor],
) -> Option<Vec<Option<usize>>> {
    let fits = |(tensor_type, access): &(String, OperandAccess), it: &DeclaredTensor| {
        let (plain, is_encoded) = match tensor_type.split_once(',') {
            Some((plain, _)) => (plain, true),
            None => (tensor_type.as_str(), false),
        };
        *access == it.access
            && is_encoded == it.is_encoded
            && is_same_type(&as_stored(plain), &it.tensor_type)
    };
    if body.len() != declared.len() {
        return None;
    }
    let matched = declared.iter().enumerate().map(|(index, tensor)| {
        let alike: Vec<usize> =
            (0..body.len()).filter(|other| fits(&body[*other], tensor)).collect();
        let same: Vec<usize> = (0..declared.len())
            .filter(|other| alike.iter().any(|at| fits(&body[*at], &declared[*other])))
            .collect();
        if alike.is_empty() || alike.len() != same.len() {
            return None;
        }
        let is_ordered = same.iter().all(|it| declared[*it].needs == tensor.needs);
        let rank = same.iter().position(|it| *it == index)?;
        Some(alike.get(rank).copied().filter(|_| is_ordered || alike.len() == 1))
    });
    matched.collect()
}

/// A type with elements as they are in memory: truth values are bytes there.
fn as_stored(tensor_type: &str) -> Cow<'_, str> {
    match tensor_type.strip_suffix("i1").filter(|it| it.is_empty() || it.ends_with('x')) {
        Some(sizes) => format!("{sizes}i8").into(),
        None => tensor_type.into(),
    }
}

/// Whether two types have equal elements and may have equal shapes: `?` stands for any size.
fn is_same_type(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.split('x').collect(), other.split('x').collect());
    let is_size = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    one.len() == other.len()
        && one.iter().zip(&other).all(|(one, other)| {
            one == other || (*one == "?" && is_size(other)) || (*other == "?" && is_size(one))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatches::Needs;

    #[test]
    fn tensors_are_told_apart_by_type_and_use_and_equal_ones_by_order() {
        use OperandAccess::{Read, Write};
        let body = |types: &[(&str, OperandAccess)]| -> Vec<(String, OperandAccess)> {
            types.iter().map(|(it, access)| ((*it).to_owned(), *access)).collect()
        };
        let declare = |tensors: &[(&str, OperandAccess, bool)]| -> Vec<DeclaredTensor> {
            let tensor = |(it, access, is_fixed): &(&str, OperandAccess, bool)| DeclaredTensor {
                tensor_type: it.replace(",#tiles", ""),
                is_encoded: it.contains(','),
                access: *access,
                needs: Needs { offset: !*is_fixed, sizes: it.contains('?') },
            };
            tensors.iter().map(tensor).collect()
        };
        // The bias at a literal offset comes first.
        let given = body(&[("?x8xf32", Read), ("8xf32", Read), ("?x8xf32", Write)]);
        let found =
            declare(&[("8xf32", Read, true), ("?x8xf32", Read, false), ("?x8xf32", Write, false)]);
        assert_eq!(matched(&given, &found), Some(vec![Some(1), Some(0), Some(2)]));
        // Of two equal ones, nothing says which was moved to the front.
        let given = body(&[("8xf32", Read), ("8xf32", Read), ("8xf32", Write)]);
        let found =
            declare(&[("8xf32", Read, true), ("8xf32", Read, false), ("8xf32", Write, true)]);
        assert_eq!(matched(&given, &found), Some(vec![None, None, Some(2)]));
        let found =
            declare(&[("8xf32", Read, true), ("8xf32", Read, true), ("8xf32", Write, true)]);
        assert_eq!(matched(&given, &found), Some(vec![Some(0), Some(1), Some(2)]));
        // The encodings have other names in the two texts.
        let given = body(&[("8xf32,#encoding3", Read), ("8xf32", Read), ("8xf32", Write)]);
        let found =
            declare(&[("8xf32", Read, true), ("8xf32,#tiles", Read, true), ("8xf32", Write, true)]);
        assert_eq!(matched(&given, &found), Some(vec![Some(1), Some(0), Some(2)]));
        // Truth values are bytes in memory.
        let given = body(&[("9xi1", Read), ("i1", Read), ("8xf32", Write)]);
        let found = declare(&[("9xi8", Read, true), ("i8", Read, true), ("8xf32", Write, true)]);
        assert_eq!(matched(&given, &found), Some(vec![Some(0), Some(1), Some(2)]));
        // Another dispatch.
        assert_eq!(matched(&given, &found[..2]), None);
        let other = body(&[("8xf32", Read), ("9xf32", Read), ("8xf32", Write)]);
        assert_eq!(matched(&other, &found), None);
    }
}
