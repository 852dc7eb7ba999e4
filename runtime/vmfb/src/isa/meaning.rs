//! What each instruction does, in a sentence or two: for hovers and completion.
//!
//! The sentences say what crate `vm` does, which follows IREE's `vm/ops.h`. Each instruction has
//! its own arm, without a `_` for the rest: a new row of [`super::table`] does not compile until it
//! has a sentence here.

use super::table::Op;

impl Op {
    /// What the instruction does.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::GlobalLoadI32
            | Self::GlobalLoadIndirectI32
            | Self::GlobalLoadI64
            | Self::GlobalLoadIndirectI64
            | Self::GlobalLoadRef
            | Self::GlobalLoadIndirectRef
            | Self::GlobalLoadF32
            | Self::GlobalLoadIndirectF32
            | Self::GlobalLoadF64
            | Self::GlobalLoadIndirectF64 => "Reads a global.",
            Self::GlobalStoreI32
            | Self::GlobalStoreIndirectI32
            | Self::GlobalStoreI64
            | Self::GlobalStoreIndirectI64
            | Self::GlobalStoreRef
            | Self::GlobalStoreIndirectRef
            | Self::GlobalStoreF32
            | Self::GlobalStoreIndirectF32
            | Self::GlobalStoreF64
            | Self::GlobalStoreIndirectF64 => "Writes a global.",
            Self::ConstI32Zero | Self::ConstI64Zero | Self::ConstF32Zero | Self::ConstF64Zero => {
                "Zero."
            }
            Self::ConstI32 | Self::ConstI64 | Self::ConstF32 | Self::ConstF64 => "A constant.",
            Self::ConstRefZero => "Null.",
            Self::ConstRefRodata => "A ref to constant bytes of the module.",
            Self::ListAlloc => "Makes an empty list with room for so many elements.",
            Self::ListReserve => "Makes room for so many elements.",
            Self::ListSize => "How many elements a list has.",
            Self::ListResize => "Shortens a list, or lengthens it with zeros or null.",
            Self::ListGetI32
            | Self::ListGetI64
            | Self::ListGetRef
            | Self::ListGetF32
            | Self::ListGetF64 => "Reads an element of a list; an index past the end fails.",
            Self::ListSetI32
            | Self::ListSetI64
            | Self::ListSetRef
            | Self::ListSetF32
            | Self::ListSetF64 => "Changes an element of a list; an index past the end fails.",
            Self::SelectI32
            | Self::SelectI64
            | Self::SelectRef
            | Self::SelectF32
            | Self::SelectF64 => "The first value where the condition is not 0, else the second.",
            Self::SwitchI32
            | Self::SwitchI64
            | Self::SwitchRef
            | Self::SwitchF32
            | Self::SwitchF64 => {
                "The value whose position is the index; the default where there is none."
            }
            Self::AddI32 | Self::AddI64 | Self::AddF32 | Self::AddF64 => {
                "The sum; integers wrap around."
            }
            Self::SubI32 | Self::SubI64 | Self::SubF32 | Self::SubF64 => {
                "The difference; integers wrap around."
            }
            Self::MulI32 | Self::MulI64 | Self::MulF32 | Self::MulF64 => {
                "The product; integers wrap around."
            }
            Self::DivI32S | Self::DivI64S => {
                "The quotient of two integers, read as signed; division by zero fails."
            }
            Self::DivI32U | Self::DivI64U => {
                "The quotient of two integers, read as unsigned; division by zero fails."
            }
            Self::RemI32S | Self::RemI64S => {
                "The remainder of two integers, read as signed; division by zero fails."
            }
            Self::RemI32U | Self::RemI64U => {
                "The remainder of two integers, read as unsigned; division by zero fails."
            }
            Self::FMAI32 | Self::FMAI64 => "`a * b + c`; integers wrap around.",
            Self::NotI32 | Self::NotI64 => "All bits flipped.",
            Self::AndI32 | Self::AndI64 => "Bitwise and.",
            Self::OrI32 | Self::OrI64 => "Bitwise or.",
            Self::XorI32 | Self::XorI64 => "Bitwise xor.",
            Self::ShlI32 | Self::ShlI64 => {
                "The bits shifted left; the amount counts modulo the width."
            }
            Self::ShrI32S | Self::ShrI64S => {
                "The bits shifted right, the sign shifted in; the amount counts modulo the width."
            }
            Self::ShrI32U | Self::ShrI64U => {
                "The bits shifted right, zeros shifted in; the amount counts modulo the width."
            }
            Self::TruncI32I8 | Self::TruncI32I16 => "The low bits, with zeros above them.",
            Self::TruncI64I32 => "The low bits.",
            Self::ExtI8I32S | Self::ExtI16I32S | Self::ExtI32I64S => {
                "Widened with copies of the sign."
            }
            Self::ExtI8I32U | Self::ExtI16I32U | Self::ExtI32I64U => "Widened with zeros.",
            Self::CmpEQI32 | Self::CmpEQI64 => "1 where the first is equal to the second, else 0.",
            Self::CmpNEI32 | Self::CmpNEI64 => {
                "1 where the first is not equal to the second, else 0."
            }
            Self::CmpLTI32S | Self::CmpLTI64S => {
                "1 where the first is less than the second, both read as signed, else 0."
            }
            Self::CmpLTI32U | Self::CmpLTI64U => {
                "1 where the first is less than the second, both read as unsigned, else 0."
            }
            Self::CmpNZI32 | Self::CmpNZI64 => "1 for a value that is not zero, else 0.",
            Self::CmpEQRef => "1 where both refs are the same or both null, else 0.",
            Self::CmpNERef => "1 where the refs differ, else 0.",
            Self::CmpNZRef => "1 for a ref that is not null, else 0.",
            Self::Branch => {
                "Continues in the block, after copying registers to where it expects them."
            }
            Self::CondBranch => {
                "Continues in the first block where the condition is not 0, else in the second."
            }
            Self::Call => "Calls a function of the module or an import.",
            Self::CallVariadic => {
                "Calls a function with lists of operands whose lengths the call gives."
            }
            Self::Return => "Ends the function with these results.",
            Self::Fail => {
                "Ends the invocation with a status code and a message; code 0 does nothing."
            }
            Self::ImportResolved => {
                "1 where an optional import was found when the module was linked, else 0."
            }
            Self::Yield => "Gives control back to the host, which resumes at the block.",
            Self::Trace | Self::Print => {
                "For debugging: does nothing here but release the refs that it is given."
            }
            Self::CondBreak => {
                "For debugging: asks the debugger to stop where the condition is not 0, then \
                 continues in the block."
            }
            Self::Break => "For debugging: asks the debugger to stop, then continues in the block.",
            Self::BufferLoadI8U | Self::BufferLoadI16U => {
                "Reads an element, widened with zeros; an offset past the end fails. The offset \
                 counts elements."
            }
            Self::BufferLoadI8S | Self::BufferLoadI16S => {
                "Reads an element, widened with copies of the sign; an offset past the end \
                 fails. The offset counts elements."
            }
            Self::BufferLoadI32
            | Self::BufferLoadI64
            | Self::BufferLoadF32
            | Self::BufferLoadF64 => {
                "Reads an element; an offset past the end fails. The offset counts elements."
            }
            Self::BufferStoreI8
            | Self::BufferStoreI16
            | Self::BufferStoreI32
            | Self::BufferStoreI64
            | Self::BufferStoreF32
            | Self::BufferStoreF64 => {
                "Writes an element; an offset past the end fails. The offset counts elements."
            }
            Self::BufferAlloc => "Makes a buffer of zeros.",
            Self::BufferClone => {
                "Copies a range of a buffer into a new one; a range past the end fails."
            }
            Self::BufferLength => "How many bytes a buffer has.",
            Self::BufferCopy => "Copies a range of bytes; a range past the end fails.",
            Self::BufferCompare => {
                "1 where two ranges hold the same bytes, else 0; a range past the end fails."
            }
            Self::BufferFillI8
            | Self::BufferFillI16
            | Self::BufferFillI32
            | Self::BufferFillI64
            | Self::BufferFillF32
            | Self::BufferFillF64 => {
                "Fills elements with one value; a range past the end fails. Offset and length \
                 count elements."
            }
            Self::CtlzI32 | Self::CtlzI64 => "The count of zero bits before the highest one bit.",
            Self::AbsI32 | Self::AbsI64 | Self::AbsF32 | Self::AbsF64 => "The absolute value.",
            Self::Block => "Marks the start of a block.",
            Self::MinI32S | Self::MinI64S => "The smaller of two integers, read as signed.",
            Self::MinI32U | Self::MinI64U => "The smaller of two integers, read as unsigned.",
            Self::MaxI32S | Self::MaxI64S => "The larger of two integers, read as signed.",
            Self::MaxI32U | Self::MaxI64U => "The larger of two integers, read as unsigned.",
            Self::CastAnyRef => {
                "The same ref as one of the type; fails where the object is of another type."
            }
            Self::BranchTable => {
                "Continues in the block whose position is the index; in the default where there \
                 is none."
            }
            Self::BufferHash => "The SipHash-2-4 of a range of bytes; a range past the end fails.",
            Self::DiscardRefs => "Releases refs before their registers are written again.",
            Self::AssignRef => "Copies a ref to another register.",
            Self::CallYieldable => {
                "Calls a function that may yield; the caller continues in the block."
            }
            Self::CallVariadicYieldable => {
                "Calls a function that may yield, with lists of operands; the caller continues \
                 in the block."
            }
            Self::DivF32 | Self::DivF64 => "The quotient.",
            Self::RemF32 | Self::RemF64 => {
                "The remainder of the quotient rounded to nearest (IEEE 754)."
            }
            Self::FMAF32 | Self::FMAF64 => {
                "`a * b + c`, rounded after the product and after the sum."
            }
            Self::NegF32 | Self::NegF64 => "The value with the opposite sign.",
            Self::CeilF32 | Self::CeilF64 => "Rounded towards positive infinity.",
            Self::FloorF32 | Self::FloorF64 => "Rounded towards negative infinity.",
            Self::CastSI32F32 | Self::CastSI64F32 | Self::CastSI32F64 | Self::CastSI64F64 => {
                "The integer as a float, rounded to nearest; it is read as signed."
            }
            Self::CastUI32F32 | Self::CastUI64F32 | Self::CastUI32F64 | Self::CastUI64F64 => {
                "The integer as a float, rounded to nearest; it is read as unsigned."
            }
            Self::CastF32SI32
            | Self::CastF32UI32
            | Self::RoundF32
            | Self::CastF32SI64
            | Self::CastF32UI64
            | Self::CastF64SI32
            | Self::CastF64UI32
            | Self::CastF64SI64
            | Self::CastF64UI64
            | Self::RoundF64 => "Rounded to the nearest integer, halves away from zero.",
            Self::BitcastI32F32
            | Self::BitcastF32I32
            | Self::BitcastI64F64
            | Self::BitcastF64I64 => "The same bits as a value of the other type.",
            Self::AtanF32 | Self::AtanF64 => "The arctangent.",
            Self::Atan2F32 | Self::Atan2F64 => {
                "The arctangent of the first divided by the second, in the quadrant of the point."
            }
            Self::CosF32 | Self::CosF64 => "The cosine.",
            Self::SinF32 | Self::SinF64 => "The sine.",
            Self::ExpF32 | Self::ExpF64 => "The exponential.",
            Self::Exp2F32 | Self::Exp2F64 => "2 to the power of the value.",
            Self::ExpM1F32 | Self::ExpM1F64 => "The exponential minus 1.",
            Self::LogF32 | Self::LogF64 => "The natural logarithm.",
            Self::Log10F32 | Self::Log10F64 => "The logarithm to base 10.",
            Self::Log1pF32 | Self::Log1pF64 => "The natural logarithm of the value plus 1.",
            Self::Log2F32 | Self::Log2F64 => "The logarithm to base 2.",
            Self::PowF32 | Self::PowF64 => "The first to the power of the second.",
            Self::FPowIF32 | Self::FPowIF64 => {
                "The first to the power of the second, of which the low 32 bits count, by repeated \
                 products."
            }
            Self::RsqrtF32 | Self::RsqrtF64 => "The reciprocal of the square root.",
            Self::SqrtF32 | Self::SqrtF64 => "The square root.",
            Self::TanhF32 | Self::TanhF64 => "The hyperbolic tangent.",
            Self::ErfF32 | Self::ErfF64 => "The error function.",
            Self::CmpEQF32O | Self::CmpEQF64O => {
                "1 where both are equal, else 0; a NaN equals nothing."
            }
            Self::CmpEQF32U | Self::CmpEQF64U => {
                "1 where the first is equal to the second or either is a NaN, else 0."
            }
            Self::CmpNEF32O | Self::CmpNEF64O => {
                "1 where the two differ, else 0; a NaN differs from everything."
            }
            Self::CmpNEF32U | Self::CmpNEF64U => {
                "1 where the first is not equal to the second or either is a NaN, else 0."
            }
            Self::CmpLTF32O | Self::CmpLTF64O => {
                "1 where the first is less than the second, else 0; with a NaN 0."
            }
            Self::CmpLTF32U | Self::CmpLTF64U => {
                "1 where the first is less than the second or either is a NaN, else 0."
            }
            Self::CmpLTEF32O | Self::CmpLTEF64O => {
                "1 where the first is less than or equal to the second, else 0; with a NaN 0."
            }
            Self::CmpLTEF32U | Self::CmpLTEF64U => {
                "1 where the first is less than or equal to the second or either is a NaN, else 0."
            }
            Self::CmpNaNF32 | Self::CmpNaNF64 => "1 for a NaN, else 0.",
            Self::MinF32 | Self::MinF64 => {
                "The smaller of two floats; a NaN counts only as the first."
            }
            Self::MaxF32 | Self::MaxF64 => {
                "The larger of two floats; a NaN counts only as the first."
            }
            Self::RoundF32Even | Self::RoundF64Even => {
                "Rounded to the nearest integer, halves to even."
            }
            Self::TruncF64F32 => "Rounded to the nearest f32.",
            Self::ExtF32F64 => "Widened without loss.",
        }
    }
}
