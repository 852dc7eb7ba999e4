//! Tensors of the source by name, wherever the program stands.

use debuginfo::{MissingReason, ScopedValue};

use crate::expression::Datum;
use crate::machine::Machine;
use crate::view::frame::FrameId;

impl Machine {
    /// The tensor that a name of the source stands for in a frame, or why there is none.
    pub(crate) fn source_tensor(
        &self,
        _frame: FrameId,
        _value: &ScopedValue,
    ) -> Result<Datum, String> {
        Err(MissingReason::Tensor.text().to_owned())
    }
}
