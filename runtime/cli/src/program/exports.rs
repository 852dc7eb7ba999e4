//! The export of a module that a program calls.

use vmfb::Export;
use vmfb::Module;

use crate::modules::is_for_users;

/// Why it is not known which function to call.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExportError {
    #[error(
        "NOT_FOUND; no function `{name}` exported by module `{module}`; it exports {exports}; \
         looking up function '{name}'"
    )]
    Missing { name: String, module: String, exports: String },
    #[error(
        "INVALID_ARGUMENT; no exported functions found in module; at least one must be present"
    )]
    None,
    #[error(
        "INVALID_ARGUMENT; more than one exported function present; --function= must be specified \
         explicitly; the module exports {exports}"
    )]
    Several { exports: String },
}

/// The export of a name; without a name, the only export for users.
///
/// # Errors
/// There is no such export, or several are possible.
pub(super) fn choose_export<'a>(
    module: &'a Module,
    name: Option<&str>,
) -> Result<&'a Export, ExportError> {
    Ok(match name.filter(|name| !name.is_empty()) {
        Some(name) => module.export_named(name).map(|(_, export)| export).ok_or_else(|| {
            let (name, module_name) = (name.to_owned(), module.name().to_owned());
            ExportError::Missing { name, module: module_name, exports: list_exports(module) }
        })?,
        None => {
            let mut candidates =
                module.exports().iter().filter(|export| is_for_users(&export.name));
            match (candidates.next(), candidates.next()) {
                (Some(only), None) => only,
                (None, _) => {
                    return Err(ExportError::None);
                }
                (Some(_), Some(_)) => {
                    return Err(ExportError::Several { exports: list_exports(module) });
                }
            }
        }
    })
}

/// The source-level declaration that the compiler records for an export that it has wrapped.
pub(super) fn declaration(module: &Module, export: &Export) -> Option<String> {
    let attributes = &module.function(export.function)?.signature.attributes;
    let found = attributes.iter().find(|attribute| attribute.key == "iree.abi.declaration");
    found.map(|attribute| attribute.value.clone())
}

fn list_exports(module: &Module) -> String {
    let names: Vec<String> = module
        .exports()
        .iter()
        .filter(|export| is_for_users(&export.name))
        .map(|export| format!("`{}`", export.name))
        .collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
