//! Reads a companion from its text, or from a module's debug file.

use std::path::{Path, PathBuf};

use vmfb::FileBytes;

use super::model::{Companion, NestedText};
use super::module_reader;
use crate::debug_file::{DebugFile, DebugFileError};
use crate::mlir_text::{MlirTextError, hex_digit};

/// A companion could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CompanionLoadError {
    /// The debug file cannot be used.
    #[error(transparent)]
    DebugFile(#[from] DebugFileError),
    /// The text is not what iree-compile prints.
    #[error("the debug file {} is damaged: companion.mlir:{source}", path.display())]
    Malformed {
        /// The debug file.
        path: PathBuf,
        /// The place of the error, and what was expected.
        source: MlirTextError,
    },
}

impl Companion {
    /// Reads the text of a companion.
    ///
    /// # Errors
    /// The text is not what iree-compile prints, with the place where it stops being so.
    pub fn parse(text: &[u8]) -> Result<Self, MlirTextError> {
        module_reader::parse(text)
    }

    /// Reads the companion in the debug file of a module ([`DebugFile::for_module`]), if there is
    /// one.
    ///
    /// # Errors
    /// There is one, but it cannot be used.
    pub fn of_module(
        module: &Path,
        bytes: &FileBytes,
        directory: Option<&Path>,
    ) -> Result<Option<Self>, CompanionLoadError> {
        let Some(file) = DebugFile::for_module(module, bytes, directory)? else { return Ok(None) };
        let Some(text) = file.companion()? else { return Ok(None) };
        let malformed =
            |source| CompanionLoadError::Malformed { path: file.path().to_owned(), source };
        Self::parse(&text).map(Some).map_err(malformed)
    }

    /// The names of the files that its locations name.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.locations.files().iter().map(|file| &**file)
    }

    /// The text of a nested module that [`Companion::nested`] lists, decoded from the companion's
    /// text.
    #[must_use]
    pub fn nested_text(text: &[u8], nested: &NestedText) -> Vec<u8> {
        let digits = text.get(nested.digits.clone()).unwrap_or_default();
        digits.chunks_exact(2).map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1])).collect()
    }
}
