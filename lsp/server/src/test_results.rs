//! What the last run of a test's `RUN:` lines printed and found.

use std::sync::Arc;

use filecheck::Options;
use ide::Diagnostic;

/// The last run of a document.
#[derive(Debug, Clone)]
pub(crate) struct TestResult {
    /// The version of the document that was run.
    pub(crate) version: i32,
    /// Whether every line is right.
    pub(crate) is_right: bool,
    /// Its faults, at their places in the document.
    pub(crate) faults: Vec<Diagnostic>,
    /// What was given to FileCheck, and with which options.
    pub(crate) outputs: Vec<(Options, String)>,
    /// The files that the run made; they stay as long as the result.
    pub(crate) scratch: Option<Arc<compile::Scratch>>,
}
