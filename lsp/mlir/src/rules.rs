//! Rewrites of functions of numbers, for those who prove that two programs compute the same: a row
//! a rule.
//!
//! A rule looks at one function and at what is known of its operands, and gives another form of it.
//! Rules are applied until none is left to apply, so that what a compiler makes of an operation and
//! the operation itself become one form. Every rule holds for every operand, NaN and zeros of both
//! signs among them, wherever the first form has a result ([`Scalar::apply`]; which NaN it is does
//! not count). [`Rule::try_at_edges`] tries that, and tests do it for each row.
//!
//! None holds only without NaN, or in exact arithmetic: what needs that is no proof.

mod edges;

pub use edges::Counterexample;

use crate::bits::{self, cut};
use crate::element::Element;
use crate::scalar::{FloatBinary, IntegerBinary as I, Order, Scalar};

/// The most rewrites of one function. Each rule leads nearer to the normal form, so this is not
/// reached; it ends what a wrong rule would make endless.
pub const MOST_REWRITES: usize = 16;

/// What is known of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Operands with equal numbers are equal. Of two that may change places, the one with the
    /// smaller number comes first.
    pub number: u32,
    /// Its bits, if it is a constant.
    pub constant: Option<u64>,
    /// Whether it is 0 or 1, whatever its type.
    pub is_boolean: bool,
    /// The function and the constant on its right, if it was made of another operand by them.
    pub made: Option<(Scalar, u64)>,
}

impl Operand {
    /// An operand of which nothing is known but which it is.
    #[must_use]
    pub fn unknown(number: u32) -> Self {
        Self { number, constant: None, is_boolean: false, made: None }
    }
}

/// A function of the operands of another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// The operand with this index.
    Operand(usize),
    /// What the operand with this index was made of ([`Operand::made`]).
    Inside(usize),
    /// These bits, of this type.
    Constant(u64, Element),
    /// The opposite of a boolean.
    Not(Box<Self>),
    /// A function of these.
    Of(Scalar, Vec<Self>),
}

/// How far two forms agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// In all bits.
    InAllBits,
    /// In the bits of the first form's type: a wider register may have others above.
    InItsBits,
}

/// A rewrite.
#[derive(Debug)]
pub struct Rule {
    /// What it says.
    pub name: &'static str,
    /// How far that is so.
    pub holds: Holds,
    /// The other form; `None` where the rule does not apply.
    pub rewrite: fn(Scalar, &[Operand]) -> Option<Form>,
}

/// The rules that hold for MLIR's operations, whatever compiles them.
pub const RULES: &[Rule] = &[
    rule("a function of constants is a constant", folded),
    rule("constants, then later operands, stand last", in_order),
    rule("a != b is !(a == b), of integers", differs),
    rule("integers are equal with or without signs", equal_without_sign),
    rule("a boolean that is 0 is its opposite, one that is 1 itself", boolean_is),
    rule("a > b is b < a", greater),
    rule("a >= b is !(a < b), a <= b is !(b < a), of integers", not_less),
    rule("a >= b is b <= a, of floats", float_greater_equal),
    rule("ordered is !unordered", ordered),
    rule("a comparison that always or never holds", certain),
    rule("a != b of floats holds for NaN, as compilers have it", float_differs),
    rule("nothing is less than negative infinity", less_than_lowest),
    rule("no integer is less than itself, and each is equal to itself", with_itself),
    rule("a - a and a ^ a are 0", cancelled),
    rule("a boolean xor 1 is its opposite", opposite),
    rule("the lesser or greater of a float and a constant is a choice", clamped),
    rule("a boolean & 1 is itself", kept_boolean),
    rule("(a + c) + d is a + (c + d), of integers, and so with *, &, | and ^", gathered),
    rule("a - c is a + (-c), of integers", minus_constant),
    rule("a << c is a * 2^c", shifted),
    rule("a / 2^c is a >> c, of unsigned integers", divided),
    rule("a mod 2^c is a & (2^c - 1), of unsigned integers", remainder),
    rule("a constant that changes nothing", neutral),
    rule("a constant that changes nothing, of floats", neutral_float),
    rule("a constant that decides alone", absorbing),
    rule("a function of equal numbers that is the number", idempotent),
    rule("a choice between equal numbers, or by a constant", chosen),
    rule("a choice between 1 and 0 is its condition", boolean_choice),
];

const fn rule(name: &'static str, rewrite: fn(Scalar, &[Operand]) -> Option<Form>) -> Rule {
    Rule { name, holds: Holds::InAllBits, rewrite }
}

/// The first rule that applies, as its form.
#[must_use]
pub fn rewritten(rules: &[Rule], function: Scalar, operands: &[Operand]) -> Option<Form> {
    rules.iter().find_map(|rule| (rule.rewrite)(function, operands))
}

/// The operand or the constant that a function of these operands always is: a [`Form::Operand`] or
/// a [`Form::Constant`].
#[must_use]
pub fn simplified(mut function: Scalar, operands: &[Operand]) -> Option<Form> {
    let mut operands = operands.to_vec();
    let mut forms: Vec<Form> = (0..operands.len()).map(Form::Operand).collect();
    for _ in 0..MOST_REWRITES {
        match rewritten(RULES, function, &operands)? {
            Form::Operand(index) => return forms.into_iter().nth(index),
            Form::Constant(bits, element) => return Some(Form::Constant(bits, element)),
            Form::Not(_) | Form::Inside(_) => return None,
            Form::Of(next, parts) => {
                let part = |part: Form| match part {
                    Form::Operand(index) => {
                        Some((*operands.get(index)?, forms.get(index)?.clone()))
                    }
                    Form::Constant(bits, _) => {
                        let known = Operand::unknown(u32::MAX);
                        Some((Operand { constant: Some(bits), ..known }, part))
                    }
                    Form::Not(_) | Form::Of(..) | Form::Inside(_) => None,
                };
                let parts: Option<Vec<(Operand, Form)>> = parts.into_iter().map(part).collect();
                (operands, forms) = parts?.into_iter().unzip();
                function = next;
            }
        }
    }
    None
}

fn swapped(function: Scalar) -> Form {
    Form::Of(function, vec![Form::Operand(1), Form::Operand(0)])
}

fn not(form: Form) -> Form {
    Form::Not(Box::new(form))
}

fn same(function: Scalar) -> Form {
    Form::Of(function, vec![Form::Operand(0), Form::Operand(1)])
}

fn boolean(is_so: bool) -> Form {
    Form::Constant(u64::from(is_so), Element::Integer(1))
}

/// An integer function of the first operand and a constant.
fn with_constant(function: I, width: u32, bits: u64) -> Form {
    let constant = Form::Constant(cut(width, bits), Element::Integer(width));
    Form::Of(Scalar::IntegerBinary(function, width), vec![Form::Operand(0), constant])
}

fn folded(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let numbers: Option<Vec<u64>> = operands.iter().map(|it| it.constant).collect();
    Some(Form::Constant(function.apply(&numbers?)?, function.result()?))
}

fn in_order(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let [one, other] = operands else { return None };
    let key = |it: &Operand| (it.constant.is_some(), it.number);
    (function.is_commutative() && key(one) > key(other)).then(|| swapped(function))
}

fn differs(function: Scalar, _: &[Operand]) -> Option<Form> {
    let Scalar::CompareIntegers { order: Order::NotEqual, width, .. } = function else {
        return None;
    };
    Some(not(same(equality(width))))
}

fn equality(width: u32) -> Scalar {
    Scalar::CompareIntegers { order: Order::Equal, is_signed: true, width }
}

fn equal_without_sign(function: Scalar, _: &[Operand]) -> Option<Form> {
    let Scalar::CompareIntegers { order: Order::Equal, is_signed: false, width } = function else {
        return None;
    };
    Some(same(equality(width)))
}

fn boolean_is(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let Scalar::CompareIntegers { order: Order::Equal, .. } = function else { return None };
    match operands {
        [Operand { is_boolean: true, .. }, Operand { constant: Some(0), .. }] => {
            Some(not(Form::Operand(0)))
        }
        [Operand { is_boolean: true, .. }, Operand { constant: Some(1), .. }] => {
            Some(Form::Operand(0))
        }
        _ => None,
    }
}

fn greater(function: Scalar, _: &[Operand]) -> Option<Form> {
    match function {
        Scalar::CompareIntegers { order: Order::Greater, is_signed, width } => {
            Some(swapped(Scalar::CompareIntegers { order: Order::Less, is_signed, width }))
        }
        Scalar::CompareFloats { order: Order::Greater, unordered, element } => {
            Some(swapped(Scalar::CompareFloats { order: Order::Less, unordered, element }))
        }
        _ => None,
    }
}

fn not_less(function: Scalar, _: &[Operand]) -> Option<Form> {
    let Scalar::CompareIntegers { order, is_signed, width } = function else { return None };
    let less = Scalar::CompareIntegers { order: Order::Less, is_signed, width };
    match order {
        Order::GreaterEqual => Some(not(same(less))),
        Order::LessEqual => Some(not(swapped(less))),
        _ => None,
    }
}

fn float_greater_equal(function: Scalar, _: &[Operand]) -> Option<Form> {
    let Scalar::CompareFloats { order: Order::GreaterEqual, unordered, element } = function else {
        return None;
    };
    Some(swapped(Scalar::CompareFloats { order: Order::LessEqual, unordered, element }))
}

fn ordered(function: Scalar, _: &[Operand]) -> Option<Form> {
    let Scalar::CompareFloats { order, unordered, element } = function else { return None };
    let is_nan = Scalar::CompareFloats { order: Order::Never, unordered: true, element };
    (order == Order::Ordered && !unordered).then(|| not(same(is_nan)))
}

fn certain(function: Scalar, _: &[Operand]) -> Option<Form> {
    match function {
        Scalar::CompareFloats {
            order: Order::Always | Order::Ordered, unordered: true, ..
        }
        | Scalar::CompareIntegers { order: Order::Always | Order::Ordered, .. } => {
            Some(boolean(true))
        }
        Scalar::CompareFloats { order: Order::Never, unordered: false, .. }
        | Scalar::CompareIntegers { order: Order::Never, .. } => Some(boolean(false)),
        _ => None,
    }
}

/// An ordered `!=` has no result for NaN, as compiled code answers both ways.
fn float_differs(function: Scalar, _: &[Operand]) -> Option<Form> {
    let Scalar::CompareFloats { order: Order::NotEqual, unordered: false, element } = function
    else {
        return None;
    };
    Some(same(Scalar::CompareFloats { order: Order::NotEqual, unordered: true, element }))
}

fn less_than_lowest(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let Scalar::CompareFloats { order: Order::Less, unordered: false, element } = function else {
        return None;
    };
    let lowest = bits::negative_infinity(element)?;
    (operands.get(1)?.constant == Some(lowest)).then(|| boolean(false))
}

fn with_itself(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let [one, other] = operands else { return None };
    match function {
        _ if one.number != other.number => None,
        Scalar::CompareIntegers { order: Order::Equal, .. } => Some(boolean(true)),
        // NaN is not less than itself either.
        Scalar::CompareIntegers { order: Order::Less, .. }
        | Scalar::CompareFloats { order: Order::Less, unordered: false, .. } => {
            Some(boolean(false))
        }
        _ => None,
    }
}

fn cancelled(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let Scalar::IntegerBinary(I::Subtract | I::Xor, width) = function else { return None };
    let [one, other] = operands else { return None };
    (one.number == other.number).then_some(Form::Constant(0, Element::Integer(width)))
}

fn opposite(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let Scalar::IntegerBinary(I::Xor, _) = function else { return None };
    let [one, other] = operands else { return None };
    (one.is_boolean && other.constant == Some(1)).then(|| not(Form::Operand(0)))
}

/// As compilers write it; the constant is no NaN and no zero, whose sign would matter.
fn clamped(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let Scalar::FloatBinary(function, element) = function else { return None };
    let order = match function {
        FloatBinary::Minimum => Order::Less,
        FloatBinary::Maximum => Order::Greater,
        _ => return None,
    };
    let constant = operands.get(1)?.constant?;
    let is_zero = constant << (64 - element.width()) << 1 == 0;
    let compare = Scalar::CompareFloats { order, unordered: true, element };
    let forms = vec![same(compare), Form::Operand(0), Form::Operand(1)];
    let is_computed = compare.apply(&[constant; 2]).is_some();
    (is_computed && !is_zero && !bits::is_nan(element, constant))
        .then_some(Form::Of(Scalar::SelectFloat, forms))
}

fn kept_boolean(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let Scalar::IntegerBinary(I::And, _) = function else { return None };
    let [one, other] = operands else { return None };
    (one.is_boolean && other.constant == Some(1)).then_some(Form::Operand(0))
}

fn gathered(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let (name @ (I::Add | I::Multiply | I::And | I::Or | I::Xor), width, outer) =
        on_constant(function, operands)?
    else {
        return None;
    };
    let (maker, inner) = operands.first()?.made?;
    let constant = Scalar::IntegerBinary(name, width).apply(&[inner, outer])?;
    let constant = Form::Constant(constant, Element::Integer(width));
    (maker == function).then(|| Form::Of(function, vec![Form::Inside(0), constant]))
}

/// The function, its width, and the constant on its right.
fn on_constant(function: Scalar, operands: &[Operand]) -> Option<(I, u32, u64)> {
    let Scalar::IntegerBinary(function, width) = function else { return None };
    Some((function, width, operands.get(1)?.constant?))
}

fn minus_constant(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let (I::Subtract, width, constant) = on_constant(function, operands)? else { return None };
    Some(with_constant(I::Add, width, constant.wrapping_neg()))
}

fn shifted(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let (I::ShiftLeft, width, constant) = on_constant(function, operands)? else { return None };
    (constant < u64::from(width)).then(|| with_constant(I::Multiply, width, 1 << constant))
}

fn divided(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let (I::DivideUnsigned, width, constant) = on_constant(function, operands)? else {
        return None;
    };
    let power = u64::from(constant.trailing_zeros());
    constant.is_power_of_two().then(|| with_constant(I::ShiftRightUnsigned, width, power))
}

fn remainder(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let (I::RemainderUnsigned, width, constant) = on_constant(function, operands)? else {
        return None;
    };
    constant.is_power_of_two().then(|| with_constant(I::And, width, constant - 1))
}

fn neutral(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let (function, width, constant) = on_constant(function, operands)?;
    let [least, most] = signed_range(width);
    let neutral = match function {
        I::Add
        | I::Or
        | I::Xor
        | I::ShiftLeft
        | I::ShiftRightSigned
        | I::ShiftRightUnsigned
        | I::MaximumUnsigned => 0,
        // Of one bit, 1 is -1.
        I::Multiply | I::DivideSigned | I::DivideUnsigned if width > 1 => 1,
        I::And | I::MinimumUnsigned => cut(width, u64::MAX),
        I::MinimumSigned => most,
        I::MaximumSigned => least,
        _ => return None,
    };
    (constant == neutral).then_some(Form::Operand(0))
}

/// `a + 0` and `a - (-0)` are none of these: they make 0 of -0.
fn neutral_float(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let Scalar::FloatBinary(function, element) = function else { return None };
    let constant = bits::float(element, operands.get(1)?.constant?)?;
    let neutral: f64 = match function {
        FloatBinary::Multiply | FloatBinary::Divide => 1.0,
        FloatBinary::Add => -0.0,
        FloatBinary::Subtract => 0.0,
        _ => return None,
    };
    (constant.to_bits() == neutral.to_bits()).then_some(Form::Operand(0))
}

fn absorbing(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let (function, width, constant) = on_constant(function, operands)?;
    let [least, most] = signed_range(width);
    let absorbing = match function {
        I::And | I::Multiply | I::MinimumUnsigned => 0,
        I::Or | I::MaximumUnsigned => cut(width, u64::MAX),
        I::MinimumSigned => least,
        I::MaximumSigned => most,
        _ => return None,
    };
    (constant == absorbing).then_some(Form::Operand(1))
}

/// The least and the most of signed numbers of a width, as bits.
fn signed_range(width: u32) -> [u64; 2] {
    let least = 1_u64.checked_shl(width.saturating_sub(1)).unwrap_or(0);
    [least, cut(width, least.wrapping_sub(1))]
}

fn idempotent(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let [one, other] = operands else { return None };
    let is_so = match function {
        Scalar::IntegerBinary(function, _) => matches!(
            function,
            I::And
                | I::Or
                | I::MinimumSigned
                | I::MaximumSigned
                | I::MinimumUnsigned
                | I::MaximumUnsigned
        ),
        Scalar::FloatBinary(function, _) => matches!(
            function,
            FloatBinary::Minimum
                | FloatBinary::Maximum
                | FloatBinary::MinimumNumber
                | FloatBinary::MaximumNumber
        ),
        _ => false,
    };
    (is_so && one.number == other.number).then_some(Form::Operand(0))
}

fn is_select(function: Scalar) -> bool {
    matches!(function, Scalar::SelectFloat | Scalar::SelectInteger)
}

fn chosen(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let [condition, yes, no] = operands else { return None };
    match condition.constant {
        _ if !is_select(function) => None,
        _ if yes.number == no.number => Some(Form::Operand(1)),
        Some(bits) => Some(Form::Operand(if bits & 1 == 1 { 1 } else { 2 })),
        None => None,
    }
}

fn boolean_choice(function: Scalar, operands: &[Operand]) -> Option<Form> {
    let [condition, yes, no] = operands else { return None };
    match (yes.constant?, no.constant?) {
        _ if function != Scalar::SelectInteger || !condition.is_boolean => None,
        (1, 0) => Some(Form::Operand(0)),
        (0, 1) => Some(not(Form::Operand(0))),
        _ => None,
    }
}
