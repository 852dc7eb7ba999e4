//! The executable form of instructions: fixed-width, with tables beside them.
//!
//! ```text
//!  0      2      4      6      8                             16
//! +------+------+------+------+------------------------------+
//! | code |  a   |  b   |  c   |             imm              |
//! +------+------+------+------+------------------------------+
//! ```
//!
//! Registers fill `a`, `b`, `c`, then the 16-bit lanes of `imm` from the lowest; pairs are given as
//! pair numbers (half the ordinal). A constant is the whole of `imm`; a global, rodata segment or
//! table index is its low half, a type or second jump target its high half. `translate` makes this
//! form, and `instructions` checks it and adds to each instruction the handler that runs it.
//! `FunctionCode::offset_at` leads back to bytecode.

use vmfb::Op;

macro_rules! codes {
    (
        machine { $($(#[$doc:meta])* $machine:ident,)* }
        same { $($same:ident,)* }
        alias { $($op:ident => $code:ident,)* }
        control { $($control:ident,)* }
    ) => {
        /// What an executable instruction does: bytecode instructions of the same name, and a few
        /// of the machine's own.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub(crate) enum Code { $($(#[$doc])* $machine,)* $($same,)* }

        /// All of them, for tests.
        #[cfg(test)]
        pub(crate) const CODES: &[Code] = &[$(Code::$machine,)* $(Code::$same,)*];

        /// The executable instruction for a bytecode instruction that only moves data; `None` for
        /// the others, which `translate` handles one by one.
        pub(crate) fn straight_line(op: Op) -> Option<Code> {
            match op {
                $(Op::$same => Some(Code::$same),)*
                $(Op::$op => Some(Code::$code),)*
                $(Op::$control)|* => None,
            }
        }
    };
}

codes! {
    machine {
        /// Stops before the instruction that it replaces. Only in copies with breakpoints.
        Breakpoint,
        /// Copies register `a` to `b`.
        CopyI32,
        /// Copies register pair `a` to `b`.
        CopyI64,
        /// The same, of an f32.
        CopyF32,
        /// The same, of an f64.
        CopyF64,
        /// Copies or moves ref `a` to `b`.
        CopyRef,
        /// Looks at fuel and interrupts.
        Poll,
        /// Goes on at `imm`.
        Jump,
        /// The same, backwards: looks at fuel and interrupts.
        JumpBack,
        /// Continues at the low half of `imm` if `a` is not zero, otherwise at the high half.
        CondJump,
        /// The same, possibly backwards.
        CondJumpBack,
        /// Continues where table `imm` says for index `a`.
        JumpTable,
        /// Calls bytecode by call plan `imm`.
        Call,
        /// Calls a native function, or a missing import, by call plan `imm`.
        CallOut,
        /// Returns the registers of list `imm`.
        Return,
        /// Fails with status `a` and text `imm` unless `a` is zero.
        Fail,
        /// Yields; resumes at `imm`.
        Yield,
        /// Asks the debugger to stop; resumes at `imm`.
        Stop,
        /// The same if `a` is not zero.
        CondStop,
        /// Drops the refs of list `imm` that have the move bit.
        DropMoved,
        /// The end, after the last instruction.
        EndOfFunction,
    }
    same {
        Block,
        GlobalLoadI32, GlobalStoreI32, GlobalLoadIndirectI32, GlobalStoreIndirectI32,
        GlobalLoadI64, GlobalStoreI64, GlobalLoadIndirectI64, GlobalStoreIndirectI64,
        GlobalLoadF32, GlobalStoreF32, GlobalLoadIndirectF32, GlobalStoreIndirectF32,
        GlobalLoadF64, GlobalStoreF64, GlobalLoadIndirectF64, GlobalStoreIndirectF64,
        GlobalLoadRef, GlobalStoreRef, GlobalLoadIndirectRef, GlobalStoreIndirectRef,
        ConstI32, ConstI64, ConstF32, ConstF64, ConstRefZero, ConstRefRodata,
        ListAlloc, ListReserve, ListSize, ListResize,
        ListGetI32, ListSetI32, ListGetI64, ListSetI64, ListGetRef, ListSetRef,
        ListGetF32, ListSetF32, ListGetF64, ListSetF64,
        SelectI32, SelectI64, SelectF32, SelectF64, SelectRef, SwitchI32, SwitchI64, SwitchRef,
        AddI32, SubI32, MulI32, DivI32S, DivI32U, RemI32S, RemI32U, FMAI32,
        AddI64, SubI64, MulI64, DivI64S, DivI64U, RemI64S, RemI64U, FMAI64,
        NotI32, AndI32, OrI32, XorI32, NotI64, AndI64, OrI64, XorI64,
        ShlI32, ShrI32S, ShrI32U, ShlI64, ShrI64S, ShrI64U,
        TruncI32I8, TruncI32I16, TruncI64I32,
        ExtI8I32S, ExtI16I32S, ExtI32I64S, ExtI32I64U,
        CmpEQI32, CmpNEI32, CmpLTI32S, CmpLTI32U, CmpNZI32,
        CmpEQI64, CmpNEI64, CmpLTI64S, CmpLTI64U, CmpNZI64,
        CmpEQRef, CmpNERef, CmpNZRef,
        BufferLoadI8U, BufferLoadI8S, BufferLoadI16U, BufferLoadI16S, BufferLoadI32, BufferLoadI64,
        BufferStoreI8, BufferStoreI16, BufferStoreI32, BufferStoreI64,
        BufferLoadF32, BufferLoadF64, BufferStoreF32, BufferStoreF64,
        BufferAlloc, BufferClone, BufferLength, BufferCopy, BufferCompare,
        BufferFillI8, BufferFillI16, BufferFillI32, BufferFillI64, BufferHash,
        CtlzI32, CtlzI64, AbsI32, AbsI64,
        MinI32S, MinI32U, MaxI32S, MaxI32U, MinI64S, MinI64U, MaxI64S, MaxI64U,
        CastAnyRef, DiscardRefs,
        AddF32, SubF32, MulF32, DivF32, RemF32, FMAF32, AbsF32, NegF32, CeilF32, FloorF32,
        CastSI32F32, CastUI32F32, CastF32SI32, CastF32UI32,
        CastSI64F32, CastUI64F32, CastF32SI64, CastF32UI64,
        AtanF32, Atan2F32, CosF32, SinF32, ExpF32, Exp2F32, ExpM1F32, LogF32, Log10F32, Log1pF32,
        Log2F32, PowF32, FPowIF32, RsqrtF32, SqrtF32, TanhF32, ErfF32,
        CmpEQF32O, CmpEQF32U, CmpNEF32O, CmpNEF32U, CmpLTF32O, CmpLTF32U, CmpLTEF32O, CmpLTEF32U,
        CmpNaNF32, RoundF32, RoundF32Even, MinF32, MaxF32,
        AddF64, SubF64, MulF64, DivF64, RemF64, FMAF64, AbsF64, NegF64, CeilF64, FloorF64,
        TruncF64F32, ExtF32F64,
        CastSI32F64, CastUI32F64, CastF64SI32, CastF64UI32,
        CastSI64F64, CastUI64F64, CastF64SI64, CastF64UI64,
        AtanF64, Atan2F64, CosF64, SinF64, ExpF64, Exp2F64, ExpM1F64, LogF64, Log10F64, Log1pF64,
        Log2F64, PowF64, FPowIF64, RsqrtF64, SqrtF64, TanhF64, ErfF64,
        CmpEQF64O, CmpEQF64U, CmpNEF64O, CmpNEF64U, CmpLTF64O, CmpLTF64U, CmpLTEF64O, CmpLTEF64U,
        CmpNaNF64, RoundF64, RoundF64Even, MinF64, MaxF64,
    }
    // Instructions that move the same bits in the same way.
    alias {
        ConstI32Zero => ConstI32,
        ConstF32Zero => ConstF32,
        ConstI64Zero => ConstI64,
        ConstF64Zero => ConstF64,
        AssignRef => CopyRef,
        ExtI8I32U => TruncI32I8,
        ExtI16I32U => TruncI32I16,
        SwitchF32 => SwitchI32,
        BitcastI32F32 => CopyI32,
        BitcastF32I32 => CopyI32,
        BufferFillF32 => BufferFillI32,
        SwitchF64 => SwitchI64,
        BitcastI64F64 => CopyI64,
        BitcastF64I64 => CopyI64,
        BufferFillF64 => BufferFillI64,
        Trace => DropMoved,
        Print => DropMoved,
    }
    control {
        Branch, CondBranch, BranchTable, Call, CallVariadic, CallYieldable, CallVariadicYieldable,
        Return, Fail, ImportResolved, Yield, CondBreak, Break,
    }
}

impl Code {
    /// Whether control may continue at the next instruction without a jump. Calls resume where
    /// their plan says, and a breakpoint never continues.
    pub(crate) fn falls_through(self) -> bool {
        !matches!(
            self,
            Self::Breakpoint
                | Self::Jump
                | Self::JumpBack
                | Self::CondJump
                | Self::CondJumpBack
                | Self::JumpTable
                | Self::Call
                | Self::CallOut
                | Self::Return
                | Self::Yield
                | Self::Stop
                | Self::CondStop
                | Self::EndOfFunction
        )
    }

    /// Whether this is a call, which has a plan.
    pub(crate) fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::CallOut)
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instr {
    pub(crate) code: Code,
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    pub(crate) imm: u64,
}

impl Instr {
    /// The 16-bit lane of `imm`, 0 the lowest.
    #[inline(always)]
    pub(crate) fn lane(&self, index: u32) -> u16 {
        (self.imm >> (16 * index)) as u16
    }

    /// The low half of `imm`.
    #[inline(always)]
    pub(crate) fn low(&self) -> usize {
        self.imm as u32 as usize
    }

    /// The high half of `imm`.
    #[inline(always)]
    pub(crate) fn high(&self) -> usize {
        (self.imm >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_what_the_machine_was_measured_with() {
        assert_eq!(size_of::<Instr>(), 16);
        assert_eq!(size_of::<crate::code::Executable<crate::machine::Handler>>(), 24);
        assert_eq!(size_of::<crate::objects::Ref>(), 24);
    }
}
