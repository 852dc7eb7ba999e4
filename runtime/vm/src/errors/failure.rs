//! The failure of an invocation: its status, and where each frame was.

use std::fmt;

use vmfb::{BytecodeOffset, FunctionOrdinal};

use super::status::Status;
use crate::position::ModuleIndex;

/// Where a frame was when the invocation failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FramePosition {
    /// The module in the context.
    pub module: ModuleIndex,
    /// Its name.
    pub module_name: String,
    /// The function's name: its export name, its native name, or `@<ordinal>`.
    pub function_name: String,
    /// The function and instruction, for bytecode.
    pub bytecode: Option<(FunctionOrdinal, BytecodeOffset)>,
    /// For a part of a native function's activity: its description.
    pub part: Option<String>,
}

impl fmt::Display for FramePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module_name, function_name, .. } = self;
        if let Some(part) = &self.part {
            return f.write_str(part);
        }
        match self.bytecode {
            Some((_, offset)) => write!(f, "{module_name}.{function_name} [{offset}]"),
            None => write!(f, "{module_name}.{function_name} (native)"),
        }
    }
}

/// How an invocation ended badly. The frames stay in the invocation for inspection.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{status}")]
pub struct Failure {
    /// The error.
    pub status: Status,
    /// Where each frame was, innermost first.
    pub backtrace: Vec<FramePosition>,
}
