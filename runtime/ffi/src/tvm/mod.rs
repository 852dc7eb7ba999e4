//! TVM FFI: packed functions, both ways.
//!
//! ```text
//! program ── import `lib.f` ──► library: values become tagged ones, `__tvm_ffi_f` is called   (a NativeLibrary)
//! Python  ── function object ─► export:  tagged values become VM values, the program runs     (used by the cdylib)
//! ```
//!
//! - [`core`]: the runtime library `libtvm_ffi`, found at run time; nothing links it.
//! - [`object`]: counted objects and what is in them; tensors lent in both directions.
//! - [`value`]: tagged values and VM values.
//! - [`library`]: a library of packed functions as a module. [`export`]: a function of a program as
//!   a packed function.
//!
//! Tensors are shared, not copied, wherever their memory allows it: dense, on the CPU, and aligned
//! as machine code of the program wants it.

pub mod core;
pub mod export;
pub mod library;
pub mod object;
pub mod value;

/// An error as it crosses the boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FfiError {
    /// `ValueError`, `TypeError`, …
    pub(crate) kind: String,
    /// What went wrong.
    pub(crate) message: String,
    /// A line a frame, the most recent call first.
    pub(crate) backtrace: String,
}

impl FfiError {
    /// An error without frames.
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), backtrace: String::new() }
    }

    /// The same, with a place before what is wrong there: `[1]: expected …` becomes
    /// `["a"][1]: expected …`.
    fn within(mut self, place: &str) -> Self {
        let separator = if self.message.starts_with('[') { "" } else { ": " };
        self.message = format!("{place}{separator}{}", self.message);
        self
    }
}

impl std::fmt::Display for FfiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)?;
        if !self.backtrace.is_empty() {
            write!(f, "\n{}", self.backtrace.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for FfiError {}
