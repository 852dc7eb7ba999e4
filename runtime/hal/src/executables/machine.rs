//! Machine code that stopped in the middle of a workgroup: where, with which registers, and why.

use trap::{Fault, FaultKind, Registers};
use vm::{Status, StatusCode};

use super::dispatch::Dispatch;

/// Where machine code stopped.
#[derive(Clone, Debug)]
pub struct MachineState {
    /// The number of the workgroup, where x varies fastest.
    pub(crate) workgroup: u64,
    /// The fault, if it stopped for one.
    pub fault: Option<Fault>,
    /// The processor's registers.
    pub registers: Registers,
    /// The program counter as an offset into the executable's code; `None` if it is outside.
    pub(crate) code_offset: Option<usize>,
}

/// Where an address is, in terms of a dispatch's bindings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BindingPlace {
    /// The index of the nearest binding.
    pub(crate) binding: usize,
    /// The length of the binding in bytes.
    pub(crate) length: usize,
    /// The address, relative to the first byte of the binding.
    pub(crate) offset: i128,
}

impl BindingPlace {
    /// The binding that an address is nearest to; `None` if no binding has bytes.
    #[must_use]
    pub(crate) fn nearest(dispatch: &Dispatch, address: usize) -> Option<Self> {
        let places = dispatch.bindings.iter().enumerate().map(|(binding, range)| Self {
            binding,
            length: range.len(),
            offset: address as i128 - range.address().addr() as i128,
        });
        places.filter(|place| place.length > 0).min_by_key(Self::distance)
    }

    /// Bytes between the address and the binding; 0 if it is inside.
    fn distance(&self) -> i128 {
        let after = self.offset - self.length as i128 + 1;
        after.max(-self.offset).max(0)
    }

    /// Where the address is, in words: `64 bytes after binding[1]`.
    #[must_use]
    pub(crate) fn describe(&self) -> String {
        let Self { binding, length, offset } = *self;
        let after = offset - length as i128;
        match offset {
            ..0 => format!("{} bytes before binding[{binding}]", -offset),
            _ if after < 0 => format!("{offset} bytes into binding[{binding}]"),
            _ if after == 0 => format!("at the end of binding[{binding}]"),
            _ => format!("{after} bytes after binding[{binding}]"),
        }
    }
}

/// A fault as the status of a dispatch.
pub(crate) fn explain_fault(fault: &Fault, dispatch: &Dispatch) -> Status {
    let place = fault.address.and_then(|address| BindingPlace::nearest(dispatch, address));
    let place =
        place.map(|place| format!(", {}, which has {} bytes", place.describe(), place.length));
    let code = match fault.kind {
        FaultKind::Memory | FaultKind::Bus => StatusCode::OutOfRange,
        FaultKind::StackOverflow => StatusCode::ResourceExhausted,
        FaultKind::Abort => StatusCode::Aborted,
        FaultKind::SystemCall(_) => StatusCode::PermissionDenied,
        FaultKind::Arithmetic | FaultKind::IllegalInstruction | FaultKind::Trap => {
            StatusCode::Internal
        }
    };
    let place = if fault.kind == FaultKind::StackOverflow { None } else { place };
    Status::new(code, format!("machine code: {fault}{}", place.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_words() {
        let place = |offset| BindingPlace { binding: 1, length: 16, offset }.describe();
        assert_eq!(place(-4), "4 bytes before binding[1]");
        assert_eq!(place(4), "4 bytes into binding[1]");
        assert_eq!(place(16), "at the end of binding[1]");
        assert_eq!(place(80), "64 bytes after binding[1]");
    }
}
