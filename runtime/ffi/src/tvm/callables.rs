//! Function objects, such as those of Python, as functions that a program imports.
//!
//! A program's import is named `module.function`. An error of such a function is remembered, so
//! that the call of the program fails with it and not with the status that the program made of it.

use std::cell::RefCell;
use std::sync::Arc;

use abi::cconv::Signature;
use abi::tvm::index;
use abi::tvm::layout::Any;
use hal::{Host, NativeLibrary};
use vm::{NativeModule, Status};

use super::core::{Core, Handle};
use super::error::FfiError;
use super::library::{call, code_of};
use super::object::{Object, bytes_of};
use super::value::{Boundary, release};

thread_local! {
    /// The error of the last function object that failed on this thread.
    static LAST_ERROR: RefCell<Option<FfiError>> = const { RefCell::new(None) };
}

/// The error that a function object has raised since this was asked last.
pub(super) fn take_last_error() -> Option<FfiError> {
    LAST_ERROR.with_borrow_mut(Option::take)
}

/// The functions of one module that a program imports.
#[derive(Debug)]
pub(super) struct Callables {
    module: String,
    functions: Vec<(String, Arc<Object>)>,
}

impl NativeLibrary for Callables {
    fn name(&self) -> &str {
        &self.module
    }

    fn module(&self, host: &Host, imports: &[(&str, &str)]) -> NativeModule {
        let mut builder = NativeModule::builder(&self.module);
        for (name, convention) in imports {
            let known = self.functions.iter().find(|(known, _)| known == name);
            let (Some((_, function)), Ok(signature)) = (known, Signature::parse(convention)) else {
                continue;
            };
            let (host, function) = (host.clone(), function.clone());
            let what = format!("{}.{name}", self.module);
            builder = builder.function(name, convention, move |frame| {
                let invoke = |boundary: Boundary<'_>, arguments: &mut [Any]| {
                    boundary.call_object(&function, arguments)
                };
                call(&host, invoke, &signature, frame.values()).map_err(|error| {
                    let status = Status::new(code_of(&error.kind), format!("{what}: {error}"));
                    LAST_ERROR.with_borrow_mut(|last| *last = Some(error));
                    status
                })
            });
        }
        builder.build()
    }
}

/// The modules of an argument that maps `module.function` to function objects; none without it.
///
/// # Errors
/// It is no such mapping.
pub(super) fn imports(
    core: &Core,
    argument: Option<&Any>,
) -> Result<Vec<Arc<dyn NativeLibrary>>, FfiError> {
    let host = Host::new(&hal::Config::default());
    let boundary = Boundary { core, host: &host, alignment: 1, lenders: None };
    let entries = match argument {
        None => Vec::new(),
        Some(any) if any.type_index == index::NONE => Vec::new(),
        Some(any) if matches!(any.type_index, index::MAP | index::DICT) => entries(boundary, any)?,
        Some(any) => {
            return Err(FfiError::new(
                "TypeError",
                format!(
                    "argument 1: expected the functions that the program imports by their names, \
                     got {}",
                    index::describe(any.type_index)
                ),
            ));
        }
    };
    let mut modules: Vec<Callables> = Vec::new();
    for (name, function) in entries {
        let Some((module, name)) = name.split_once('.') else {
            return Err(FfiError::new(
                "ValueError",
                format!("an import is named `module.function`, not `{name}`"),
            ));
        };
        let function = (name.to_owned(), Arc::new(function));
        match modules.iter_mut().find(|it| it.module == module) {
            Some(known) => known.functions.push(function),
            None => {
                modules.push(Callables { module: module.to_owned(), functions: vec![function] });
            }
        }
    }
    Ok(modules.into_iter().map(|it| Arc::new(it) as Arc<dyn NativeLibrary>).collect())
}

/// The keys and function objects of a mapping.
fn entries(boundary: Boundary<'_>, map: &Any) -> Result<Vec<(String, Object)>, FfiError> {
    let kind = if map.type_index == index::MAP { "ffi.Map" } else { "ffi.Dict" };
    let size = boundary.call_global(&format!("{kind}Size"), &mut [*map])?.payload;
    let cursor = boundary.call_global(&format!("{kind}ForwardIterFunctor"), &mut [*map])?;
    // SAFETY: a function object, whose reference the call has given.
    let cursor = unsafe { Object::owned(boundary.core, cursor.payload as Handle) };
    let mut found = Vec::new();
    for _ in 0..size {
        // The key, the value, and the step to the next one.
        let [key, value] = [0, 1].map(|part| boundary.call_object(&cursor, &mut [Any::int(part)]));
        let entry = key.and_then(|key| {
            let entry = value.and_then(|value| {
                let entry = entry(boundary, &key, &value);
                release(boundary.core, value);
                entry
            });
            release(boundary.core, key);
            entry
        });
        found.push(entry?);
        boundary.call_object(&cursor, &mut [Any::int(2)])?;
    }
    Ok(found)
}

fn entry(boundary: Boundary<'_>, key: &Any, value: &Any) -> Result<(String, Object), FfiError> {
    // SAFETY: the caller keeps the key.
    let name = unsafe { bytes_of(key) }.and_then(|bytes| String::from_utf8(bytes).ok());
    let name =
        name.ok_or_else(|| FfiError::new("TypeError", "the name of an import is no text"))?;
    if value.type_index != index::FUNCTION {
        let found = index::describe(value.type_index);
        return Err(FfiError::new(
            "TypeError",
            format!("import {name}: expected a function, got {found}"),
        ));
    }
    // SAFETY: a function object that the caller keeps meanwhile.
    Ok((name, unsafe { Object::shared(boundary.core, value.payload as Handle) }))
}
