//! Operations of `arith`, `math` and `index`.

use crate::operations::{
    FloatBinary as B, FloatTest, FloatUnary as U, Id, IntegerBinary as I, IntegerUnary, Kind,
    Order, Scalar,
};
use crate::refusal::Result;
use crate::text::attributes::Attributes;
use crate::text::constants;
use crate::text::reader::{Read, Reader};
use crate::types::{Element, TensorType, Type};

const UNARY: [(&str, U); 30] = [
    ("arith.negf", U::Negate),
    ("math.absf", U::Absolute),
    ("math.ceil", U::Ceil),
    ("math.floor", U::Floor),
    ("math.round", U::Round),
    ("math.roundeven", U::RoundEven),
    ("math.trunc", U::Truncate),
    ("math.exp", U::Exp),
    ("math.exp2", U::Exp2),
    ("math.expm1", U::ExpM1),
    ("math.log", U::Log),
    ("math.log2", U::Log2),
    ("math.log10", U::Log10),
    ("math.log1p", U::Log1p),
    ("math.sqrt", U::Sqrt),
    ("math.rsqrt", U::Rsqrt),
    ("math.cbrt", U::Cbrt),
    ("math.sin", U::Sin),
    ("math.cos", U::Cos),
    ("math.tan", U::Tan),
    ("math.asin", U::Asin),
    ("math.acos", U::Acos),
    ("math.atan", U::Atan),
    ("math.sinh", U::Sinh),
    ("math.cosh", U::Cosh),
    ("math.tanh", U::Tanh),
    ("math.asinh", U::Asinh),
    ("math.acosh", U::Acosh),
    ("math.atanh", U::Atanh),
    ("math.erf", U::Erf),
];

const BINARY: [(&str, B); 15] = [
    ("arith.addf", B::Add),
    ("arith.subf", B::Subtract),
    ("arith.mulf", B::Multiply),
    ("arith.divf", B::Divide),
    ("arith.remf", B::Remainder),
    ("arith.maximumf", B::Maximum),
    ("arith.minimumf", B::Minimum),
    ("arith.maxnumf", B::MaximumNumber),
    ("arith.minnumf", B::MinimumNumber),
    ("math.powf", B::Power),
    ("math.atan2", B::Atan2),
    ("math.copysign", B::CopySign),
    // Before LLVM 18.
    ("arith.maxf", B::Maximum),
    ("arith.minf", B::Minimum),
    ("math.fmod", B::Remainder),
];

const INTEGER_UNARY: [(&str, IntegerUnary); 4] = [
    ("math.absi", IntegerUnary::Absolute),
    ("math.ctlz", IntegerUnary::LeadingZeros),
    ("math.cttz", IntegerUnary::TrailingZeros),
    ("math.ctpop", IntegerUnary::CountOnes),
];

const INTEGER_BINARY: [(&str, I); 21] = [
    ("addi", I::Add),
    ("subi", I::Subtract),
    ("muli", I::Multiply),
    ("divsi", I::DivideSigned),
    ("divui", I::DivideUnsigned),
    ("remsi", I::RemainderSigned),
    ("remui", I::RemainderUnsigned),
    ("ceildivsi", I::CeilDivideSigned),
    ("ceildivui", I::CeilDivideUnsigned),
    ("floordivsi", I::FloorDivideSigned),
    ("andi", I::And),
    ("ori", I::Or),
    ("xori", I::Xor),
    ("shli", I::ShiftLeft),
    ("shrsi", I::ShiftRightSigned),
    ("shrui", I::ShiftRightUnsigned),
    ("maxsi", I::MaximumSigned),
    ("maxui", I::MaximumUnsigned),
    ("minsi", I::MinimumSigned),
    ("minui", I::MinimumUnsigned),
    ("ipowi", I::Power),
];

/// The operations of `index` that others are called otherwise.
const INDEX_BINARY: [(&str, I); 21] = [
    ("add", I::Add),
    ("sub", I::Subtract),
    ("mul", I::Multiply),
    ("divs", I::DivideSigned),
    ("divu", I::DivideUnsigned),
    ("rems", I::RemainderSigned),
    ("remu", I::RemainderUnsigned),
    ("ceildivs", I::CeilDivideSigned),
    ("ceildivu", I::CeilDivideUnsigned),
    ("floordivs", I::FloorDivideSigned),
    ("and", I::And),
    ("or", I::Or),
    ("xor", I::Xor),
    ("shl", I::ShiftLeft),
    ("shrs", I::ShiftRightSigned),
    ("shru", I::ShiftRightUnsigned),
    ("maxs", I::MaximumSigned),
    ("maxu", I::MaximumUnsigned),
    ("mins", I::MinimumSigned),
    ("minu", I::MinimumUnsigned),
    ("pow", I::Power),
];

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(it, _)| *it == name).map(|(_, what)| *what)
}

/// Reads an operation after its name.
pub(crate) fn read(reader: &mut Reader<'_, '_>, name: &str) -> Result<Read> {
    if let Some(which) = find(&UNARY, name) {
        return simple(reader, 1, |element| Scalar::FloatUnary(which, element));
    }
    if let Some(which) = find(&BINARY, name) {
        return simple(reader, 2, |element| Scalar::FloatBinary(which, element));
    }
    if let Some(which) = find(&INTEGER_UNARY, name) {
        return simple(reader, 1, |element| Scalar::IntegerUnary(which, element.width()));
    }
    let (dialect, short) = name.split_once('.').unwrap_or_default();
    if dialect != "index"
        && let Some(which) = find(&INTEGER_BINARY, short)
    {
        return simple(reader, 2, |element| Scalar::IntegerBinary(which, element.width()));
    }
    if dialect == "index"
        && let Some(which) = find(&INDEX_BINARY, short)
    {
        let (a, b) = pair(reader)?;
        return Ok(index(Scalar::IntegerBinary(which, 64), vec![a, b]));
    }
    match name {
        "arith.constant" | "index.constant" => constant(reader, name),
        "arith.cmpi" => compare_integers(reader),
        "arith.cmpf" => compare_floats(reader),
        "arith.select" => select(reader),
        "math.erfc" => simple(reader, 1, |element| Scalar::FloatUnary(U::Erfc, element)),
        "math.fma" => simple(reader, 3, Scalar::FusedMultiplyAdd),
        "math.clampf" => clamp(reader),
        "math.isnan" => test(reader, FloatTest::Nan),
        "math.isinf" => test(reader, FloatTest::Infinite),
        "math.isfinite" => test(reader, FloatTest::Finite),
        "math.isnormal" => test(reader, FloatTest::Normal),
        "math.fpowi" => {
            let (base, exponent) = pair(reader)?;
            let type_ = result_type(reader)?;
            while reader.cursor.eat(",") {
                reader.read_type()?;
            }
            let what = Scalar::PowerOfInteger(type_.element());
            Ok((Kind::Scalar(what, vec![base, exponent]), vec![type_]))
        }
        "arith.mulsi_extended" => extended(reader, I::MultiplyHighSigned, I::Multiply),
        "arith.mului_extended" => extended(reader, I::MultiplyHighUnsigned, I::Multiply),
        "arith.addui_extended" => extended(reader, I::Add, I::AddCarry),
        _ => match cast_of(name) {
            Some(cast) => {
                let operand = reader.operand()?;
                flags(reader)?;
                reader.cursor.expect(":")?;
                let from = reader.read_type()?;
                reader.cursor.expect("to")?;
                let to = reader.read_type()?;
                if reader.element_of(operand) != from.element() {
                    return reader
                        .cursor
                        .error(format!("an operand that is no {}", from.element()));
                }
                let what = cast(from.element(), to.element());
                Ok((Kind::Scalar(what, vec![operand]), vec![to]))
            }
            None => reader.unsupported("is not evaluated"),
        },
    }
}

/// The scalar operation with this name on elements of this type, for short notations.
pub(crate) fn named(name: &str, element: Element) -> Option<Scalar> {
    if let Some(which) = find(&UNARY, name) {
        return Some(Scalar::FloatUnary(which, element));
    }
    if let Some(which) = find(&BINARY, name) {
        return Some(Scalar::FloatBinary(which, element));
    }
    if let Some(which) = find(&INTEGER_UNARY, name) {
        return Some(Scalar::IntegerUnary(which, element.width()));
    }
    let which = find(&INTEGER_BINARY, name.strip_prefix("arith.")?)?;
    Some(Scalar::IntegerBinary(which, element.width()))
}

type Cast = fn(Element, Element) -> Scalar;

fn cast_of(name: &str) -> Option<Cast> {
    Some(match name {
        "arith.extf" | "arith.truncf" => |_, to| Scalar::Convert(to),
        "arith.extsi" | "arith.index_cast" | "index.casts" => |from, to| resize(from, to, true),
        "arith.extui" | "arith.index_castui" | "index.castu" => |from, to| resize(from, to, false),
        "arith.trunci" => |_, to| Scalar::Narrow { to: to.width() },
        "arith.sitofp" => |from, to| Scalar::FromSigned { from: from.width(), to },
        "arith.uitofp" => |from, to| Scalar::FromUnsigned { from: from.width(), to },
        "arith.fptosi" => |_, to| Scalar::ToSigned { to: to.width() },
        "arith.fptoui" => |_, to| Scalar::ToUnsigned { to: to.width() },
        "arith.bitcast" => |from, to| Scalar::Bitcast { from, to },
        _ => return None,
    })
}

/// An integer of one width in another.
fn resize(from: Element, to: Element, is_signed: bool) -> Scalar {
    let (from, to) = (from.width(), to.width());
    match (to < from, is_signed) {
        (true, _) => Scalar::Narrow { to },
        (false, true) => Scalar::SignExtend { from, to },
        (false, false) => Scalar::ZeroExtend { from, to },
    }
}

/// Skips `fastmath<…>`, `overflow<…>`, `exact`, and rounding modes other than to nearest.
fn flags(reader: &mut Reader<'_, '_>) -> Result<()> {
    loop {
        let word = reader.cursor.peek_word();
        match word {
            "fastmath" | "overflow" => {
                reader.cursor.word();
                reader.cursor.skip_group()?;
            }
            "exact" | "disjoint" | "nneg" | "nonNeg" | "to_nearest_even" => {
                reader.cursor.word();
            }
            "" => {
                if !reader.cursor.sees("{") {
                    return Ok(());
                }
                Attributes::default().read(&mut reader.cursor)?;
            }
            other => return reader.unsupported(format!("the flag `{other}`")),
        }
    }
}

fn result_type(reader: &mut Reader<'_, '_>) -> Result<Type> {
    flags(reader)?;
    reader.cursor.expect(":")?;
    reader.read_type()
}

/// Reads `%a, %b : type` of an operation whose result has the type of its operands.
fn simple(
    reader: &mut Reader<'_, '_>,
    count: usize,
    make: impl FnOnce(Element) -> Scalar,
) -> Result<Read> {
    let mut operands = Vec::new();
    for at in 0..count {
        if at > 0 {
            reader.cursor.expect(",")?;
        }
        operands.push(reader.operand()?);
    }
    let type_ = result_type(reader)?;
    if operands.iter().any(|id| reader.element_of(*id) != type_.element()) {
        return reader.cursor.error(format!("an operand that is no {}", type_.element()));
    }
    Ok((Kind::Scalar(make(type_.element()), operands), vec![type_]))
}

fn pair(reader: &mut Reader<'_, '_>) -> Result<(Id, Id)> {
    let a = reader.operand()?;
    reader.cursor.expect(",")?;
    Ok((a, reader.operand()?))
}

fn index(what: Scalar, operands: Vec<Id>) -> Read {
    (Kind::Scalar(what, operands), vec![Type::Scalar(Element::Index)])
}

fn constant(reader: &mut Reader<'_, '_>, name: &str) -> Result<Read> {
    Attributes::default().read(&mut reader.cursor)?;
    if name == "index.constant" {
        let value = reader.cursor.integer()?;
        let what = Kind::Constant(crate::operations::Constant::Integer(value));
        return Ok((what, vec![Type::Scalar(Element::Index)]));
    }
    let (constant, type_) = constants::read(&mut reader.cursor)?;
    Ok((Kind::Constant(constant), vec![type_]))
}

/// The type of truth for operands of a type.
fn truth(type_: &Type) -> Type {
    match type_.tensor() {
        Some(tensor) => Type::Tensor(TensorType {
            dimensions: tensor.dimensions.clone(),
            element: Element::Integer(1),
        }),
        None => Type::Scalar(Element::Integer(1)),
    }
}

fn compare_integers(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let predicate = reader.cursor.word();
    let (order, is_signed) = match predicate {
        "eq" => (Order::Equal, true),
        "ne" => (Order::NotEqual, true),
        "slt" => (Order::Less, true),
        "sle" => (Order::LessEqual, true),
        "sgt" => (Order::Greater, true),
        "sge" => (Order::GreaterEqual, true),
        "ult" => (Order::Less, false),
        "ule" => (Order::LessEqual, false),
        "ugt" => (Order::Greater, false),
        "uge" => (Order::GreaterEqual, false),
        _ => return reader.unsupported(format!("the predicate `{predicate}`")),
    };
    reader.cursor.expect(",")?;
    let (a, b) = pair(reader)?;
    let type_ = result_type(reader)?;
    let width = type_.element().width();
    let what = Scalar::CompareIntegers { order, is_signed, width };
    Ok((Kind::Scalar(what, vec![a, b]), vec![truth(&type_)]))
}

fn compare_floats(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let predicate = reader.cursor.word();
    let (unordered, rest) = match predicate {
        "ord" => (false, "ord"),
        "uno" => (true, "never"),
        "true" => (true, "always"),
        "false" => (false, "never"),
        _ => (predicate.starts_with('u'), predicate.get(1..).unwrap_or_default()),
    };
    let order = match rest {
        "eq" => Order::Equal,
        "ne" => Order::NotEqual,
        "lt" => Order::Less,
        "le" => Order::LessEqual,
        "gt" => Order::Greater,
        "ge" => Order::GreaterEqual,
        "ord" => Order::Ordered,
        "always" => Order::Always,
        "never" => Order::Never,
        _ => return reader.unsupported(format!("the predicate `{predicate}`")),
    };
    reader.cursor.expect(",")?;
    let (a, b) = pair(reader)?;
    let type_ = result_type(reader)?;
    let what = Scalar::CompareFloats { order, unordered };
    Ok((Kind::Scalar(what, vec![a, b]), vec![truth(&type_)]))
}

fn select(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let condition = reader.operand()?;
    reader.cursor.expect(",")?;
    let (a, b) = pair(reader)?;
    let mut type_ = result_type(reader)?;
    if reader.cursor.eat(",") {
        type_ = reader.read_type()?;
    }
    let is_float = type_.element().is_float();
    let what = if is_float { Scalar::SelectFloat } else { Scalar::SelectInteger };
    Ok((Kind::Scalar(what, vec![condition, a, b]), vec![type_]))
}

fn test(reader: &mut Reader<'_, '_>, what: FloatTest) -> Result<Read> {
    let operand = reader.operand()?;
    let type_ = result_type(reader)?;
    Ok((Kind::Scalar(Scalar::FloatTest(what), vec![operand]), vec![truth(&type_)]))
}

/// `math.clampf %x to [%low, %high] : f32`
fn clamp(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let operand = reader.operand()?;
    reader.cursor.expect("to")?;
    reader.cursor.expect("[")?;
    let (low, high) = pair(reader)?;
    reader.cursor.expect("]")?;
    let type_ = result_type(reader)?;
    let element = type_.element();
    let lower = Kind::Scalar(Scalar::FloatBinary(B::Maximum, element), vec![operand, low]);
    let lower = reader.emit("math.clampf", lower, type_.clone());
    let what = Scalar::FloatBinary(B::Minimum, element);
    Ok((Kind::Scalar(what, vec![lower, high]), vec![type_]))
}

/// An operation with two results, each computed for itself.
fn extended(reader: &mut Reader<'_, '_>, other: I, first: I) -> Result<Read> {
    let (a, b) = pair(reader)?;
    let type_ = result_type(reader)?;
    let second_type = if reader.cursor.eat(",") { reader.read_type()? } else { type_.clone() };
    let width = type_.element().width();
    // `mul*_extended` is the low half, then the high one; `addui_extended` the sum, then the carry.
    let (low, high) = if first == I::AddCarry { (other, first) } else { (first, other) };
    let low = Kind::Scalar(Scalar::IntegerBinary(low, width), vec![a, b]);
    let low = reader.emit("arith.extended", low, type_.clone());
    let high = Kind::Scalar(Scalar::IntegerBinary(high, width), vec![a, b]);
    let high = reader.emit("arith.extended", high, second_type.clone());
    Ok((Kind::Alias(vec![low, high]), vec![type_, second_type]))
}
