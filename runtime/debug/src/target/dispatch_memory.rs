//! Which memory a dispatch reads and writes, by its text.

use std::sync::Arc;

use abi::tensor::TensorType;
use debuginfo::{DispatchInterface, DispatchInterfaces, DispatchOperand, OperandAccess};
use hal::{DispatchTexts, PastDispatch, Span};

/// The memory of a dispatch.
pub(crate) struct DispatchMemory {
    /// Its tensors.
    pub(crate) operands: Vec<DispatchOperand>,
    /// The memory of each.
    pub(crate) spans: Vec<Option<Span>>,
    /// Whether that is all of its memory.
    pub(crate) is_whole: bool,
    /// Everything that it may write.
    pub(crate) written: Vec<Span>,
}

/// The texts of all dispatches of a program.
pub(crate) struct ProgramTexts(Vec<Arc<DispatchInterfaces>>);

impl DispatchMemory {
    /// By the interface of the dispatch's text, if there is one.
    pub(crate) fn of(interface: Option<&DispatchInterface>, dispatch: &PastDispatch) -> Self {
        let operands = interface.map(|it| it.operands(&dispatch.constants)).unwrap_or_default();
        let spans: Vec<Option<Span>> = operands
            .iter()
            .map(|operand| {
                let length = byte_length(&operand.tensor_type)?;
                let offset = usize::try_from(operand.offset).ok()?;
                dispatch.bindings.get(operand.binding)?.part(offset, length)
            })
            .collect();
        let encoded = interface.and_then(|it| it.encoded(&dispatch.constants));
        // How long an encoded tensor is, its dispatch does not say: it may be all of the rest.
        let encoded: Option<Vec<Span>> = encoded.and_then(|all| {
            let written = all.into_iter().filter(|it| is_written(it.access));
            let rest = written.map(|it| {
                let binding = dispatch.bindings.get(it.binding)?;
                let offset = usize::try_from(it.offset).ok()?;
                binding.part(offset, binding.range().len().checked_sub(offset)?)
            });
            rest.collect()
        });
        let is_whole = interface.is_some_and(|it| it.tensor_count() == operands.len())
            && spans.iter().all(Option::is_some)
            && encoded.is_some();
        let written = if is_whole {
            let written = operands.iter().zip(&spans).filter(|(it, _)| is_written(it.access));
            let written = written.filter_map(|(_, span)| span.clone());
            written.chain(encoded.unwrap_or_default()).collect()
        } else {
            // What it has written is not known: it may be everything that it could.
            dispatch.bindings.clone()
        };
        Self { operands, spans, is_whole, written }
    }
}

impl ProgramTexts {
    /// The texts of a program's modules.
    pub(crate) fn new(modules: impl Iterator<Item = Arc<DispatchInterfaces>>) -> Self {
        Self(modules.collect())
    }
}

impl DispatchTexts for ProgramTexts {
    fn written(&self, dispatch: &PastDispatch) -> Vec<Span> {
        let export = dispatch.export().map(|export| export.name.as_str()).unwrap_or_default();
        let interface = self.0.iter().find_map(|module| module.of(export));
        DispatchMemory::of(interface, dispatch).written
    }
}

/// Whether a dispatch writes a tensor.
pub(crate) fn is_written(access: OperandAccess) -> bool {
    access != OperandAccess::Read
}

fn byte_length(tensor_type: &str) -> Option<usize> {
    TensorType::parse(tensor_type).ok()?.byte_length(usize::MAX).ok()
}
