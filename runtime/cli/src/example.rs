//! The embedded example: a program to try the debugger on without a compiler.
//!
//! The module was made in `runtime/cli/example` with iree-compile 3.13, by
//! `iree-dbg compile newton.mlir -o newton.vmfb`; its companion was taken out of the debug file. A
//! test checks that they still match the source.

use std::collections::HashMap;

use debug::{LaunchOptions, ModuleSource};

/// The name of the source in the debug information of the module, and its text.
pub(crate) const SOURCE: (&str, &str) = ("newton.mlir", include_str!("../example/newton.mlir"));

/// Options that launch `main(2.0, 5)` of the example.
pub(crate) fn options() -> LaunchOptions {
    LaunchOptions {
        modules: vec![ModuleSource::memory(
            "newton.vmfb (embedded example)",
            include_bytes!("../example/newton.vmfb").to_vec(),
            Some(include_bytes!("../example/newton.companion.mlir").to_vec()),
        )],
        function: Some("main".to_owned()),
        inputs: vec!["2.0".to_owned(), "5".to_owned()],
        sources: HashMap::from([(SOURCE.0.to_owned(), SOURCE.1.to_owned())]),
        ..LaunchOptions::default()
    }
}
