//! What a dispatch reads of guarded memory, checked before it runs: bytes that nothing has written,
//! and elements outside of their tensor.
//!
//! What it reads is what its text loads. An index that its text computes from data, as that of a
//! row of a table, may lead outside of the table and yet into the same buffer: constants lie side
//! by side. The evaluator of the text knows the bounds, so such a dispatch is evaluated.

use abi::tensor::TensorType;
use debuginfo::{AxisRange, DispatchInterface, OperandReads};
use hal::ResolvedDispatch;

use super::guarded_memory::at_place;
use crate::machine::Machine;
use crate::opinion::Opinions;
use crate::tensor::TensorView;

/// A dispatch that would take more scalar operations is not evaluated.
const MOST_OPERATIONS: u64 = 20_000_000;

/// More parts of a tensor that lie apart are not searched one by one, but as the range around all.
const MOST_RUNS: usize = 1 << 16;

/// The check of indices.
#[derive(Default)]
pub(super) struct IndexCheck {
    /// The texts of all dispatches.
    opinions: Option<Opinions<'static>>,
}

impl std::fmt::Debug for IndexCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexCheck").finish_non_exhaustive()
    }
}

impl IndexCheck {
    /// An element outside of a tensor that the dispatch is about to read, in a sentence.
    pub(super) fn outside(
        &mut self,
        machine: &Machine,
        dispatch: &ResolvedDispatch,
        name: &str,
    ) -> Option<String> {
        let interface = interface_of(machine, dispatch)?;
        if !interface.indexes_by_data() {
            return None;
        }
        let standing = machine.standing_dispatch()?;
        let opinions = self
            .opinions
            .get_or_insert_with(|| Opinions::read(&machine.program.flow_texts(), MOST_OPERATIONS));
        let question = opinions.question(&machine.program, &standing).ok()?;
        let outside = opinions.answer(&question).err()?.outside?;
        Some(format!("dispatch @{name} reads outside of a tensor: {outside}{}", at_place(machine)))
    }
}

/// The operands of a dispatch, as its text declares them.
fn interface_of<'m>(
    machine: &'m Machine,
    dispatch: &ResolvedDispatch,
) -> Option<&'m DispatchInterface> {
    let export = dispatch.executable.exports().get(dispatch.dispatch.export)?;
    machine.program.dispatch_interface(&export.name)
}

/// An operand that a dispatch reads and of which nothing has written some part, in a sentence.
pub(super) fn unwritten_operand(
    machine: &Machine,
    dispatch: &ResolvedDispatch,
    name: &str,
) -> Option<String> {
    let interface = interface_of(machine, dispatch)?;
    let reads = interface.reads(&dispatch.dispatch.constants);
    let operands = machine.operands(dispatch).into_iter().zip(reads).enumerate();
    let mut read =
        operands.filter_map(|(index, ((_, tensor), reads))| Some((index, tensor?, reads)));
    let (index, Unwritten { count, of, first }, tensor) =
        read.find_map(|(index, tensor, reads)| {
            Some((index, Unwritten::of(&tensor, &reads)?, tensor))
        })?;
    let TensorType { element_type, .. } = tensor.tensor_type();
    let element = first.checked_div(element_type.byte_count());
    let at = element.and_then(|element| tensor.index_text(element));
    let at = at.map_or_else(String::new, |at| format!(", the first at [{at}]"));
    let whole = byte_length(tensor.tensor_type()) == Some(of);
    let of =
        if whole { format!("its {of} bytes") } else { format!("the {of} bytes that it loads") };
    Some(format!(
        "dispatch @{name} reads operand[{index}] : {}, and nothing has written {count} of {of}{at}{}",
        tensor.tensor_type(),
        at_place(machine)
    ))
}

/// Bytes that a dispatch reads and nothing has written.
struct Unwritten {
    count: usize,
    /// How many it reads.
    of: usize,
    /// The first, from the begin of the tensor.
    first: usize,
}

impl Unwritten {
    fn of(tensor: &TensorView, reads: &OperandReads) -> Option<Self> {
        let length = byte_length(tensor.tensor_type())?;
        let runs = match reads {
            OperandReads::Any => vec![(0, length)],
            OperandReads::Parts(parts) => {
                parts.iter().flat_map(|part| runs(tensor, length, part)).collect()
            }
        };
        let mut found: Option<Self> = None;
        for (start, length) in &runs {
            let Some((count, first)) = hal::unwritten_bytes(tensor.buffer(), *start, *length)
            else {
                continue;
            };
            let first = start + first;
            let it = found.get_or_insert(Self { count: 0, of: 0, first });
            (it.count, it.first) = (it.count + count, it.first.min(first));
        }
        let of = runs.iter().map(|(_, length)| length).sum();
        found.map(|it| Self { of, ..it })
    }
}

/// The bytes of a part of a tensor: where runs of them begin, and how long they are.
fn runs(tensor: &TensorView, length: usize, part: &[AxisRange]) -> Vec<(usize, usize)> {
    let shape = tensor.shape();
    let size = tensor.element_width();
    let is_inside = |(axis, all): (&AxisRange, &u64)| {
        let last = axis.count.checked_sub(1)?.checked_mul(axis.step)?.checked_add(axis.start)?;
        (last < *all).then_some(())
    };
    if tensor.is_packed()
        || part.len() != shape.len()
        || part.iter().zip(shape).any(|it| is_inside(it).is_none())
    {
        // Nothing is read, or it is not clear what.
        return Vec::new();
    }
    // The innermost axes that are read as a whole follow each other without gaps.
    let mut inner = shape.len();
    let mut run = size;
    while inner > 0 && part[inner - 1].count == shape[inner - 1] && part[inner - 1].step == 1 {
        inner -= 1;
        run *= shape[inner] as usize;
    }
    let mut starts = vec![0_usize];
    let mut stride = run;
    if let Some(axis) = inner.checked_sub(1).map(|axis| part[axis]) {
        stride = run * shape[inner - 1] as usize;
        if axis.step == 1 {
            starts = vec![axis.start as usize * run];
            run *= axis.count as usize;
        } else {
            starts = axis.indices().map(|index| index * run).collect();
        }
        inner -= 1;
    }
    for (axis, all) in part[..inner].iter().zip(&shape[..inner]).rev() {
        if starts.len().saturating_mul(axis.count as usize) > MOST_RUNS {
            return vec![(0, length)];
        }
        let outer = axis.indices();
        starts = outer.flat_map(|index| starts.iter().map(move |at| at + index * stride)).collect();
        stride *= *all as usize;
    }
    starts.into_iter().map(|start| (start, run)).collect()
}

fn byte_length(tensor_type: &TensorType) -> Option<usize> {
    tensor_type.byte_length(usize::MAX).ok()
}
