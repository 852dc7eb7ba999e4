//! Loaded machine code: its image, its description, and its environment.

use super::abi::Environment;
use super::image::Image;
use super::library::Library;
use super::plugin::{Imports, import_thunk};

/// Loaded machine code.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) library: Library,
    pub(super) constants: Vec<u32>,
    pub(super) imports: Imports,
    pub(super) processor: [u64; 8],
    /// Keeps the code mapped.
    pub(super) image: Image,
}

impl Code {
    pub(super) fn environment(&self) -> Environment {
        Environment {
            constants: self.constants.as_ptr(),
            import_thunk: import_thunk as *const std::ffi::c_void,
            import_functions: self.imports.functions.as_ptr().cast(),
            import_contexts: self.imports.contexts.as_ptr().cast(),
            processor: self.processor,
        }
    }
}
