//! `--instrument_file`: what instrumented code has recorded, which a module hands out by its
//! function `__query_instruments`.

use std::path::Path;
use std::sync::Arc;

use hal::BufferView;
use vm::{ElementType, ExecutionLimits, List, Ref, Value};

use super::call::{Program, finish};
use crate::failure::Failure;

/// The export that puts buffers into a list.
const QUERY: &str = "__query_instruments";

/// Writes the data of all modules into a file, one after the other. The file is there in any case:
/// stale data of an earlier run would mislead.
///
/// # Errors
/// The file cannot be written, or a module's function fails.
pub(crate) fn write_instruments(program: &mut Program, path: &Path) -> Result<(), Failure> {
    let list = Arc::new(List::new(ElementType::Variant, &ExecutionLimits::default()));
    let names: Vec<String> =
        program.modules.iter().map(|module| format!("{}.{QUERY}", module.name())).collect();
    for name in names {
        let Some(function) = program.context.lookup(&name) else { continue };
        let inputs = vec![Value::Ref(Ref::List(list.clone()))];
        let mut invocation = vm::Invocation::new(&program.context, function, inputs)
            .map_err(|status| format!("{status}; calling {name}"))?;
        finish(&mut program.context, &mut invocation, None)
            .map_err(|failure| format!("{}; calling {name}", failure.status))?;
    }
    let mut bytes = Vec::new();
    for value in (0..list.len()).filter_map(|index| list.get(index)) {
        match value {
            Value::Ref(Ref::Buffer(buffer)) => bytes.extend(buffer.read(0, buffer.len())),
            Value::Ref(reference) => {
                if let Some(view) = reference.downcast::<BufferView>() {
                    bytes.extend(view.read()?);
                }
            }
            _ => {}
        }
    }
    let written = vmfb::WholeFile::write(path, &bytes);
    Ok(written.map_err(|error| format!("cannot write {}: {error}", path.display()))?)
}
