//! Which value of the program each tensor of a dispatch's interface is.

use super::program::{TensorOperationId, TensorOperationKind, TensorProgram, TensorValueId};
use crate::dispatches::{DispatchInterface, OperandAccess};

impl TensorProgram {
    /// For each tensor that a dispatch reads or writes, in the order of
    /// [`DispatchInterface::operands`] with all tensors placed, the value that the dispatch finds
    /// or leaves there: a written one is a result. Values that do not fit are left out.
    #[must_use]
    pub fn interface_values(
        &self,
        operation: TensorOperationId,
        interface: &DispatchInterface,
    ) -> Vec<Option<TensorValueId>> {
        let declared = interface.declared();
        let found = self.values_of_body(operation);
        let fits = found.as_ref().is_some_and(|found| {
            found.len() == declared.len()
                && found.iter().zip(&declared).all(|((body, _), (tensor_type, access))| {
                    body.1 == *access && is_same_type(&body.0, tensor_type)
                })
        });
        match found.filter(|_| fits) {
            Some(found) => found.into_iter().map(|(_, value)| value).collect(),
            None => vec![None; declared.len()],
        }
    }

    /// The tensors of a dispatch, and for each the value that the dispatch finds or leaves there.
    #[expect(clippy::type_complexity, reason = "a pair of what it is and which value it is")]
    fn values_of_body(
        &self,
        id: TensorOperationId,
    ) -> Option<Vec<((String, OperandAccess), Option<TensorValueId>)>> {
        let operation = self.operation(id)?;
        let TensorOperationKind::Dispatch { export } = &operation.kind else { return None };
        let function = self.functions.get(id.function)?;
        // Results that are not tied come after the operands.
        let mut untied = operation.results.iter().zip(&operation.tied);
        let mut untied = untied.by_ref().filter(|(_, tied)| tied.is_none()).map(|(it, _)| *it);
        let tied = |operand: TensorValueId| {
            let mut results = operation.results.iter().zip(&operation.tied);
            let found = results.find(|(_, tied)| **tied == Some(operand));
            found.map(|(result, _)| *result)
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
            ((tensor.tensor_type.clone(), tensor.access), value)
        });
        Some(body.collect())
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
