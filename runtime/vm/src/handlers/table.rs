//! Every instruction and what it does.
//!
//! The rows move operands and name functions of `ops`; the families are in `family`, `accesses`,
//! `control` and `slow`.

use super::allocation;
use super::control::{self, CondJump, JumpTable};
use super::operation::{Entry, Operation, Variant};
use super::slow::{self, Frame, Slow};
use crate::code::{Bank, Code, Field, Instr};
use crate::errors::Status;
use crate::machine::{Dispatch, Last, Machine, Operand, Previous, Register, Signal, Source, State};
use crate::objects::{Numbers, Ref, Value, check_type};
use crate::ops::{convert, float, int};
use crate::stack::{is_move, read_ref, ref_index};

/// A state, for expressions that slow instructions share.
struct Fast(State);

impl Fast {
    #[inline(always)]
    fn size(&self, register: u16) -> usize {
        i32::read(self.0, register).cast_unsigned() as usize
    }
}

/// The shape and handlers of an instruction.
#[allow(clippy::too_many_lines, reason = "a row an instruction; everything else is elsewhere")]
pub(crate) fn entry<D: Dispatch>(code: Code) -> Entry {
    match code {
        // The machine's own, and control.
        Code::Breakpoint => single!(control::Breakpoint),
        Code::CopyI32 => copy!(i32),
        Code::CopyI64 => copy!(i64),
        Code::CopyF32 => copy!(f32),
        Code::CopyF64 => copy!(f64),
        Code::CopyRef => slow!(|frame, instr| {
            let value = read_ref(frame.refs, instr.a);
            *frame.reference(instr.b) = value;
        }),
        Code::Block => single!(control::Block),
        Code::Poll => single!(control::Poll),
        Code::Jump => single!(control::Jump<false>),
        Code::JumpBack => single!(control::Jump<true>),
        Code::CondJump => conditional!(CondJump false),
        Code::CondJumpBack => conditional!(CondJump true),
        Code::JumpTable => conditional!(JumpTable),
        Code::Call => single!(control::Call),
        Code::CallOut => single!(control::CallOut),
        Code::Return => single!(control::Return),
        Code::Fail => single!(control::Fail),
        Code::Yield => single!(control::Yield),
        Code::Stop => single!(control::Stop),
        Code::CondStop => single!(control::CondStop),
        Code::DropMoved => slow!(|frame, instr| {
            for register in frame.code.lists[instr.low()].iter().filter(|it| is_move(**it)) {
                *frame.reference(*register) = Ref::Null;
            }
        }),
        Code::EndOfFunction => single!(control::EndOfFunction),

        // Globals.
        Code::GlobalLoadI32 => global_load!(i32, a A, |state, instr| instr.low()),
        Code::GlobalLoadI64 => global_load!(i64, a A, |state, instr| instr.low()),
        Code::GlobalLoadIndirectI32 => global_load!(i32, b B, |state, instr| state.size(instr.a)),
        Code::GlobalLoadIndirectI64 => global_load!(i64, b B, |state, instr| state.size(instr.a)),
        Code::GlobalStoreI32 => global_store!(i32, a 0, |state, instr| instr.low()),
        Code::GlobalStoreI64 => global_store!(i64, a 0, |state, instr| instr.low()),
        Code::GlobalStoreIndirectI32 => {
            global_store!(i32, b 1, |state, instr| state.size(instr.a))
        }
        Code::GlobalStoreIndirectI64 => {
            global_store!(i64, b 1, |state, instr| state.size(instr.a))
        }
        Code::GlobalLoadF32 => global_load!(f32, a A, |state, instr| instr.low()),
        Code::GlobalLoadF64 => global_load!(f64, a A, |state, instr| instr.low()),
        Code::GlobalLoadIndirectF32 => global_load!(f32, b B, |state, instr| state.size(instr.a)),
        Code::GlobalLoadIndirectF64 => global_load!(f64, b B, |state, instr| state.size(instr.a)),
        Code::GlobalStoreF32 => global_store!(f32, a 0, |state, instr| instr.low()),
        Code::GlobalStoreF64 => global_store!(f64, a 0, |state, instr| instr.low()),
        Code::GlobalStoreIndirectF32 => {
            global_store!(f32, b 1, |state, instr| state.size(instr.a))
        }
        Code::GlobalStoreIndirectF64 => {
            global_store!(f64, b 1, |state, instr| state.size(instr.a))
        }
        Code::GlobalLoadRef => slow!(|frame, instr| {
            let global = frame.globals.reference(instr.low())?;
            check_type(&frame.types[instr.high()], global)?;
            frame.refs[ref_index(instr.a)] =
                if is_move(instr.a) { std::mem::take(global) } else { global.clone() };
        }),
        Code::GlobalLoadIndirectRef => slow!(|frame, instr| {
            let ordinal = frame.size(instr.a);
            let global = frame.globals.reference(ordinal)?;
            check_type(&frame.types[instr.high()], global)?;
            frame.refs[ref_index(instr.b)] =
                if is_move(instr.b) { std::mem::take(global) } else { global.clone() };
        }),
        Code::GlobalStoreRef => slow!(|frame, instr| {
            frame.globals.reference(instr.low())?;
            let value = frame.take(instr.a, instr.high())?;
            *frame.globals.reference(instr.low())? = value;
        }),
        Code::GlobalStoreIndirectRef => slow!(|frame, instr| {
            let ordinal = frame.size(instr.a);
            frame.globals.reference(ordinal)?;
            let value = frame.take(instr.b, instr.high())?;
            *frame.globals.reference(ordinal)? = value;
        }),

        // Constants and refs.
        Code::ConstI32 => constant!(i32, |instr: &Instr| instr.imm as i32),
        Code::ConstI64 => constant!(i64, |instr: &Instr| instr.imm.cast_signed()),
        Code::ConstF32 => constant!(f32, |instr: &Instr| f32::from_bits(instr.imm as u32)),
        Code::ConstF64 => constant!(f64, |instr: &Instr| f64::from_bits(instr.imm)),
        Code::ConstRefZero => slow!(|frame, instr| *frame.reference(instr.a) = Ref::Null),
        Code::ConstRefRodata => slow!(|frame, instr| {
            *frame.reference(instr.a) = frame.rodata[instr.low()].clone();
        }),
        Code::DiscardRefs => slow!(|frame, instr| {
            for register in &frame.code.lists[instr.low()] {
                *frame.reference(*register) = Ref::Null;
            }
        }),
        Code::CastAnyRef => slow!(|frame, instr| {
            let value = frame.take(instr.a, instr.high())?;
            *frame.reference(instr.b) = value;
        }),

        // Lists.
        Code::ListAlloc => slow!(|frame, instr| {
            let element_type = frame.types[instr.high()].clone();
            let list = allocation::new_list(element_type, frame.size(instr.a), frame.memory())?;
            *frame.reference(instr.b) = list;
        }),
        Code::ListReserve => slow!(|frame, instr| {
            frame.list(instr.a)?.reserve(frame.size(instr.b))?;
        }),
        Code::ListSize => list_size!(),
        Code::ListResize => list_resize!(),
        Code::ListGetI32 => list_get!(i32, get_i32),
        Code::ListGetI64 => list_get!(i64, get_i64),
        Code::ListGetF32 => list_get!(f32, get_f32),
        Code::ListGetF64 => list_get!(f64, get_f64),
        Code::ListSetI32 => list_set!(i32, I32, set_i32),
        Code::ListSetI64 => list_set!(i64, I64, set_i64),
        Code::ListSetF32 => list_set!(f32, F32, set_f32),
        Code::ListSetF64 => list_set!(f64, F64, set_f64),
        Code::ListGetRef => slow!(|frame, instr| {
            let value = frame.list(instr.a)?.get_ref(frame.size(instr.b), is_move(instr.c))?;
            // An element of another type reads as null.
            let fits = check_type(&frame.types[instr.high()], &value).is_ok();
            *frame.reference(instr.c) = if fits { value } else { Ref::Null };
        }),
        Code::ListSetRef => slow!(|frame, instr| {
            let value = frame.refs[ref_index(instr.c)].clone();
            frame.list(instr.a)?.set_ref(frame.size(instr.b), value)?;
            if is_move(instr.c) {
                *frame.reference(instr.c) = Ref::Null;
            }
        }),

        // Conditional assignment.
        Code::SelectI32 => select!(i32),
        Code::SelectI64 => select!(i64),
        Code::SelectF32 => select!(f32),
        Code::SelectF64 => select!(f64),
        Code::SelectRef => slow!(|frame, instr| {
            let (chosen, other) = match frame.get::<i32>(instr.a) {
                0 => (instr.c, instr.b),
                _ => (instr.b, instr.c),
            };
            let value = frame.take(chosen, instr.high())?;
            if is_move(other) {
                *frame.reference(other) = Ref::Null;
            }
            *frame.reference(instr.lane(0)) = value;
        }),
        Code::SwitchI32 => slow!(|frame, instr| {
            let value = frame.get::<i32>(frame.switched(instr));
            frame.set(instr.c, value);
        }),
        Code::SwitchI64 => slow!(|frame, instr| {
            let value = frame.get::<i64>(frame.switched(instr));
            frame.set(instr.c, value);
        }),
        Code::SwitchRef => slow!(|frame, instr| {
            let value = frame.take(frame.switched(instr), instr.high())?;
            *frame.reference(instr.c) = value;
        }),

        // Integers.
        Code::AddI32 => counting!(int::i32s::add),
        Code::SubI32 => counting!(int::i32s::sub),
        Code::MulI32 => binary!(i32, int::i32s::mul),
        Code::DivI32S => fallible!(i32, int::i32s::checked_div_s, int::i32s::div_s),
        Code::DivI32U => fallible!(i32, int::i32s::checked_div_u, int::i32s::div_u),
        Code::RemI32S => fallible!(i32, int::i32s::checked_rem_s, int::i32s::rem_s),
        Code::RemI32U => fallible!(i32, int::i32s::checked_rem_u, int::i32s::rem_u),
        Code::FMAI32 => ternary!(i32, int::i32s::fma),
        Code::AddI64 => binary!(i64, int::i64s::add),
        Code::SubI64 => binary!(i64, int::i64s::sub),
        Code::MulI64 => binary!(i64, int::i64s::mul),
        Code::DivI64S => fallible!(i64, int::i64s::checked_div_s, int::i64s::div_s),
        Code::DivI64U => fallible!(i64, int::i64s::checked_div_u, int::i64s::div_u),
        Code::RemI64S => fallible!(i64, int::i64s::checked_rem_s, int::i64s::rem_s),
        Code::RemI64U => fallible!(i64, int::i64s::checked_rem_u, int::i64s::rem_u),
        Code::FMAI64 => ternary!(i64, int::i64s::fma),
        Code::NotI32 => unary!(i32 -> i32, |a: i32| !a),
        Code::AndI32 => counting!(|a: i32, b: i32| a & b),
        Code::OrI32 => binary!(i32, |a: i32, b: i32| a | b),
        Code::XorI32 => binary!(i32, |a: i32, b: i32| a ^ b),
        Code::NotI64 => unary!(i64 -> i64, |a: i64| !a),
        Code::AndI64 => binary!(i64, |a: i64, b: i64| a & b),
        Code::OrI64 => binary!(i64, |a: i64, b: i64| a | b),
        Code::XorI64 => binary!(i64, |a: i64, b: i64| a ^ b),
        Code::ShlI32 => shift!(i32, int::i32s::shl),
        Code::ShrI32S => shift!(i32, int::i32s::shr_s),
        Code::ShrI32U => shift!(i32, int::i32s::shr_u),
        Code::ShlI64 => shift!(i64, int::i64s::shl),
        Code::ShrI64S => shift!(i64, int::i64s::shr_s),
        Code::ShrI64U => shift!(i64, int::i64s::shr_u),
        Code::CtlzI32 => unary!(i32 -> i32, int::i32s::ctlz),
        Code::CtlzI64 => unary!(i64 -> i64, int::i64s::ctlz),
        Code::AbsI32 => unary!(i32 -> i32, int::i32s::abs),
        Code::AbsI64 => unary!(i64 -> i64, int::i64s::abs),
        Code::MinI32S => binary!(i32, int::i32s::min_s),
        Code::MinI32U => binary!(i32, int::i32s::min_u),
        Code::MaxI32S => binary!(i32, int::i32s::max_s),
        Code::MaxI32U => binary!(i32, int::i32s::max_u),
        Code::MinI64S => binary!(i64, int::i64s::min_s),
        Code::MinI64U => binary!(i64, int::i64s::min_u),
        Code::MaxI64S => binary!(i64, int::i64s::max_s),
        Code::MaxI64U => binary!(i64, int::i64s::max_u),
        Code::TruncI32I8 => unary!(i32 -> i32, |a: i32| i32::from(a as u8)),
        Code::TruncI32I16 => unary!(i32 -> i32, |a: i32| i32::from(a as u16)),
        Code::TruncI64I32 => unary!(i64 -> i32, |a: i64| a as i32),
        Code::ExtI8I32S => unary!(i32 -> i32, |a: i32| i32::from(a as i8)),
        Code::ExtI16I32S => unary!(i32 -> i32, |a: i32| i32::from(a as i16)),
        Code::ExtI32I64S => unary!(i32 -> i64, |a: i32| i64::from(a)),
        Code::ExtI32I64U => unary!(i32 -> i64, |a: i32| i64::from(a.cast_unsigned())),
        Code::CmpEQI32 => test!(i32, |a: i32, b: i32| a == b),
        Code::CmpNEI32 => test!(i32, |a: i32, b: i32| a != b),
        Code::CmpLTI32S => test!(i32, int::i32s::lt_s),
        Code::CmpLTI32U => test!(i32, int::i32s::lt_u),
        Code::CmpNZI32 => unary_test!(i32, |a: i32| a != 0),
        Code::CmpEQI64 => test!(i64, |a: i64, b: i64| a == b),
        Code::CmpNEI64 => test!(i64, |a: i64, b: i64| a != b),
        Code::CmpLTI64S => test!(i64, int::i64s::lt_s),
        Code::CmpLTI64U => test!(i64, int::i64s::lt_u),
        Code::CmpNZI64 => unary_test!(i64, |a: i64| a != 0),
        Code::CmpEQRef => slow!(|frame, instr| {
            let same = frame.reference(instr.a).address() == frame.reference(instr.b).address();
            frame.set(instr.c, i32::from(same));
        }),
        Code::CmpNERef => slow!(|frame, instr| {
            let same = frame.reference(instr.a).address() == frame.reference(instr.b).address();
            frame.set(instr.c, i32::from(!same));
        }),
        Code::CmpNZRef => slow!(|frame, instr| {
            let is_null = frame.reference(instr.a).is_null();
            frame.set(instr.b, i32::from(!is_null));
        }),

        // Buffers.
        Code::BufferLoadI8U => buffer_load!(i32, u8),
        Code::BufferLoadI8S => buffer_load!(i32, i8),
        Code::BufferLoadI16U => buffer_load!(i32, u16),
        Code::BufferLoadI16S => buffer_load!(i32, i16),
        Code::BufferLoadI32 => buffer_load!(i32, i32),
        Code::BufferLoadI64 => buffer_load!(i64, i64),
        Code::BufferLoadF32 => buffer_load!(f32, f32),
        Code::BufferLoadF64 => buffer_load!(f64, f64),
        Code::BufferStoreI8 => buffer_store!(i32, u8),
        Code::BufferStoreI16 => buffer_store!(i32, u16),
        Code::BufferStoreI32 => buffer_store!(i32, u32),
        Code::BufferStoreI64 => buffer_store!(i64, u64),
        Code::BufferStoreF32 => buffer_store!(f32, f32),
        Code::BufferStoreF64 => buffer_store!(f64, f64),
        Code::BufferFillI8 => slow!(|frame, instr| frame.fill(instr, |it: i32| [it as u8])?),
        Code::BufferFillI16 => {
            slow!(|frame, instr| frame.fill(instr, |it: i32| (it as u16).to_le_bytes())?)
        }
        Code::BufferFillI32 => slow!(|frame, instr| frame.fill(instr, i32::to_le_bytes)?),
        Code::BufferFillI64 => slow!(|frame, instr| frame.fill(instr, i64::to_le_bytes)?),
        Code::BufferAlloc => slow!(|frame, instr| {
            let (length, alignment) = (frame.get::<i64>(instr.a), frame.get::<i32>(instr.b));
            *frame.reference(instr.c) = allocation::new_buffer(length, alignment, frame.memory())?;
        }),
        Code::BufferClone => slow!(|frame, instr| {
            let range = (frame.get::<i64>(instr.b), frame.get::<i64>(instr.c));
            let alignment = frame.get::<i32>(instr.lane(0));
            let source = frame.buffer(instr.a, "source")?;
            let copy = allocation::clone_buffer(source, range, alignment, frame.memory())?;
            *frame.reference(instr.lane(1)) = copy;
        }),
        Code::BufferLength => slow!(|frame, instr| {
            let length = frame.buffer(instr.a, "buffer")?.len();
            frame.set::<i64>(instr.b, length as i64);
        }),
        Code::BufferCopy => slow!(|frame, instr| {
            let source = frame.buffer(instr.a, "source_buffer")?;
            let target = frame.buffer(instr.c, "target_buffer")?;
            let (from, to) = (frame.wide(instr.b) as usize, frame.wide(instr.lane(0)) as usize);
            target.copy_from(to, source, from, frame.wide(instr.lane(1)) as usize)?;
        }),
        Code::BufferCompare => slow!(|frame, instr| {
            let left = frame.buffer(instr.a, "lhs_buffer")?;
            let right = frame.buffer(instr.c, "rhs_buffer")?;
            let (at, other_at) = (frame.wide(instr.b) as usize, frame.wide(instr.lane(0)) as usize);
            let equal = left.equals(at, right, other_at, frame.wide(instr.lane(1)) as usize)?;
            frame.set(instr.lane(2), i32::from(equal));
        }),
        Code::BufferHash => slow!(|frame, instr| {
            let (offset, length) = (frame.wide(instr.b) as usize, frame.wide(instr.c) as usize);
            let hash = frame.buffer(instr.a, "source_buffer")?.hash(offset, length)?;
            frame.set(instr.lane(0), hash.cast_signed());
        }),

        // f32.
        Code::AddF32 => binary!(f32, |a: f32, b: f32| a + b),
        Code::SubF32 => binary!(f32, |a: f32, b: f32| a - b),
        Code::MulF32 => binary!(f32, |a: f32, b: f32| a * b),
        Code::DivF32 => binary!(f32, |a: f32, b: f32| a / b),
        Code::RemF32 => binary!(f32, float::f32s::rem),
        Code::FMAF32 => ternary!(f32, float::f32s::fma),
        Code::AbsF32 => unary!(f32 -> f32, f32::abs),
        Code::NegF32 => unary!(f32 -> f32, |a: f32| -a),
        Code::CeilF32 => unary!(f32 -> f32, float::f32s::ceil),
        Code::FloorF32 => unary!(f32 -> f32, float::f32s::floor),
        Code::RoundF32 => unary!(f32 -> f32, f32::round),
        Code::RoundF32Even => unary!(f32 -> f32, float::f32s::round_even),
        Code::MinF32 => binary!(f32, float::f32s::min),
        Code::MaxF32 => binary!(f32, float::f32s::max),
        Code::CastSI32F32 => unary!(i32 -> f32, |a: i32| a as f32),
        Code::CastUI32F32 => unary!(i32 -> f32, |a: i32| a.cast_unsigned() as f32),
        Code::CastSI64F32 => unary!(i64 -> f32, |a: i64| a as f32),
        Code::CastUI64F32 => unary!(i64 -> f32, |a: i64| a.cast_unsigned() as f32),
        Code::CastF32SI32 => unary!(f32 -> i32, convert::f32_to_si32),
        Code::CastF32UI32 => unary!(f32 -> i32, convert::f32_to_ui32),
        Code::CastF32SI64 => unary!(f32 -> i64, convert::f32_to_si64),
        Code::CastF32UI64 => unary!(f32 -> i64, convert::f32_to_ui64),
        Code::AtanF32 => unary!(f32 -> f32, f32::atan),
        Code::Atan2F32 => binary!(f32, f32::atan2),
        Code::CosF32 => unary!(f32 -> f32, f32::cos),
        Code::SinF32 => unary!(f32 -> f32, f32::sin),
        Code::ExpF32 => unary!(f32 -> f32, f32::exp),
        Code::Exp2F32 => unary!(f32 -> f32, f32::exp2),
        Code::ExpM1F32 => unary!(f32 -> f32, f32::exp_m1),
        Code::LogF32 => unary!(f32 -> f32, f32::ln),
        Code::Log10F32 => unary!(f32 -> f32, f32::log10),
        Code::Log1pF32 => unary!(f32 -> f32, f32::ln_1p),
        Code::Log2F32 => unary!(f32 -> f32, f32::log2),
        Code::PowF32 => binary!(f32, f32::powf),
        Code::FPowIF32 => binary_of!(f32, i64 -> f32, float::f32s::powi),
        Code::RsqrtF32 => unary!(f32 -> f32, float::f32s::rsqrt),
        Code::SqrtF32 => unary!(f32 -> f32, f32::sqrt),
        Code::TanhF32 => unary!(f32 -> f32, f32::tanh),
        Code::ErfF32 => unary!(f32 -> f32, float::f32s::erf),
        Code::CmpEQF32O => test!(f32, |a: f32, b: f32| a == b),
        Code::CmpNEF32O => test!(f32, |a: f32, b: f32| a != b),
        Code::CmpLTF32O => test!(f32, |a: f32, b: f32| a < b),
        Code::CmpLTEF32O => test!(f32, |a: f32, b: f32| a <= b),
        Code::CmpEQF32U => test!(f32, |a, b| float::f32s::unordered(a, b) || a == b),
        Code::CmpNEF32U => test!(f32, |a, b| float::f32s::unordered(a, b) || a != b),
        Code::CmpLTF32U => test!(f32, |a, b| float::f32s::unordered(a, b) || a < b),
        Code::CmpLTEF32U => test!(f32, |a, b| float::f32s::unordered(a, b) || a <= b),
        Code::CmpNaNF32 => unary_test!(f32, f32::is_nan),

        // f64.
        Code::AddF64 => binary!(f64, |a: f64, b: f64| a + b),
        Code::SubF64 => binary!(f64, |a: f64, b: f64| a - b),
        Code::MulF64 => binary!(f64, |a: f64, b: f64| a * b),
        Code::DivF64 => binary!(f64, |a: f64, b: f64| a / b),
        Code::RemF64 => binary!(f64, float::f64s::rem),
        Code::FMAF64 => ternary!(f64, float::f64s::fma),
        Code::AbsF64 => unary!(f64 -> f64, f64::abs),
        Code::NegF64 => unary!(f64 -> f64, |a: f64| -a),
        Code::CeilF64 => unary!(f64 -> f64, float::f64s::ceil),
        Code::FloorF64 => unary!(f64 -> f64, float::f64s::floor),
        Code::RoundF64 => unary!(f64 -> f64, f64::round),
        Code::RoundF64Even => unary!(f64 -> f64, float::f64s::round_even),
        Code::MinF64 => binary!(f64, float::f64s::min),
        Code::MaxF64 => binary!(f64, float::f64s::max),
        Code::TruncF64F32 => unary!(f64 -> f32, |a: f64| a as f32),
        Code::ExtF32F64 => unary!(f32 -> f64, |a: f32| f64::from(a)),
        Code::CastSI32F64 => unary!(i32 -> f64, |a: i32| f64::from(a)),
        Code::CastUI32F64 => unary!(i32 -> f64, |a: i32| f64::from(a.cast_unsigned())),
        Code::CastSI64F64 => unary!(i64 -> f64, |a: i64| a as f64),
        Code::CastUI64F64 => unary!(i64 -> f64, |a: i64| a.cast_unsigned() as f64),
        Code::CastF64SI32 => unary!(f64 -> i32, convert::f64_to_si32),
        Code::CastF64UI32 => unary!(f64 -> i32, convert::f64_to_ui32),
        Code::CastF64SI64 => unary!(f64 -> i64, convert::f64_to_si64),
        Code::CastF64UI64 => unary!(f64 -> i64, convert::f64_to_ui64),
        Code::AtanF64 => unary!(f64 -> f64, f64::atan),
        Code::Atan2F64 => binary!(f64, f64::atan2),
        Code::CosF64 => unary!(f64 -> f64, f64::cos),
        Code::SinF64 => unary!(f64 -> f64, f64::sin),
        Code::ExpF64 => unary!(f64 -> f64, f64::exp),
        Code::Exp2F64 => unary!(f64 -> f64, f64::exp2),
        Code::ExpM1F64 => unary!(f64 -> f64, f64::exp_m1),
        Code::LogF64 => unary!(f64 -> f64, float::ln),
        Code::Log10F64 => unary!(f64 -> f64, f64::log10),
        Code::Log1pF64 => unary!(f64 -> f64, f64::ln_1p),
        Code::Log2F64 => unary!(f64 -> f64, float::log2),
        Code::PowF64 => binary!(f64, f64::powf),
        Code::FPowIF64 => binary_of!(f64, i64 -> f64, float::f64s::powi),
        Code::RsqrtF64 => unary!(f64 -> f64, float::f64s::rsqrt),
        Code::SqrtF64 => unary!(f64 -> f64, f64::sqrt),
        Code::TanhF64 => unary!(f64 -> f64, f64::tanh),
        Code::ErfF64 => unary!(f64 -> f64, float::f64s::erf),
        Code::CmpEQF64O => test!(f64, |a: f64, b: f64| a == b),
        Code::CmpNEF64O => test!(f64, |a: f64, b: f64| a != b),
        Code::CmpLTF64O => test!(f64, |a: f64, b: f64| a < b),
        Code::CmpLTEF64O => test!(f64, |a: f64, b: f64| a <= b),
        Code::CmpEQF64U => test!(f64, |a, b| float::f64s::unordered(a, b) || a == b),
        Code::CmpNEF64U => test!(f64, |a, b| float::f64s::unordered(a, b) || a != b),
        Code::CmpLTF64U => test!(f64, |a, b| float::f64s::unordered(a, b) || a < b),
        Code::CmpLTEF64U => test!(f64, |a, b| float::f64s::unordered(a, b) || a <= b),
        Code::CmpNaNF64 => unary_test!(f64, f64::is_nan),
    }
}
