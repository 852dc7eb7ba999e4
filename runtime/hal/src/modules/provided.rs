//! The list of native modules, and the ones that a program gets.

use std::collections::HashSet;

use vm::NativeModule;
use vmfb::Module;

use super::{check, hal, hal_inline, hal_loader, io_parameters, yieldable_test};
use crate::host::Host;
use crate::microkernels;

/// The native modules that `program` imports from, to be registered before its own modules: those
/// of the runtime, then the host's native libraries.
#[must_use]
pub fn modules_for<'a>(
    host: &Host,
    program: impl IntoIterator<Item = &'a Module>,
) -> Vec<NativeModule> {
    let imports: Vec<_> = program.into_iter().flat_map(Module::imports).collect();
    let wanted: HashSet<&str> = imports.iter().map(|import| import.split_name().0).collect();
    let libraries = host.libraries().iter().map(|library| {
        let of_library = imports.iter().filter(|import| import.split_name().0 == library.name());
        let asked: Vec<(&str, &str)> = of_library
            .map(|import| {
                let convention = import.signature.calling_convention.as_deref();
                (import.split_name().1, convention.unwrap_or_default())
            })
            .collect();
        host.outside().clone().logging(library.module(host, &asked))
    });
    let modules = all(host).into_iter().filter(|module| wanted.contains(module.name()));
    modules.chain(libraries).collect()
}

/// All native modules of the runtime.
fn all(host: &Host) -> Vec<NativeModule> {
    vec![
        hal::module(host),
        hal_inline::module(host),
        hal_loader::module(host),
        microkernels::module(),
        io_parameters::module(host),
        check::module(host.expectations()),
        yieldable_test::module(),
    ]
}
