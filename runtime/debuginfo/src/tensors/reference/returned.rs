//! Names of what calls give: where the compiler has inlined a function, nothing stands at the place
//! of its call, and the result of the call is what the function returns.

use mlir::table::{Control, Meaning};

use super::{Reference, ReferenceFunction, ReferenceValue};
use crate::source::SourceText;
use crate::tensors::program::SourceTensor;

impl Reference<'_> {
    /// Names the results of calls whose functions return what has a name.
    pub(super) fn name_returned(&mut self, function: &mut ReferenceFunction) {
        // What a call gives may be returned again.
        let mut at = 0;
        while let Some(value) = function.values.get(at) {
            at += 1;
            let Some(tensor) = value.tensor.as_ref().filter(|it| !it.calls.is_empty()) else {
                continue;
            };
            let source = self.source(&tensor.at.file).filter(|it| !it.is_python());
            let Some(named) = source.and_then(|source| given_by_call(&source, tensor)) else {
                continue;
            };
            // Where the compiler has kept the call, its result has the name already.
            let is_it = |it: &SourceTensor| {
                (&it.name, &it.at, &it.calls) == (&named.name, &named.at, &named.calls)
            };
            if function.values.iter().any(|it| it.tensor.as_ref().is_some_and(is_it)) {
                continue;
            }
            let value = ReferenceValue { tensor: Some(named), ..function.values[at - 1].clone() };
            function.values.push(value);
        }
    }
}

/// The result of the call around a tensor, if the function returns the tensor.
fn given_by_call(source: &SourceText, tensor: &SourceTensor) -> Option<SourceTensor> {
    let (call, calls) = tensor.calls.split_first()?;
    let is_call = source.operation_at(call.line, call.column)?.ends_with("call");
    if !is_call || call.file != tensor.at.file {
        return None;
    }
    let own = source.function_read(tensor.at.line)?;
    let is_return = |name: &str| {
        mlir::meaning(name) == Some(Meaning::Control(Control::Return)) && name != "stablehlo.return"
    };
    let mut returns =
        own.operations.iter().filter(|it| it.parent == Some(0) && is_return(&it.name));
    let returned = returns.next().filter(|_| returns.next().is_none())?;
    let is_it = |value: &usize| own.values.get(*value).is_some_and(|it| it.name == tensor.name);
    let result = returned.operands.iter().position(is_it)?;
    let name = source.result_names(call.line, call.column).into_iter().nth(result)?;
    Some(SourceTensor { name, at: call.clone(), calls: calls.to_vec(), ..tensor.clone() })
}
