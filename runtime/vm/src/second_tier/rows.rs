//! What the second tier does for each instruction: a row each, as in `handlers/table.rs`.
//!
//! A row gives the kinds of the operands and a function that lowers the instruction to Cranelift's.
//! What an instruction computes must have the interpreter's bits: where the host has no instruction
//! for exactly that, the row calls the function of `ops` that the interpreter uses. What a row does
//! not know is a [`Row::Step`]: the interpreter's handler runs it, and compiled code goes on.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::helpers;
use crate::code::{Code, Instr};

/// The type of a number in registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    I32,
    I64,
    F32,
    F64,
}

impl Kind {
    /// Whether it fills a pair of registers.
    pub(super) fn is_pair(self) -> bool {
        matches!(self, Self::I64 | Self::F64)
    }

    /// The 32-bit registers that a number fills which is named by this operand.
    pub(super) fn words(self, register: u16) -> Range<usize> {
        let register = usize::from(register);
        if self.is_pair() { 2 * register..2 * register + 2 } else { register..register + 1 }
    }

    /// Cranelift's type.
    pub(super) fn ty(self) -> types::Type {
        match self {
            Self::I32 => types::I32,
            Self::I64 => types::I64,
            Self::F32 => types::F32,
            Self::F64 => types::F64,
        }
    }
}

/// Lowers an instruction with one operand.
pub(super) type One = fn(&mut FunctionBuilder<'_>, Value) -> Value;

/// Lowers one with two.
pub(super) type Two = fn(&mut FunctionBuilder<'_>, Value, Value) -> Value;

/// Lowers one with three.
pub(super) type Three = fn(&mut FunctionBuilder<'_>, Value, Value, Value) -> Value;

/// An element of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Element {
    /// The kind of the register.
    pub(super) kind: Kind,
    /// The logarithm of the number of bytes.
    pub(super) shift: u8,
    /// Whether a load fills the register with the sign.
    pub(super) is_signed: bool,
}

/// The register that an instruction writes in memory, and its kind.
type Written = (fn(&Instr) -> u16, Kind);

/// What the second tier does for an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    /// Nothing.
    Nothing,
    /// `a = imm`
    Constant(Kind),
    /// `b = lower(a)`
    Unary(Kind, Kind, One),
    /// `c = lower(a, b)`
    Binary([Kind; 2], Kind, Two),
    /// `d = lower(a, b, c)`
    Ternary(Kind, Three),
    /// `c = lower(a, b)`, unless the first function says that this is an error.
    Checked(Kind, Two, Two),
    /// `d = b` if `a` is not zero, otherwise `c`
    Select(Kind),
    /// `b = function(a)`, a function at an address.
    CallUnary(Kind, Kind, usize),
    /// `c = function(a, b)`, of the kind of `a`
    CallBinary([Kind; 2], usize),
    /// `c = element b of buffer a`
    Load(Element),
    /// `element b of buffer a = c`
    Store(Element),
    /// `a = global at imm`
    GlobalLoad(Kind),
    /// `global at imm = a`
    GlobalStore(Kind),
    /// The interpreter's handler runs it, and changes refs.
    RefStep,
    /// The interpreter's handler runs it. It writes one register at most, which the function finds.
    Step(Option<Written>),
    /// The same, but first a function at an address tries it, on registers in memory.
    Quick(Option<Written>, usize),
    /// Looks at fuel and interrupts.
    Poll,
    /// Goes on at `imm`; looks at fuel and interrupts if it goes back.
    Jump { back: bool },
    /// Continues at one half of `imm` or the other.
    CondJump { back: bool },
    /// Continues where a table says.
    Table,
    /// Calls bytecode.
    Call,
    /// The interpreter goes on here if `a` is not zero.
    ExitIf,
    /// The interpreter goes on here.
    Exit,
}

fn bool_of(b: &mut FunctionBuilder<'_>, holds: Value) -> Value {
    b.ins().uextend(types::I32, holds)
}

macro_rules! unary {
    ($from:ident -> $to:ident, |$b:ident, $x:ident| $body:expr) => {
        Row::Unary(Kind::$from, Kind::$to, |$b, $x| $body)
    };
}

macro_rules! binary {
    ($kind:ident, $ins:ident) => {
        Row::Binary([Kind::$kind; 2], Kind::$kind, |b, x, y| b.ins().$ins(x, y))
    };
    ($left:ident, $right:ident, $ins:ident) => {
        Row::Binary([Kind::$left, Kind::$right], Kind::$left, |b, x, y| b.ins().$ins(x, y))
    };
}

macro_rules! icmp {
    ($kind:ident, $condition:ident) => {
        Row::Binary([Kind::$kind; 2], Kind::I32, |b, x, y| {
            let holds = b.ins().icmp(IntCC::$condition, x, y);
            bool_of(b, holds)
        })
    };
}

macro_rules! fcmp {
    ($kind:ident, $condition:ident) => {
        Row::Binary([Kind::$kind; 2], Kind::I32, |b, x, y| {
            let holds = b.ins().fcmp(FloatCC::$condition, x, y);
            bool_of(b, holds)
        })
    };
}

/// `left` if the right operand does not compare, as in `ops::float`.
macro_rules! choose {
    ($kind:ident, |$x:ident, $y:ident| $less:expr, $more:expr) => {
        Row::Binary([Kind::$kind; 2], Kind::$kind, |b, $x, $y| {
            let holds = b.ins().fcmp(FloatCC::LessThan, $less, $more);
            b.ins().select(holds, $y, $x)
        })
    };
}

macro_rules! is_zero {
    () => {
        |b, _, y| b.ins().icmp_imm_u(IntCC::Equal, y, 0)
    };
}

/// Whether a signed division has no result.
fn is_undefined(b: &mut FunctionBuilder<'_>, x: Value, y: Value, least: i64) -> Value {
    let is_zero = b.ins().icmp_imm_u(IntCC::Equal, y, 0);
    let is_least = b.ins().icmp_imm_s(IntCC::Equal, x, least);
    let is_minus_one = b.ins().icmp_imm_s(IntCC::Equal, y, -1);
    let overflows = b.ins().band(is_least, is_minus_one);
    b.ins().bor(is_zero, overflows)
}

fn undefined_32(b: &mut FunctionBuilder<'_>, x: Value, y: Value) -> Value {
    is_undefined(b, x, y, i64::from(i32::MIN))
}

fn undefined_64(b: &mut FunctionBuilder<'_>, x: Value, y: Value) -> Value {
    is_undefined(b, x, y, i64::MIN)
}

macro_rules! checked {
    ($kind:ident, $fails:expr, $ins:ident) => {
        Row::Checked(Kind::$kind, $fails, |b, x, y| b.ins().$ins(x, y))
    };
}

macro_rules! multiply_add {
    ($kind:ident, $multiply:ident, $add:ident) => {
        Row::Ternary(Kind::$kind, |b, x, y, z| {
            let product = b.ins().$multiply(x, y);
            b.ins().$add(product, z)
        })
    };
}

macro_rules! load {
    ($kind:ident, $shift:literal) => {
        load!($kind, $shift, false)
    };
    ($kind:ident, $shift:literal, $signed:literal) => {
        Row::Load(Element { kind: Kind::$kind, shift: $shift, is_signed: $signed })
    };
}

macro_rules! store {
    ($kind:ident, $shift:literal) => {
        Row::Store(Element { kind: Kind::$kind, shift: $shift, is_signed: false })
    };
}

macro_rules! call_unary {
    ($from:ident -> $to:ident, $function:path) => {
        Row::CallUnary(Kind::$from, Kind::$to, $function as *const () as usize)
    };
}

macro_rules! call_binary {
    ($left:ident, $right:ident, $function:path) => {
        Row::CallBinary([Kind::$left, Kind::$right], $function as *const () as usize)
    };
}

macro_rules! quick {
    ($function:ident) => {
        Row::Quick(None, helpers::$function as *const () as usize)
    };
    ($function:ident, $register:expr, $kind:ident) => {
        Row::Quick(Some(($register, Kind::$kind)), helpers::$function as *const () as usize)
    };
}

/// The row of an instruction.
#[allow(clippy::too_many_lines, reason = "a row an instruction")]
pub(super) fn row(code: Code) -> Row {
    match code {
        Code::Block => Row::Nothing,
        Code::CopyI32 => unary!(I32 -> I32, |_b, x| x),
        Code::CopyI64 => unary!(I64 -> I64, |_b, x| x),
        Code::CopyF32 => unary!(F32 -> F32, |_b, x| x),
        Code::CopyF64 => unary!(F64 -> F64, |_b, x| x),
        Code::Poll => Row::Poll,
        Code::Jump => Row::Jump { back: false },
        Code::JumpBack => Row::Jump { back: true },
        Code::CondJump => Row::CondJump { back: false },
        Code::CondJumpBack => Row::CondJump { back: true },
        Code::JumpTable => Row::Table,
        Code::Fail => Row::ExitIf,
        Code::Call => Row::Call,
        Code::Breakpoint
        | Code::CallOut
        | Code::Return
        | Code::Yield
        | Code::Stop
        | Code::CondStop
        | Code::EndOfFunction => Row::Exit,

        Code::GlobalLoadI32 => Row::GlobalLoad(Kind::I32),
        Code::GlobalLoadI64 => Row::GlobalLoad(Kind::I64),
        Code::GlobalLoadF32 => Row::GlobalLoad(Kind::F32),
        Code::GlobalLoadF64 => Row::GlobalLoad(Kind::F64),
        Code::GlobalStoreI32 => Row::GlobalStore(Kind::I32),
        Code::GlobalStoreI64 => Row::GlobalStore(Kind::I64),
        Code::GlobalStoreF32 => Row::GlobalStore(Kind::F32),
        Code::GlobalStoreF64 => Row::GlobalStore(Kind::F64),
        Code::GlobalLoadIndirectI32 => Row::Step(Some((|it| it.b, Kind::I32))),
        Code::GlobalLoadIndirectI64 => Row::Step(Some((|it| it.b, Kind::I64))),
        Code::GlobalLoadIndirectF32 => Row::Step(Some((|it| it.b, Kind::F32))),
        Code::GlobalLoadIndirectF64 => Row::Step(Some((|it| it.b, Kind::F64))),
        Code::GlobalStoreIndirectI32
        | Code::GlobalStoreIndirectI64
        | Code::GlobalStoreIndirectF32
        | Code::GlobalStoreIndirectF64 => Row::Step(None),

        Code::ConstI32 => Row::Constant(Kind::I32),
        Code::ConstI64 => Row::Constant(Kind::I64),
        Code::ConstF32 => Row::Constant(Kind::F32),
        Code::ConstF64 => Row::Constant(Kind::F64),

        // Refs, lists, and whole buffers.
        Code::CopyRef
        | Code::DropMoved
        | Code::GlobalLoadRef
        | Code::GlobalStoreRef
        | Code::GlobalLoadIndirectRef
        | Code::GlobalStoreIndirectRef
        | Code::ConstRefZero
        | Code::ConstRefRodata
        | Code::DiscardRefs
        | Code::CastAnyRef
        | Code::ListAlloc
        | Code::ListGetRef
        | Code::ListSetRef
        | Code::SelectRef
        | Code::SwitchRef
        | Code::BufferAlloc
        | Code::BufferClone => Row::RefStep,
        Code::ListReserve
        | Code::BufferFillI8
        | Code::BufferFillI16
        | Code::BufferFillI32
        | Code::BufferFillI64
        | Code::BufferCopy => Row::Step(None),
        Code::ListSize => quick!(list_size, |it| it.b, I32),
        Code::ListResize => quick!(list_resize),
        Code::ListGetI32 => quick!(list_get_i32, |it| it.c, I32),
        Code::ListGetI64 => quick!(list_get_i64, |it| it.c, I64),
        Code::ListGetF32 => quick!(list_get_f32, |it| it.c, F32),
        Code::ListGetF64 => quick!(list_get_f64, |it| it.c, F64),
        Code::ListSetI32 => quick!(list_set_i32),
        Code::ListSetI64 => quick!(list_set_i64),
        Code::ListSetF32 => quick!(list_set_f32),
        Code::ListSetF64 => quick!(list_set_f64),
        Code::CmpNZRef => Row::Step(Some((|it| it.b, Kind::I32))),
        Code::BufferLength => Row::Step(Some((|it| it.b, Kind::I64))),
        Code::SwitchI32 | Code::CmpEQRef | Code::CmpNERef => {
            Row::Step(Some((|it| it.c, Kind::I32)))
        }
        Code::SwitchI64 => Row::Step(Some((|it| it.c, Kind::I64))),
        Code::BufferCompare => Row::Step(Some((|it| it.lane(2), Kind::I32))),
        Code::BufferHash => Row::Step(Some((|it| it.lane(0), Kind::I64))),

        Code::SelectI32 => Row::Select(Kind::I32),
        Code::SelectI64 => Row::Select(Kind::I64),
        Code::SelectF32 => Row::Select(Kind::F32),
        Code::SelectF64 => Row::Select(Kind::F64),

        // Integers.
        Code::AddI32 => binary!(I32, iadd),
        Code::SubI32 => binary!(I32, isub),
        Code::MulI32 => binary!(I32, imul),
        Code::DivI32S => checked!(I32, undefined_32, sdiv),
        Code::DivI32U => checked!(I32, is_zero!(), udiv),
        Code::RemI32S => checked!(I32, undefined_32, srem),
        Code::RemI32U => checked!(I32, is_zero!(), urem),
        Code::FMAI32 => multiply_add!(I32, imul, iadd),
        Code::AddI64 => binary!(I64, iadd),
        Code::SubI64 => binary!(I64, isub),
        Code::MulI64 => binary!(I64, imul),
        Code::DivI64S => checked!(I64, undefined_64, sdiv),
        Code::DivI64U => checked!(I64, is_zero!(), udiv),
        Code::RemI64S => checked!(I64, undefined_64, srem),
        Code::RemI64U => checked!(I64, is_zero!(), urem),
        Code::FMAI64 => multiply_add!(I64, imul, iadd),
        Code::NotI32 => unary!(I32 -> I32, |b, x| b.ins().bnot(x)),
        Code::AndI32 => binary!(I32, band),
        Code::OrI32 => binary!(I32, bor),
        Code::XorI32 => binary!(I32, bxor),
        Code::NotI64 => unary!(I64 -> I64, |b, x| b.ins().bnot(x)),
        Code::AndI64 => binary!(I64, band),
        Code::OrI64 => binary!(I64, bor),
        Code::XorI64 => binary!(I64, bxor),
        Code::ShlI32 => binary!(I32, I32, ishl),
        Code::ShrI32S => binary!(I32, I32, sshr),
        Code::ShrI32U => binary!(I32, I32, ushr),
        Code::ShlI64 => binary!(I64, I32, ishl),
        Code::ShrI64S => binary!(I64, I32, sshr),
        Code::ShrI64U => binary!(I64, I32, ushr),
        Code::CtlzI32 => unary!(I32 -> I32, |b, x| b.ins().clz(x)),
        Code::CtlzI64 => unary!(I64 -> I64, |b, x| b.ins().clz(x)),
        Code::AbsI32 => unary!(I32 -> I32, |b, x| b.ins().iabs(x)),
        Code::AbsI64 => unary!(I64 -> I64, |b, x| b.ins().iabs(x)),
        Code::MinI32S => binary!(I32, smin),
        Code::MinI32U => binary!(I32, umin),
        Code::MaxI32S => binary!(I32, smax),
        Code::MaxI32U => binary!(I32, umax),
        Code::MinI64S => binary!(I64, smin),
        Code::MinI64U => binary!(I64, umin),
        Code::MaxI64S => binary!(I64, smax),
        Code::MaxI64U => binary!(I64, umax),
        Code::TruncI32I8 => unary!(I32 -> I32, |b, x| b.ins().band_imm_u(x, 0xFF)),
        Code::TruncI32I16 => unary!(I32 -> I32, |b, x| b.ins().band_imm_u(x, 0xFFFF)),
        Code::TruncI64I32 => unary!(I64 -> I32, |b, x| b.ins().ireduce(types::I32, x)),
        Code::ExtI8I32S => unary!(I32 -> I32, |b, x| {
            let low = b.ins().ireduce(types::I8, x);
            b.ins().sextend(types::I32, low)
        }),
        Code::ExtI16I32S => unary!(I32 -> I32, |b, x| {
            let low = b.ins().ireduce(types::I16, x);
            b.ins().sextend(types::I32, low)
        }),
        Code::ExtI32I64S => unary!(I32 -> I64, |b, x| b.ins().sextend(types::I64, x)),
        Code::ExtI32I64U => unary!(I32 -> I64, |b, x| b.ins().uextend(types::I64, x)),
        Code::CmpEQI32 => icmp!(I32, Equal),
        Code::CmpNEI32 => icmp!(I32, NotEqual),
        Code::CmpLTI32S => icmp!(I32, SignedLessThan),
        Code::CmpLTI32U => icmp!(I32, UnsignedLessThan),
        Code::CmpNZI32 => unary!(I32 -> I32, |b, x| {
            let holds = b.ins().icmp_imm_u(IntCC::NotEqual, x, 0);
            bool_of(b, holds)
        }),
        Code::CmpEQI64 => icmp!(I64, Equal),
        Code::CmpNEI64 => icmp!(I64, NotEqual),
        Code::CmpLTI64S => icmp!(I64, SignedLessThan),
        Code::CmpLTI64U => icmp!(I64, UnsignedLessThan),
        Code::CmpNZI64 => unary!(I64 -> I32, |b, x| {
            let holds = b.ins().icmp_imm_u(IntCC::NotEqual, x, 0);
            bool_of(b, holds)
        }),

        // Buffers.
        Code::BufferLoadI8U => load!(I32, 0),
        Code::BufferLoadI8S => load!(I32, 0, true),
        Code::BufferLoadI16U => load!(I32, 1),
        Code::BufferLoadI16S => load!(I32, 1, true),
        Code::BufferLoadI32 => load!(I32, 2),
        Code::BufferLoadI64 => load!(I64, 3),
        Code::BufferLoadF32 => load!(F32, 2),
        Code::BufferLoadF64 => load!(F64, 3),
        Code::BufferStoreI8 => store!(I32, 0),
        Code::BufferStoreI16 => store!(I32, 1),
        Code::BufferStoreI32 => store!(I32, 2),
        Code::BufferStoreI64 => store!(I64, 3),
        Code::BufferStoreF32 => store!(F32, 2),
        Code::BufferStoreF64 => store!(F64, 3),

        // f32.
        Code::AddF32 => binary!(F32, fadd),
        Code::SubF32 => binary!(F32, fsub),
        Code::MulF32 => binary!(F32, fmul),
        Code::DivF32 => binary!(F32, fdiv),
        Code::FMAF32 => multiply_add!(F32, fmul, fadd),
        Code::AbsF32 => unary!(F32 -> F32, |b, x| b.ins().fabs(x)),
        Code::NegF32 => unary!(F32 -> F32, |b, x| b.ins().fneg(x)),
        Code::SqrtF32 => unary!(F32 -> F32, |b, x| b.ins().sqrt(x)),
        Code::RsqrtF32 => unary!(F32 -> F32, |b, x| {
            let (one, root) = (b.ins().f32const(1.0), b.ins().sqrt(x));
            b.ins().fdiv(one, root)
        }),
        Code::MinF32 => choose!(F32, |x, y| y, x),
        Code::MaxF32 => choose!(F32, |x, y| x, y),
        Code::CastSI32F32 => unary!(I32 -> F32, |b, x| b.ins().fcvt_from_sint(types::F32, x)),
        Code::CastUI32F32 => unary!(I32 -> F32, |b, x| b.ins().fcvt_from_uint(types::F32, x)),
        Code::CastSI64F32 => unary!(I64 -> F32, |b, x| b.ins().fcvt_from_sint(types::F32, x)),
        Code::CastUI64F32 => call_unary!(I64 -> F32, helpers::cast_ui64_f32),
        Code::CastF32SI32 => call_unary!(F32 -> I32, helpers::cast_f32_si32),
        Code::CastF32UI32 => call_unary!(F32 -> I32, helpers::cast_f32_ui32),
        Code::CastF32SI64 => call_unary!(F32 -> I64, helpers::cast_f32_si64),
        Code::CastF32UI64 => call_unary!(F32 -> I64, helpers::cast_f32_ui64),
        Code::RemF32 => call_binary!(F32, F32, helpers::rem_f32),
        Code::CeilF32 => call_unary!(F32 -> F32, helpers::ceil_f32),
        Code::FloorF32 => call_unary!(F32 -> F32, helpers::floor_f32),
        Code::RoundF32 => call_unary!(F32 -> F32, helpers::round_f32),
        Code::RoundF32Even => call_unary!(F32 -> F32, helpers::round_even_f32),
        Code::AtanF32 => call_unary!(F32 -> F32, helpers::atan_f32),
        Code::Atan2F32 => call_binary!(F32, F32, helpers::atan2_f32),
        Code::CosF32 => call_unary!(F32 -> F32, helpers::cos_f32),
        Code::SinF32 => call_unary!(F32 -> F32, helpers::sin_f32),
        Code::ExpF32 => call_unary!(F32 -> F32, helpers::exp_f32),
        Code::Exp2F32 => call_unary!(F32 -> F32, helpers::exp2_f32),
        Code::ExpM1F32 => call_unary!(F32 -> F32, helpers::exp_m1_f32),
        Code::LogF32 => call_unary!(F32 -> F32, helpers::log_f32),
        Code::Log10F32 => call_unary!(F32 -> F32, helpers::log10_f32),
        Code::Log1pF32 => call_unary!(F32 -> F32, helpers::log1p_f32),
        Code::Log2F32 => call_unary!(F32 -> F32, helpers::log2_f32),
        Code::PowF32 => call_binary!(F32, F32, helpers::pow_f32),
        Code::FPowIF32 => call_binary!(F32, I64, helpers::powi_f32),
        Code::TanhF32 => call_unary!(F32 -> F32, helpers::tanh_f32),
        Code::ErfF32 => call_unary!(F32 -> F32, helpers::erf_f32),
        Code::CmpEQF32O => fcmp!(F32, Equal),
        Code::CmpNEF32O | Code::CmpNEF32U => fcmp!(F32, NotEqual),
        Code::CmpLTF32O => fcmp!(F32, LessThan),
        Code::CmpLTEF32O => fcmp!(F32, LessThanOrEqual),
        Code::CmpEQF32U => fcmp!(F32, UnorderedOrEqual),
        Code::CmpLTF32U => fcmp!(F32, UnorderedOrLessThan),
        Code::CmpLTEF32U => fcmp!(F32, UnorderedOrLessThanOrEqual),
        Code::CmpNaNF32 => unary!(F32 -> I32, |b, x| {
            let holds = b.ins().fcmp(FloatCC::Unordered, x, x);
            bool_of(b, holds)
        }),

        // f64.
        Code::AddF64 => binary!(F64, fadd),
        Code::SubF64 => binary!(F64, fsub),
        Code::MulF64 => binary!(F64, fmul),
        Code::DivF64 => binary!(F64, fdiv),
        Code::FMAF64 => multiply_add!(F64, fmul, fadd),
        Code::AbsF64 => unary!(F64 -> F64, |b, x| b.ins().fabs(x)),
        Code::NegF64 => unary!(F64 -> F64, |b, x| b.ins().fneg(x)),
        Code::SqrtF64 => unary!(F64 -> F64, |b, x| b.ins().sqrt(x)),
        Code::RsqrtF64 => unary!(F64 -> F64, |b, x| {
            let (one, root) = (b.ins().f64const(1.0), b.ins().sqrt(x));
            b.ins().fdiv(one, root)
        }),
        Code::MinF64 => choose!(F64, |x, y| y, x),
        Code::MaxF64 => choose!(F64, |x, y| x, y),
        Code::TruncF64F32 => unary!(F64 -> F32, |b, x| b.ins().fdemote(types::F32, x)),
        Code::ExtF32F64 => unary!(F32 -> F64, |b, x| b.ins().fpromote(types::F64, x)),
        Code::CastSI32F64 => unary!(I32 -> F64, |b, x| b.ins().fcvt_from_sint(types::F64, x)),
        Code::CastUI32F64 => unary!(I32 -> F64, |b, x| b.ins().fcvt_from_uint(types::F64, x)),
        Code::CastSI64F64 => unary!(I64 -> F64, |b, x| b.ins().fcvt_from_sint(types::F64, x)),
        Code::CastUI64F64 => call_unary!(I64 -> F64, helpers::cast_ui64_f64),
        Code::CastF64SI32 => call_unary!(F64 -> I32, helpers::cast_f64_si32),
        Code::CastF64UI32 => call_unary!(F64 -> I32, helpers::cast_f64_ui32),
        Code::CastF64SI64 => call_unary!(F64 -> I64, helpers::cast_f64_si64),
        Code::CastF64UI64 => call_unary!(F64 -> I64, helpers::cast_f64_ui64),
        Code::RemF64 => call_binary!(F64, F64, helpers::rem_f64),
        Code::CeilF64 => call_unary!(F64 -> F64, helpers::ceil_f64),
        Code::FloorF64 => call_unary!(F64 -> F64, helpers::floor_f64),
        Code::RoundF64 => call_unary!(F64 -> F64, helpers::round_f64),
        Code::RoundF64Even => call_unary!(F64 -> F64, helpers::round_even_f64),
        Code::AtanF64 => call_unary!(F64 -> F64, helpers::atan_f64),
        Code::Atan2F64 => call_binary!(F64, F64, helpers::atan2_f64),
        Code::CosF64 => call_unary!(F64 -> F64, helpers::cos_f64),
        Code::SinF64 => call_unary!(F64 -> F64, helpers::sin_f64),
        Code::ExpF64 => call_unary!(F64 -> F64, helpers::exp_f64),
        Code::Exp2F64 => call_unary!(F64 -> F64, helpers::exp2_f64),
        Code::ExpM1F64 => call_unary!(F64 -> F64, helpers::exp_m1_f64),
        Code::LogF64 => call_unary!(F64 -> F64, helpers::log_f64),
        Code::Log10F64 => call_unary!(F64 -> F64, helpers::log10_f64),
        Code::Log1pF64 => call_unary!(F64 -> F64, helpers::log1p_f64),
        Code::Log2F64 => call_unary!(F64 -> F64, helpers::log2_f64),
        Code::PowF64 => call_binary!(F64, F64, helpers::pow_f64),
        Code::FPowIF64 => call_binary!(F64, I64, helpers::powi_f64),
        Code::TanhF64 => call_unary!(F64 -> F64, helpers::tanh_f64),
        Code::ErfF64 => call_unary!(F64 -> F64, helpers::erf_f64),
        Code::CmpEQF64O => fcmp!(F64, Equal),
        Code::CmpNEF64O | Code::CmpNEF64U => fcmp!(F64, NotEqual),
        Code::CmpLTF64O => fcmp!(F64, LessThan),
        Code::CmpLTEF64O => fcmp!(F64, LessThanOrEqual),
        Code::CmpEQF64U => fcmp!(F64, UnorderedOrEqual),
        Code::CmpLTF64U => fcmp!(F64, UnorderedOrLessThan),
        Code::CmpLTEF64U => fcmp!(F64, UnorderedOrLessThanOrEqual),
        Code::CmpNaNF64 => unary!(F64 -> I32, |b, x| {
            let holds = b.ins().fcmp(FloatCC::Unordered, x, x);
            bool_of(b, holds)
        }),
    }
}
