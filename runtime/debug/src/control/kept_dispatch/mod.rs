//! What is kept of a dispatch so that it can run again: the memory that it overwrites, as that was
//! before it, what the user has written by hand since it began, and what it has left.
//!
//! Memory before the dispatch comes from the journal of what commands overwrite (`hal`), before a
//! change by hand makes that forget the past. Where the journal has it not, a dispatch that reads
//! nothing of what it writes needs nothing to be put back.

pub(crate) mod outcome;
pub(super) mod take_back;

use std::ops::Range;
use std::sync::Arc;

use debuginfo::OperandAccess;
use hal::{CommandRecord, PastLost, Span, Work};
use vm::{Access, Buffer, FrameIndex};

use crate::control::by_hand::{HandWrite, NotWrittenAgain};
use crate::inspect::dispatch::DispatchPlace;
use crate::machine::Machine;
use crate::target::dispatch_memory::DispatchMemory;
use crate::tensor::TensorView;

/// A dispatch that has begun, and can run again.
#[derive(Debug)]
pub(crate) struct KeptDispatch {
    /// The number of its command.
    pub(super) number: u64,
    /// What it overwrites, as that was before it.
    before: Result<Vec<KeptBytes>, PastLost>,
    /// What the user has written since it began, in order.
    by_hand: Vec<HandWrite>,
    /// What it had left when it ended last; none until something is about to change that.
    pub(super) left: Option<Left>,
    /// Whether it is to be compared with that when it ends.
    pub(super) runs_again: bool,
}

/// What a dispatch had left.
#[derive(Debug)]
pub(super) struct Left {
    /// The tensors that it may write, as they were,
    pub(super) tensors: Vec<LeftTensor>,
    /// and all memory that it may write.
    pub(super) memory: Vec<KeptBytes>,
}

#[derive(Debug)]
pub(super) struct LeftTensor {
    pub(super) place: DispatchPlace,
    /// What it is called.
    pub(super) name: String,
    /// A copy.
    pub(super) tensor: TensorView,
}

/// Bytes that a part of memory had.
#[derive(Debug)]
pub(super) struct KeptBytes {
    memory: Arc<Buffer>,
    bytes: Vec<u8>,
}

impl KeptBytes {
    /// The bytes of memory that something may write.
    fn of_span(span: &Span, bytes: Vec<u8>) -> Result<Self, PastLost> {
        Ok(Self { memory: span.bytes().ok_or(PastLost::Released)?, bytes })
    }

    fn now(span: &Span) -> Option<Self> {
        let memory = span.bytes()?;
        let bytes = memory.read(0, memory.len());
        Some(Self { memory, bytes })
    }

    /// Whether memory holds other bytes now, at an address that is in none of these ranges.
    pub(super) fn differs_outside(&self, ranges: &[Range<usize>]) -> bool {
        let now = self.memory.read(0, self.bytes.len());
        let start = self.memory.address() as usize;
        let mut differing = (0..self.bytes.len()).filter(|at| now.get(*at) != self.bytes.get(*at));
        differing.any(|at| !ranges.iter().any(|range| range.contains(&(start + at))))
    }
}

impl KeptDispatch {
    /// What there is to keep of a dispatch that has begun.
    pub(super) fn new(machine: &Machine, record: &CommandRecord) -> Self {
        Self {
            number: record.number,
            before: overwritten(machine, record),
            by_hand: Vec::new(),
            left: None,
            runs_again: false,
        }
    }

    /// The user has written something since it began.
    pub(super) fn note(&mut self, write: HandWrite) {
        self.by_hand.push(write);
    }

    /// Whether the user has.
    pub(super) fn is_changed(&self) -> bool {
        !self.by_hand.is_empty()
    }

    /// Why it is not known what it has overwritten, if it is not.
    pub(super) fn why_lost(&self) -> Option<PastLost> {
        self.before.as_ref().err().copied()
    }

    /// Makes memory what it was before the dispatch.
    ///
    /// # Errors
    /// Memory cannot be written.
    pub(super) fn put_back(&self) -> Result<(), NotWrittenAgain> {
        for KeptBytes { memory, bytes } in self.before.iter().flatten() {
            if memory.read(0, bytes.len()) != *bytes {
                let written = memory.write(0, bytes);
                written.map_err(|status| NotWrittenAgain::Tensor(status.into()))?;
            }
        }
        Ok(())
    }

    /// Writes again what the user has written since it began.
    ///
    /// # Errors
    /// Memory cannot be written.
    pub(super) fn set_again(&self) -> Result<(), NotWrittenAgain> {
        self.by_hand.iter().try_for_each(HandWrite::again)
    }
}

impl Left {
    /// What the dispatch has left that has just run.
    pub(super) fn now(machine: &Machine, record: &CommandRecord) -> Self {
        let frame = FrameIndex(0);
        let dispatch = machine.dispatch(frame);
        let tensors = dispatch.iter().flat_map(|dispatch| {
            let names = machine.known_operands(frame, dispatch);
            let written = machine.written_tensors(dispatch).into_iter();
            let named = written.filter_map(|(place, tensor)| {
                let name = place.of(&names).map_or_else(|| place.to_string(), |it| it.name.clone());
                Some(LeftTensor { place, name, tensor: tensor.kept().ok()? })
            });
            named.collect::<Vec<_>>()
        });
        let tensors = tensors.collect();
        let memory = memory_of(machine, record).map(|it| it.written).unwrap_or_default();
        Self { tensors, memory: memory.iter().filter_map(KeptBytes::now).collect() }
    }
}

/// Whether a dispatch has tensors in an order of elements of the machine's own: which memory these
/// take, its text does not say.
fn has_encoded(machine: &Machine, record: &CommandRecord) -> bool {
    let Work::Dispatch(dispatch) = &record.work else { return false };
    let export = dispatch.export();
    let interface = export.and_then(|it| machine.program.dispatch_interface(&it.name));
    let encoded = interface.and_then(|it| it.encoded(&dispatch.constants));
    encoded.is_none_or(|it| !it.is_empty())
}

fn memory_of(machine: &Machine, record: &CommandRecord) -> Option<DispatchMemory> {
    let Work::Dispatch(dispatch) = &record.work else { return None };
    let interface = machine.program.dispatch_interface(&dispatch.export()?.name);
    Some(DispatchMemory::of(interface, dispatch))
}

/// What a dispatch overwrites, as that was before it; nothing, if it needs nothing of that.
fn overwritten(machine: &Machine, record: &CommandRecord) -> Result<Vec<KeptBytes>, PastLost> {
    let memory = memory_of(machine, record).ok_or(PastLost::NotKept)?;
    let has_encoded = has_encoded(machine, record);
    let written = memory.written.iter().filter(|span| {
        let bytes = span.bytes();
        bytes.is_none_or(|it| it.access() == Access::ReadWrite)
    });
    let before = written.map(|span| {
        let past = span.bytes_at(record.journal.start)?;
        let bytes = if past.is_certain { past.bytes } else { span.bytes_before(record)? };
        KeptBytes::of_span(span, bytes)
    });
    let before: Result<Vec<KeptBytes>, PastLost> = before.collect();
    match before {
        Err(_) if !has_encoded && !may_read_what_it_writes(&memory) => Ok(Vec::new()),
        before => before,
    }
}

/// Whether a dispatch may read memory that it writes.
fn may_read_what_it_writes(memory: &DispatchMemory) -> bool {
    let addresses = |span: &Span| {
        let bytes = span.bytes()?;
        let start = bytes.address() as usize;
        Some(start..start + bytes.len())
    };
    let written: Option<Vec<Range<usize>>> = memory.written.iter().map(addresses).collect();
    let Some(written) = written.filter(|_| memory.is_whole) else { return true };
    memory.operands.iter().zip(&memory.spans).any(|(operand, span)| match operand.access {
        OperandAccess::ReadWrite => true,
        OperandAccess::Write => false,
        OperandAccess::Read => span
            .as_ref()
            .and_then(addresses)
            .is_none_or(|read| written.iter().any(|it| it.start < read.end && read.start < it.end)),
    })
}
