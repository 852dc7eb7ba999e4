//! Checks of guarded memory: a dispatch must not read what nothing has written, nor write what it
//! does not declare.
//!
//! The checks work per dispatch, for bytecode and machine code alike. Before a dispatch, what it
//! reads is searched for the poison of fresh memory ([`hal::unwritten_bytes`], `guarded_reads`).
//! After it, the memory of its bindings, and the slack around all buffers, is compared with the
//! contents before. What it may write is known from its operands, if its source lies beside the
//! module; otherwise it may write all of its bindings, and its reads are not known.

use std::ops::Range;
use std::sync::Arc;

use abi::tensor::TensorType;
use debuginfo::OperandAccess;
use hal::ResolvedDispatch;
use vm::{Buffer, FrameIndex};

use crate::machine::Machine;
use crate::tensor::TensorView;

/// The contents of memory before a dispatch.
#[derive(Debug)]
pub(super) struct GuardedMemory {
    /// The allocations of its bindings, with their bytes.
    allocations: Vec<(Arc<Buffer>, Vec<u8>)>,
    /// The addresses that it may write.
    writable: Vec<Range<usize>>,
}

impl GuardedMemory {
    /// Reads memory before a dispatch.
    pub(super) fn before(machine: &Machine, dispatch: &ResolvedDispatch) -> Self {
        let mut allocations: Vec<(Arc<Buffer>, Vec<u8>)> = Vec::new();
        for buffer in &dispatch.buffers {
            let storage = buffer.allocation().storage();
            if allocations.iter().all(|(known, _)| known.address() != storage.address()) {
                allocations.push((storage.clone(), storage.read(0, storage.len())));
            }
        }
        Self { allocations, writable: writable(machine, dispatch) }
    }

    /// A write of the dispatch outside what it may write, in a sentence.
    pub(super) fn stray_write(&self, machine: &Machine, name: &str) -> Option<String> {
        if let Some((address, offset)) = machine.program.host().device().allocator().take_damage() {
            let side = if offset < 0 { "before" } else { "after" };
            let text = format!(
                "dispatch @{name} wrote outside of a buffer{}, {} bytes {side} its start{}",
                buffer_text(machine, address),
                offset.unsigned_abs(),
                at_place(machine)
            );
            return Some(text);
        }
        self.allocations.iter().find_map(|(storage, old)| {
            let start = storage.address().addr();
            let now = storage.read(0, storage.len());
            let is_stray = |offset: &usize| {
                let address = start + offset;
                !self.writable.iter().any(|range| range.contains(&address))
            };
            let changed = (0..old.len()).filter(|offset| now[*offset] != old[*offset]);
            let stray: Vec<usize> = changed.filter(is_stray).collect();
            let first = *stray.first()?;
            Some(format!(
                "dispatch @{name} wrote {} bytes that it does not declare, the first {first} bytes \
                 into {}{}",
                stray.len(),
                name_of_memory(machine, start, first),
                at_place(machine)
            ))
        })
    }
}

/// The addresses that a dispatch may write.
fn writable(machine: &Machine, dispatch: &ResolvedDispatch) -> Vec<Range<usize>> {
    let mut writable = Vec::new();
    let operands = machine.operands(dispatch);
    for (index, buffer) in dispatch.buffers.iter().enumerate() {
        let storage = buffer.storage();
        let start = storage.address().addr();
        let whole = start..start + storage.len();
        let here = || operands.iter().filter(|(operand, _)| operand.binding == index);
        let ranges: Option<Vec<Range<usize>>> = here()
            .filter(|(operand, _)| operand.access != OperandAccess::Read)
            .map(|(_, tensor)| addresses(tensor.as_ref()?))
            .collect();
        match ranges.filter(|_| here().next().is_some()) {
            Some(ranges) => writable.extend(ranges),
            // The contents of the binding, or their size, are not known.
            None => writable.push(whole),
        }
    }
    writable
}

/// The allocation at an address, with the binding that contains the address, if any.
fn name_of_memory(machine: &Machine, start: usize, offset: usize) -> String {
    let dispatch = machine.dispatch(FrameIndex(0));
    let binding = dispatch.and_then(|dispatch| {
        dispatch.buffers.iter().position(|buffer| {
            let storage = buffer.storage();
            let first = storage.address().addr();
            (first..first + storage.len()).contains(&(start + offset))
        })
    });
    let allocation = format!("an allocation{}", buffer_text(machine, start));
    binding.map_or(allocation.clone(), |index| {
        format!("{allocation}, in binding[{index}], which it only reads there")
    })
}

/// The number and origin of the allocation at an address.
fn buffer_text(machine: &Machine, address: usize) -> String {
    let live = machine.program.host().device().allocator().live();
    let found = live.iter().find(|live| live.allocation.storage().address().addr() == address);
    found.map_or_else(String::new, |live| {
        let bytes = live.allocation.storage().len();
        format!(" (#{}, {bytes} bytes by {})", live.number, live.origin)
    })
}

/// The place of the dispatch, at the end of a sentence.
pub(super) fn at_place(machine: &Machine) -> String {
    let place = machine.dispatch_place(FrameIndex(0));
    place.map_or_else(String::new, |place| format!(", {place}"))
}

/// The addresses of a tensor's bytes.
fn addresses(tensor: &TensorView) -> Option<Range<usize>> {
    let start = tensor.buffer().address().addr();
    Some(start..start + byte_length(tensor.tensor_type())?)
}

fn byte_length(tensor_type: &TensorType) -> Option<usize> {
    tensor_type.byte_length(usize::MAX).ok()
}
