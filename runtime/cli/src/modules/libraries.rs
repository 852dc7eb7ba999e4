//! Native libraries among the modules of a command line, and contexts for calling a function of one
//! directly.

use std::path::PathBuf;

use hal::{BufferView, Host, NativeLibrary};
use vm::{Context, FunctionId, Value};

use super::error::ModuleError;

/// Splits paths into bytecode modules and native libraries, each in the order of the command line.
pub(crate) fn split_libraries(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    paths.iter().cloned().partition(|path| !ffi::is_library(path))
}

/// A context with a library alone, one of its functions, and the name of that function. Without a
/// name, the library may have only one function.
pub(crate) fn link_library(
    host: &Host,
    library: &dyn NativeLibrary,
    name: Option<&str>,
) -> Result<(Context, FunctionId, String), ModuleError> {
    let module = library.module(host, &[]);
    let names: Vec<String> = module.functions().map(|(name, _)| name.to_owned()).collect();
    let name = match (name, names.as_slice()) {
        (Some(name), _) => name.to_owned(),
        (None, [only]) => only.clone(),
        (None, _) => return Err(ModuleError::WhichFunction { names }),
    };
    let full_name = format!("{}.{name}", library.name());
    let context =
        host.context().add_native(module).link().map_err(ModuleError::LibraryNotLinked)?;
    let unusable = library.unusable().iter().find(|(unusable, _)| *unusable == name);
    let function = context.lookup(&full_name).ok_or_else(|| match unusable {
        Some((_, reason)) => ModuleError::Unusable { name: name.clone(), reason: reason.clone() },
        None => {
            let library = library.name().to_owned();
            ModuleError::NoFunction { name: name.clone(), library, names }
        }
    })?;
    Ok((context, function, name))
}

/// The contents of the tensors that a native function may write into, from before the call.
pub(crate) struct ArgumentSnapshot(Vec<(usize, BufferView, Vec<u8>)>);

impl ArgumentSnapshot {
    /// Copies the contents of the arguments.
    pub(crate) fn take(arguments: &[Value]) -> Self {
        let views = arguments.iter().enumerate().filter_map(|(index, value)| {
            let Value::Ref(reference) = value else { return None };
            let view = reference.downcast::<BufferView>()?;
            Some((index, view.clone(), view.read().ok()?))
        });
        Self(views.collect())
    }

    /// The arguments that have changed since, as text.
    pub(crate) fn changed(&self) -> String {
        let changed =
            self.0.iter().filter(|(_, view, before)| view.read().is_ok_and(|now| now != *before));
        changed
            .map(|(index, view, _)| {
                let text = view.text(1024).unwrap_or_else(|status| status.to_string());
                format!("argument[{index}]: hal.buffer_view\n{text}\n")
            })
            .collect()
    }
}
