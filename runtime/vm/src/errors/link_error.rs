//! Why modules cannot be linked.

use std::fmt;

use vmfb::TypeOrdinal;

use super::status::{Status, StatusCode};

/// Why modules cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// A module needs another module that was not added before it.
    #[error(
        "module {module} needs module {dependency} (version {minimum_version} or later): {reason}"
    )]
    MissingModule {
        /// The module that asks.
        module: String,
        /// The missing module.
        dependency: String,
        /// The lowest version that will do.
        minimum_version: u32,
        /// What was found instead.
        reason: String,
    },
    /// Nothing provides one or more required imports.
    #[error("module {module} needs {}", list(imports))]
    MissingImports {
        /// The module that asks.
        module: String,
        /// The imports that nothing provides.
        imports: Vec<MissingImport>,
    },
    /// A type that instructions use is not one.
    #[error("module {module}: type {} ({name}) is not a type of the VM", ordinal.0)]
    UnknownType {
        /// The module.
        module: String,
        /// Where in its type table.
        ordinal: TypeOrdinal,
        /// The text of the type table entry.
        name: String,
    },
    /// The globals do not fit the limits.
    #[error("module {module}: {status}")]
    Globals {
        /// The module.
        module: String,
        /// What does not fit.
        status: Status,
    },
}

impl LinkError {
    /// The status code that IREE gives such an error.
    #[must_use]
    pub fn code(&self) -> StatusCode {
        match self {
            Self::MissingImports { imports, .. }
                if imports.first().is_some_and(|import| import.is_mismatch) =>
            {
                StatusCode::Internal
            }
            Self::Globals { status, .. } => status.code,
            _ => StatusCode::NotFound,
        }
    }
}

/// An import that nothing provides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingImport {
    /// The full name that is asked for.
    pub name: String,
    /// The calling convention that is asked for.
    pub calling_convention: String,
    /// What is missing, and which module could provide it.
    pub reason: String,
    /// Whether a function of this name exists with other arguments or results.
    pub is_mismatch: bool,
}

impl fmt::Display for MissingImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.name, self.calling_convention, self.reason)
    }
}

/// One on the line, several on lines of their own.
fn list(imports: &[MissingImport]) -> String {
    match imports {
        [import] => import.to_string(),
        _ => {
            let lines = imports.iter().map(|import| format!("\n  {import}"));
            format!("{} functions that it cannot get:{}", imports.len(), lines.collect::<String>())
        }
    }
}
