//! Loaded machine code: its image, its description, and its environment.

use super::abi::Environment;
use super::image::Image;
use super::library::Library;

/// Loaded machine code.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) library: Library,
    pub(super) constants: Vec<u32>,
    /// Null for each import: all of them are optional.
    pub(super) imports: Vec<usize>,
    pub(super) processor: [u64; 8],
    /// Keeps the code mapped.
    pub(super) image: Image,
}

impl Code {
    pub(super) fn environment(&self) -> Environment {
        Environment {
            constants: self.constants.as_ptr(),
            import_thunk: std::ptr::null(),
            import_functions: self.imports.as_ptr().cast(),
            import_contexts: self.imports.as_ptr().cast(),
            processor: self.processor,
        }
    }
}
