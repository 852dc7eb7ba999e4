//! What guarded memory tells of dispatches: that they read what nothing has written, and that they
//! write where they do not say.
//!
//! It works at the grain of dispatches, for bytecode and machine code alike. Before a dispatch the
//! tensors that it reads are searched for the poison of fresh memory ([`hal::guard`]); after it the
//! memory that it was bound to, and the slack around all buffers, is compared with what was there
//! before. What it may write is known from its operands where their sources lie beside the module;
//! else it may write all of its bindings, and nothing is known of what it reads.

use std::ops::Range;
use std::sync::Arc;

use abi::tensor::TensorType;
use debuginfo::{DispatchOperand, OperandAccess};
use hal::ResolvedDispatch;
use vm::{BoundaryKind, Buffer, FrameIndex};

use crate::debugger::Debugger;
use crate::program::Program;
use crate::tensor::TensorView;

/// What was in memory before a dispatch.
#[derive(Debug)]
pub(crate) struct GuardedMemory {
    /// The allocations that it was bound to, with their bytes.
    allocations: Vec<(Arc<Buffer>, Vec<u8>)>,
    /// The addresses that it may write.
    writable: Vec<Range<usize>>,
}

impl Program {
    /// Whether it has guarded memory.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.host().device().allocator().is_guarding()
    }
}

impl Debugger {
    /// Whether dispatches are looked at before and after they run.
    pub(crate) fn watches_dispatches(&self) -> bool {
        self.traps().watches_dispatches() || self.program.is_guarded()
    }

    /// Looks at the dispatch at whose boundary the program stands; what it is about to do wrong, or
    /// has done.
    pub(crate) fn guard_dispatch(&mut self, kind: BoundaryKind, name: &str) -> Option<String> {
        if !self.program.is_guarded() || name.is_empty() {
            return None;
        }
        match kind {
            BoundaryKind::BeforePart => None,
            BoundaryKind::BeforeStep => {
                let dispatch = self.dispatch(FrameIndex(0))?;
                self.guarded_memory = Some(self.look_at_memory(&dispatch));
                let text = self.unwritten_operand(&dispatch, name)?;
                self.is_first_catch(name).then_some(text)
            }
            BoundaryKind::AfterStep => {
                let before = self.guarded_memory.take()?;
                let text = self.stray_write(&before, name)?;
                self.is_first_catch(name).then_some(text)
            }
        }
    }

    /// Looks anew at a dispatch before which somebody may have changed memory.
    pub(crate) fn look_at_memory_again(&mut self) {
        if self.guarded_memory.is_some()
            && let Some(dispatch) = self.dispatch(FrameIndex(0))
        {
            self.guarded_memory = Some(self.look_at_memory(&dispatch));
        }
    }

    fn look_at_memory(&self, dispatch: &ResolvedDispatch) -> GuardedMemory {
        let mut allocations: Vec<(Arc<Buffer>, Vec<u8>)> = Vec::new();
        for buffer in &dispatch.buffers {
            let storage = buffer.allocation().storage();
            if allocations.iter().all(|(known, _)| known.address() != storage.address()) {
                allocations.push((storage.clone(), storage.read(0, storage.len())));
            }
        }
        GuardedMemory { allocations, writable: self.writable(dispatch) }
    }

    /// The addresses that a dispatch may write.
    fn writable(&self, dispatch: &ResolvedDispatch) -> Vec<Range<usize>> {
        let mut writable = Vec::new();
        let operands = self.operands(dispatch);
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
                // What is in it is not known, or not its extent.
                None => writable.push(whole),
            }
        }
        writable
    }

    /// A tensor that a dispatch reads and that nothing has written, all or in part.
    fn unwritten_operand(&self, dispatch: &ResolvedDispatch, name: &str) -> Option<String> {
        let operands = self.operands(dispatch).into_iter().enumerate();
        let mut read = operands.filter_map(|(index, (operand, tensor))| {
            let DispatchOperand { access, .. } = operand;
            Some((index, tensor.filter(|_| access != OperandAccess::Write)?))
        });
        let (index, tensor, length, (count, first)) = read.find_map(|(index, tensor)| {
            let length = byte_length(tensor.tensor_type())?;
            let found = hal::unwritten_bytes(tensor.buffer(), 0, length)?;
            Some((index, tensor, length, found))
        })?;
        let TensorType { element_type, .. } = tensor.tensor_type();
        let element = first.checked_div(element_type.byte_count());
        let at = element.and_then(|element| tensor.index_text(element));
        let at = at.map_or_else(String::new, |at| format!(", the first at [{at}]"));
        Some(format!(
            "dispatch @{name} reads operand[{index}] : {}, and nothing has written {count} of its \
             {length} bytes{at}{}",
            tensor.tensor_type(),
            self.at_source()
        ))
    }

    /// What a dispatch has written that it may not.
    fn stray_write(&self, before: &GuardedMemory, name: &str) -> Option<String> {
        if let Some((address, offset)) = self.program.host().device().allocator().take_damage() {
            let side = if offset < 0 { "before" } else { "after" };
            let text = format!(
                "dispatch @{name} wrote outside of a buffer{}, {} bytes {side} its start{}",
                self.buffer_text(address),
                offset.unsigned_abs(),
                self.at_source()
            );
            return Some(text);
        }
        before.allocations.iter().find_map(|(storage, old)| {
            let start = storage.address().addr();
            let now = storage.read(0, storage.len());
            let is_stray = |offset: &usize| {
                let address = start + offset;
                !before.writable.iter().any(|range| range.contains(&address))
            };
            let changed = (0..old.len()).filter(|offset| now[*offset] != old[*offset]);
            let stray: Vec<usize> = changed.filter(is_stray).collect();
            let first = *stray.first()?;
            Some(format!(
                "dispatch @{name} wrote {} bytes that it does not declare, the first {first} bytes \
                 into {}{}",
                stray.len(),
                self.name_of_memory(start, first),
                self.at_source()
            ))
        })
    }

    /// The binding that an address of an allocation is in, else the allocation.
    fn name_of_memory(&self, start: usize, offset: usize) -> String {
        let dispatch = self.dispatch(FrameIndex(0));
        let binding = dispatch.and_then(|dispatch| {
            dispatch.buffers.iter().position(|buffer| {
                let storage = buffer.storage();
                let first = storage.address().addr();
                (first..first + storage.len()).contains(&(start + offset))
            })
        });
        let allocation = format!("an allocation{}", self.buffer_text(start));
        binding.map_or(allocation.clone(), |index| {
            format!("{allocation}, in binding[{index}], which it only reads there")
        })
    }

    /// The number of the allocation at an address.
    fn buffer_text(&self, address: usize) -> String {
        let live = self.program.host().device().allocator().live();
        let found = live.iter().find(|live| live.allocation.storage().address().addr() == address);
        found.map_or_else(String::new, |live| {
            let bytes = live.allocation.storage().len();
            format!(" (#{}, {bytes} bytes by {})", live.number, live.origin)
        })
    }

    fn at_source(&self) -> String {
        let source = self.dispatch_source(FrameIndex(0));
        source.map_or_else(String::new, |it| format!(", {}:{}", it.file, it.line))
    }
}

/// The addresses of a tensor's bytes.
fn addresses(tensor: &TensorView) -> Option<Range<usize>> {
    let start = tensor.buffer().address().addr();
    Some(start..start + byte_length(tensor.tensor_type())?)
}

fn byte_length(tensor_type: &TensorType) -> Option<usize> {
    tensor_type.byte_length(usize::MAX).ok()
}
