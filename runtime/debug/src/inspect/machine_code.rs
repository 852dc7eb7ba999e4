//! Machine code that stopped inside a workgroup: its registers, and the element that it accessed.
//!
//! Line numbers would not help here: the line tables of iree-compile give every instruction of a
//! dispatch the line of the function that the dispatch was taken from. The frame shows the line of
//! the dispatch's operation instead.

use hal::MachineState;
use hal::QueueActivity;
use trap::Access;
use vm::FrameIndex;

use super::dispatch::DispatchUse;
use crate::machine::Machine;
use crate::tensor::TensorView;
use crate::view::variable::Variable;

impl Machine {
    /// The state of stopped machine code, for a frame of its dispatch.
    pub(crate) fn machine_state(&self, frame: FrameIndex) -> Option<&MachineState> {
        self.queue_activity(frame).and_then(QueueActivity::machine_state)
    }

    /// The processor's registers when machine code stopped.
    pub(crate) fn machine_registers(&self, frame: FrameIndex) -> Vec<Variable> {
        let Some(machine) = self.machine_state(frame) else { return Vec::new() };
        let registers = machine.registers.general.iter();
        let registers = registers.map(|(name, value)| Variable {
            bits: Some(*value),
            ..Variable::plain(format!("${name}"), format!("{value:#x}"), "i64")
        });
        registers.collect()
    }

    /// The element at the address for which a dispatch failed:
    /// `; that would be element 90 of operand[0] : 16xf32`. The text names every tensor that the
    /// dispatch may access in that way, as only the code knows which one it meant.
    pub(crate) fn faulting_elements(&self) -> Option<String> {
        /// A longer list is no help.
        const MOST: usize = 3;
        let frame = FrameIndex(0);
        let fault = self.machine_state(frame)?.fault?;
        let address = fault.address?;
        let by = match fault.access {
            Some(Access::Write) => DispatchUse::Writing,
            _ => DispatchUse::Reading,
        };
        let operands = self.operands_used(&self.dispatch(frame)?, by).into_iter();
        let elements = operands.filter_map(|(index, tensor)| {
            let element = element_at(&tensor, address)?;
            Some(format!("element {element} of operand[{index}] : {}", tensor.tensor_type()))
        });
        let elements: Vec<String> = elements.collect();
        let is_useful = (1..=MOST).contains(&elements.len());
        is_useful.then(|| format!("; that would be {}", elements.join(", or ")))
    }
}

/// The index of the element at an address if a contiguous tensor had no end; `None` before the
/// tensor or between two elements.
fn element_at(tensor: &TensorView, address: usize) -> Option<usize> {
    let element = tensor.tensor_type().element_type;
    let offset = address.checked_sub(tensor.buffer().address().addr())?;
    let size = element.byte_count();
    (size > 0 && !element.is_packed() && offset.is_multiple_of(size)).then(|| offset / size)
}
