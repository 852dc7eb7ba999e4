//! The texts that the program of tensors is read from.

use std::sync::Arc;

use super::names;
use super::program::TensorProgram;
use super::reader::{self, FlowText};
use super::reference::Reference;
use crate::dispatches::DispatchInterfaces;
use crate::source::SourceText;

/// The texts of one compilation.
pub struct TensorSources<'t> {
    /// The phase `flow`, printed with `--mlir-print-debuginfo`.
    pub flow: &'t str,
    /// The phase `input`. Without it, names are only known of sources in the dialects `linalg`,
    /// `tensor`, `arith` and `math`.
    pub input: Option<&'t str>,
    /// What each call of a dispatch stands for.
    pub dispatches: &'t DispatchInterfaces,
    /// The user's source by the name of its file, as the compiler wrote it.
    pub file: &'t dyn Fn(&str) -> Option<Arc<SourceText>>,
}

impl TensorProgram {
    /// Reads the program, and proves which of its values are which tensors of the source. A text
    /// of another kind is an empty program.
    #[must_use]
    pub fn parse(sources: &TensorSources<'_>) -> Self {
        let read = FlowText::read(sources.flow);
        let mut program = reader::program(&read);
        let file = program.first_file();
        let own = file.as_deref().and_then(sources.file);
        let reference = match (sources.input, &own, &file) {
            (Some(input), ..) => Some(Reference::new(input, None, sources.file)),
            (None, Some(own), Some(file)) => {
                Some(Reference::new(own.text(), Some(file), sources.file))
            }
            _ => None,
        };
        if let Some(mut reference) = reference {
            names::prove(&mut program, &read, &mut reference, sources.dispatches);
        }
        program
    }

    /// The file that the first dispatch comes from.
    pub(super) fn first_file(&self) -> Option<String> {
        let mut places = self.dispatches().filter_map(|(_, it)| it.chains.first()?.last());
        Some(places.next()?.file.clone())
    }
}
