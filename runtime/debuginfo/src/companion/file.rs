//! Reads a companion from its text, or from the file beside a module.

use std::path::{Path, PathBuf};

use vmfb::{FileBytes, LoadError};

use super::model::{Companion, NestedText};
use super::module_reader;
use crate::mlir_text::{MlirTextError, hex_digit};

/// A companion file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CompanionLoadError {
    /// The file cannot be read.
    #[error("cannot read the debug companion {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not what iree-compile prints.
    #[error("the debug companion {} is damaged: {}:{source}", path.display(), path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The place of the error, and what was expected.
        source: MlirTextError,
    },
}

impl Companion {
    /// The companion's path: the module's with `.companion.mlir` appended (`model.vmfb` has
    /// `model.vmfb.companion.mlir`).
    #[must_use]
    pub fn path_beside(module: &Path) -> PathBuf {
        let mut name = module.as_os_str().to_owned();
        name.push(".companion.mlir");
        PathBuf::from(name)
    }

    /// Reads the text of a companion.
    ///
    /// # Errors
    /// The text is not what iree-compile prints, with the place where it stops being so.
    pub fn parse(text: &[u8]) -> Result<Self, MlirTextError> {
        module_reader::parse(text)
    }

    /// Reads a companion from a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a companion.
    pub fn read(path: &Path) -> Result<Self, CompanionLoadError> {
        let text = FileBytes::read(path).map_err(|error| CompanionLoadError::Unreadable {
            path: path.to_owned(),
            source: match error {
                LoadError::Io { source, .. } => source,
                other => std::io::Error::other(other),
            },
        })?;
        Self::parse(text.owned())
            .map_err(|source| CompanionLoadError::Malformed { path: path.to_owned(), source })
    }

    /// Reads the companion that lies beside a module, if there is one.
    ///
    /// # Errors
    /// There is one, but it cannot be read.
    pub fn beside(module: &Path) -> Result<Option<Self>, CompanionLoadError> {
        let path = Self::path_beside(module);
        match Self::read(&path) {
            Ok(companion) => Ok(Some(companion)),
            Err(CompanionLoadError::Unreadable { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The text of a nested module that [`Companion::nested`] lists, decoded from the companion's
    /// text.
    #[must_use]
    pub fn nested_text(text: &[u8], nested: &NestedText) -> Vec<u8> {
        let digits = text.get(nested.digits.clone()).unwrap_or_default();
        digits.chunks_exact(2).map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1])).collect()
    }
}
