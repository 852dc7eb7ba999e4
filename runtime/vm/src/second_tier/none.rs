//! No second tier on this processor: the interpreter runs everything.

use crate::machine::{Cursor, FunctionSlot, Handler, Machine};
use crate::modules::Globals;
use crate::stack::Registers;

/// Compiles nothing.
pub(crate) fn compile_slot(slot: &FunctionSlot, _: &[Globals]) {
    if let Some(code) = slot.code.get() {
        code.compiled.get_or_init(|| None);
    }
}

/// Never called: no function is compiled.
pub(crate) fn enter_compiled(
    _: &mut Machine<'_>,
    _: Cursor,
    _: Registers,
    _: u32,
) -> Option<Handler> {
    None
}
