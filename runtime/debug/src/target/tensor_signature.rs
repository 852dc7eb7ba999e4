//! What an export takes, where its calling convention does not say it: models that were imported
//! with types of torch have only references in their signatures, and their program of tensors reads
//! each as a tensor of some type.

use std::sync::Arc;

use debuginfo::{TensorFunction, TensorOperationKind};
use vmfb::Module;

use super::program::Program;

impl Program {
    /// The types of the tensors that an export of a loaded file takes, as `4x?xf32`, by argument.
    /// It is `None` for an argument that is no tensor, or of which nothing is known. What the
    /// compiler's checks of the arguments demand are these types.
    #[must_use]
    pub fn tensor_arguments(&self, file: &Arc<Module>, export: &str) -> Vec<Option<String>> {
        let module = self.modules.iter().find(|it| Arc::ptr_eq(&it.module, file));
        let Some(tensors) = module.and_then(|it| it.tensors()) else { return Vec::new() };
        // A function that waits for its asynchronous twin reads nothing itself.
        let twin = format!("{export}$async");
        let named = |name: &str| tensors.program.functions().iter().find(|it| it.name == name);
        let mut read = [export, &twin].into_iter().filter_map(named).map(imported);
        read.find(|it| !it.is_empty()).unwrap_or_default()
    }
}

/// The types of the tensors that a function reads its arguments as, up to the last of them.
fn imported(function: &TensorFunction) -> Vec<Option<String>> {
    let mut types: Vec<Option<String>> = Vec::new();
    for operation in &function.operations {
        let TensorOperationKind::Import { argument } = operation.kind else { continue };
        let Some(result) = operation.results.first() else { continue };
        if types.len() <= argument {
            types.resize(argument + 1, None);
        }
        types[argument] = Some(function.value(*result).tensor_type.clone());
    }
    types
}
