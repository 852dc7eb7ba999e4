//! Conversions, comparisons and choices, each with the bound of its error.

use crate::formats::{epsilon, greatest, least_normal, round_to, tiny};
use crate::lanes::float::Pair;
use crate::values::{Number, canonical, signed, unsigned};
use mlir::{Element, Format};
use mlir::{FloatTest, Order};

/// A float in another format. Only narrower formats round.
pub(crate) fn convert(to: Format, (value, bound): Pair) -> Pair {
    let rounded = round_to(to, value);
    if bound == 0.0 {
        // What was a number of a format that is at least as precise rounds in one way only.
        return (rounded, 0.0);
    }
    if rounded == value && matches!(to, Format::F64) {
        return (value, bound);
    }
    if !value.is_finite() || !rounded.is_finite() {
        // What rounds to infinity on both sides of the bound is decided.
        let is_same = |other: f64| round_to(to, other).to_bits() == rounded.to_bits();
        let is_decided = is_same(value - bound) && is_same(value + bound);
        return (rounded, if is_decided { 0.0 } else { f64::INFINITY });
    }
    let carried = bound + value.abs() * epsilon(to) * 2.0 + tiny(to);
    let is_decided = value.abs() + carried <= greatest(to);
    (rounded, if is_decided { carried } else { f64::INFINITY })
}

/// An integer as a float, rounded to its format.
pub(crate) fn from_integer(value: i64, bound: f64, from: u32, to: Format, is_signed: bool) -> Pair {
    let exact = if is_signed { signed(value, from) as f64 } else { unsigned(value, from) as f64 };
    let (_, limit) = (0, 2_f64.powi(53));
    let rounded = round_to(to, exact);
    // The evaluator's own conversion of a large integer is rounded twice.
    let own =
        if exact.abs() > limit && to != Format::F64 { exact.abs() * epsilon(to) } else { 0.0 };
    let carried = if bound == 0.0 { own } else { bound + exact.abs() * epsilon(to) };
    (rounded, carried)
}

/// A float as an integer, toward zero. What is out of range has no value.
pub(crate) fn to_integer((value, bound): Pair, width: u32, is_signed: bool) -> (i64, f64) {
    let (low, high) = if is_signed {
        (-(2_f64.powi(width as i32 - 1)), 2_f64.powi(width as i32 - 1))
    } else {
        (0.0, 2_f64.powi(width as i32))
    };
    let whole = value.trunc();
    let integer = if is_signed { whole as i64 } else { whole as u64 as i64 };
    let fits = |it: f64| it >= low && it < high;
    if !fits(whole) || !fits((value - bound).trunc()) || !fits((value + bound).trunc()) {
        return (canonical(integer, width), f64::INFINITY);
    }
    let most = ((value + bound).trunc() - whole).max(whole - (value - bound).trunc());
    (canonical(integer, width), most)
}

/// The bits of a value as another type.
pub(crate) fn bitcast(from: Element, to: Element, number: Number) -> Number {
    let bits = match from {
        Element::Float(Format::F64) => number.float.to_bits(),
        Element::Float(Format::F32) => u64::from((number.float as f32).to_bits()),
        Element::Float(Format::F16) => u64::from(half::f16::from_f64(number.float).to_bits()),
        Element::Float(Format::Bf16) => u64::from(half::bf16::from_f64(number.float).to_bits()),
        Element::Float(_) => bits_of_small(from, number.float),
        other => unsigned(number.integer, other.width()),
    };
    // Other bits are other values; how far they are away is not known.
    let mut bound = if number.bound == 0.0 { 0.0 } else { f64::INFINITY };
    if let Element::Float(format) = from
        && round_to(format, number.float).to_bits() != number.float.to_bits()
    {
        bound = f64::INFINITY;
    }
    match to {
        Element::Float(_) => {
            let float = to.element_type().float_value(&bits.to_le_bytes()).unwrap_or(f64::NAN);
            Number { float, integer: 0, bound }
        }
        _ => Number { float: 0.0, integer: canonical(bits as i64, to.width()), bound },
    }
}

/// The code of an 8-bit float.
fn bits_of_small(element: Element, value: f64) -> u64 {
    let element = element.element_type();
    let is_it = |code: &u64| {
        let found = element.float_value(&code.to_le_bytes()).unwrap_or(f64::NAN);
        found.to_bits() == value.to_bits() || found.is_nan() && value.is_nan()
    };
    (0..256).find(is_it).unwrap_or_default()
}

/// Whether two floats are in an order.
pub(crate) fn compare_floats(order: Order, unordered: bool, a: f64, b: f64) -> bool {
    a.partial_cmp(&b).map_or(unordered, |between| order.holds(between))
}

/// Whether a comparison within these bounds could come out otherwise.
pub(crate) fn compare_bound(order: Order, a: Pair, b: Pair) -> f64 {
    let both = a.1 + b.1;
    let is_asked = !matches!(order, Order::Always | Order::Never | Order::Ordered);
    let is_near = both > 0.0 && ((a.0 - b.0).abs() <= both || !both.is_finite());
    if is_near && (is_asked || !both.is_finite()) { 1.0 } else { 0.0 }
}

/// Whether two integers are in an order.
pub(crate) fn compare_integers(order: Order, is_signed: bool, a: i64, b: i64, width: u32) -> bool {
    let ordering = if is_signed {
        signed(a, width).cmp(&signed(b, width))
    } else {
        unsigned(a, width).cmp(&unsigned(b, width))
    };
    order.holds(ordering)
}

/// What a test of a float of a format says, and whether that is certain within a bound.
pub(crate) fn test(what: FloatTest, format: Format, (value, bound): Pair) -> (bool, bool) {
    let is_bounded = bound.is_finite();
    // Within the bound, it may be more than the format holds.
    let is_held = is_bounded && (!value.is_finite() || value.abs() + bound <= greatest(format));
    match what {
        FloatTest::Nan => (value.is_nan(), is_bounded),
        FloatTest::Infinite => (value.is_infinite(), is_held),
        FloatTest::Finite => (value.is_finite(), is_held),
        FloatTest::Normal => {
            let least = least_normal(format);
            let is_normal = value.is_finite() && value.abs() >= least;
            let is_far = !value.is_finite() || bound == 0.0 || (value.abs() - least).abs() > bound;
            (is_normal, is_held && is_far)
        }
    }
}

/// The bound of a choice: where the condition may come out otherwise, the other value counts too.
pub(crate) fn choice_bound(condition: f64, chosen: Pair, other: Pair) -> f64 {
    if condition == 0.0 {
        return chosen.1;
    }
    if chosen.0.to_bits() == other.0.to_bits() {
        return chosen.1.max(other.1);
    }
    let apart = (chosen.0 - other.0).abs() + other.1;
    if apart.is_nan() { f64::INFINITY } else { apart.max(chosen.1) }
}
