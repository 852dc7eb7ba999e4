//! Reading ref registers, whose operands carry the move bit.

use vmfb::Register;

use crate::errors::Status;
use crate::objects::{Ref, Type, check_type};

/// The index of a ref register.
#[inline(always)]
pub(crate) fn ref_index(register: u16) -> usize {
    usize::from(register & Register::MAX_REF)
}

/// Whether a ref register operand has the move bit: the instruction takes the ref out of it.
#[inline(always)]
pub(crate) fn is_move(register: u16) -> bool {
    register & Register::MOVE_BIT != 0
}

/// The ref in a register, taken out of it if the register has the move bit.
#[inline(always)]
pub(crate) fn read_ref(refs: &mut [Ref], register: u16) -> Ref {
    let source = &mut refs[ref_index(register)];
    if is_move(register) { std::mem::take(source) } else { source.clone() }
}

/// Reads a ref like [`read_ref`] if it is of the type.
#[inline(always)]
pub(crate) fn read_checked_ref(
    refs: &mut [Ref],
    register: u16,
    ref_type: &Type,
) -> Result<Ref, Status> {
    check_type(ref_type, &refs[ref_index(register)])?;
    Ok(read_ref(refs, register))
}
