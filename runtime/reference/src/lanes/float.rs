//! Functions of floats: the value in f64, and a bound of how far a correct implementation in the
//! element type may be away.
//!
//! A bound is a running error analysis: what the operands may be away, carried through the
//! operation, and the operation's own rounding in its type. Where an operand may be on both sides
//! of a step or a pole, the bound is infinite: there is no opinion.

use crate::formats::{epsilon, greatest, least_normal, round_to, tiny};
use crate::lanes::accuracy;
use mlir::Format;
use mlir::{FloatBinary as B, FloatUnary as U};

/// The function itself.
pub(crate) fn unary(function: U) -> fn(f64) -> f64 {
    match function {
        U::Negate => |a| -a,
        U::Absolute => f64::abs,
        U::Ceil => f64::ceil,
        U::Floor => f64::floor,
        U::Round => f64::round,
        U::RoundEven => f64::round_ties_even,
        U::Truncate => f64::trunc,
        U::Exp => f64::exp,
        U::Exp2 => f64::exp2,
        U::ExpM1 => f64::exp_m1,
        U::Log => f64::ln,
        U::Log2 => f64::log2,
        U::Log10 => f64::log10,
        U::Log1p => f64::ln_1p,
        U::Sqrt => f64::sqrt,
        U::Rsqrt => |a| 1.0 / a.sqrt(),
        U::Cbrt => f64::cbrt,
        U::Sin => f64::sin,
        U::Cos => f64::cos,
        U::Tan => f64::tan,
        U::Asin => f64::asin,
        U::Acos => f64::acos,
        U::Atan => f64::atan,
        U::Sinh => f64::sinh,
        U::Cosh => f64::cosh,
        U::Tanh => f64::tanh,
        U::Asinh => f64::asinh,
        U::Acosh => f64::acosh,
        U::Atanh => f64::atanh,
        U::Erf => libm::erf,
        U::Erfc => libm::erfc,
    }
}

/// A function of two floats, for the few that need no loop of their own.
pub(crate) fn binary(function: B) -> fn(f64, f64) -> f64 {
    match function {
        B::Add => |a, b| a + b,
        B::Subtract => |a, b| a - b,
        B::Multiply => |a, b| a * b,
        B::Divide => |a, b| a / b,
        B::Remainder => |a, b| a % b,
        B::Maximum => maximum,
        B::Minimum => minimum,
        B::MaximumNumber => f64::max,
        B::MinimumNumber => f64::min,
        B::Power => f64::powf,
        B::Atan2 => f64::atan2,
        B::CopySign => f64::copysign,
    }
}

/// The greater one; NaN if one is NaN.
pub(crate) fn maximum(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// The lesser one; NaN if one is NaN.
pub(crate) fn minimum(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

/// A number and its bound.
pub(crate) type Pair = (f64, f64);

/// The bound of an infinity that finite numbers became. It is exact, like one of bound zero, but
/// for a sum: a product and a sum may be one instruction, which does not round the product.
const OVERFLOWN: f64 = f64::from_bits(1);

/// How many times the greatest number of its type a sum is infinite at in every implementation.
pub(crate) const SUMS: f64 = 1.0;
/// The same of other results. What may be a product is at twice that: whatever finite number one
/// instruction adds to it without a rounding in between, the sum is infinite, too.
pub(crate) const OTHERS: f64 = 2.0;

/// A result and its bound, which is asked for by the type that it is computed in. One that is so
/// many times the greatest number is infinite in every implementation ([`SUMS`], [`OTHERS`]).
///
/// Only f32 is computed as such everywhere: machines without narrower floats may round these later.
pub(crate) fn bounded(
    format: Format,
    value: f64,
    limit: f64,
    bound: impl Fn(Format) -> f64,
) -> Pair {
    // More than functions are promised to be exact, in units of f32.
    const ROUNDED: f64 = 1.0 / 1024.0;
    let own = bound(format);
    let limit = limit * greatest(format);
    let is_candidate = own == f64::INFINITY && value.is_finite() && value.abs() > limit;
    let is_beyond = || value.abs() * (1.0 - ROUNDED) - bound(Format::F64) > limit;
    match format == Format::F32 && is_candidate && is_beyond() {
        true => (f64::INFINITY.copysign(value), OVERFLOWN),
        false => (value, own),
    }
}

/// Whether a number is an infinity that finite numbers became.
fn is_overflown((value, bound): Pair) -> bool {
    value.is_infinite() && bound > 0.0 && bound < f64::MIN_POSITIVE
}

/// Whether a number is what it is in every implementation.
fn is_certain((value, bound): Pair) -> bool {
    bound == 0.0 || is_overflown((value, bound))
}

/// The bound of a result from what the operands add to it and the roundings of its own.
fn settle(format: Format, value: f64, carried: f64, own: f64, operands: &[Pair]) -> f64 {
    if value.is_finite() {
        let is_exact_zero = value == 0.0 && carried == 0.0;
        let least = if own == 0.0 || is_exact_zero { 0.0 } else { tiny(format) };
        let bound = carried + own * epsilon(format) + least;
        // Beyond the greatest number, one implementation has infinity and another a number. What is
        // not rounded, and no farther away than an operand, is a number as that is. A result of
        // zero is not rounded either, and may be anything.
        let is_as_operand = own == 0.0 && operands.iter().any(|(_, it)| bound <= *it);
        let is_within = is_as_operand || value.abs() + bound <= greatest(format);
        return if bound.is_finite() && is_within { bound } else { f64::INFINITY };
    }
    let is_decided = if value.is_nan() {
        operands.iter().any(|(a, bound)| a.is_nan() && *bound == 0.0)
            || operands.iter().all(|it| is_certain(*it))
    } else {
        // A carried bound that is no number comes from infinite operands, which are decided.
        operands.iter().all(|(_, bound)| bound.is_finite()) && carried != f64::INFINITY
    };
    if is_decided { 0.0 } else { f64::INFINITY }
}

/// The bound of a sum or a difference. One that is a step of a longer sum is not rounded here: the
/// whole sum is, for any order of its terms.
pub(crate) fn sum_bound(format: Format, value: f64, a: Pair, b: Pair, is_step: bool) -> f64 {
    if (is_overflown(a) || is_overflown(b)) && !value.is_finite() {
        let is_decided = value.is_infinite() && a.1.is_finite() && b.1.is_finite();
        return if is_decided { OVERFLOWN } else { f64::INFINITY };
    }
    let carried = a.1 + b.1;
    let own = match is_step || is_exact(format, value, carried, a, b, is_exact_sum) {
        true => 0.0,
        false => value.abs(),
    };
    if !value.is_finite() {
        return settle(format, value, carried, own, &[a, b]);
    }
    let b = if a.0 + b.0 == value { b } else { (-b.0, b.1) };
    let is_within = match is_step {
        true => value.abs() + carried <= greatest(format),
        false => is_sum_finite(format, a, b),
    };
    let bound = carried + own * epsilon(format) + if own == 0.0 { 0.0 } else { tiny(format) };
    if is_within && carried.is_finite() { bound } else { f64::INFINITY }
}

/// Whether the sum of two numbers is finite once it is rounded. Each is a number of the format, so
/// it is no larger than the greatest one, however wide its bound is: as of a mask of such numbers,
/// to which scores were added.
fn is_sum_finite(format: Format, a: Pair, b: Pair) -> bool {
    let greatest = greatest(format);
    // The first that is rounded to infinity is half a step from the greatest one.
    let limit = greatest * (1.0 + epsilon(format) / 2.0);
    let least = |(value, bound): Pair| (value - bound).max(-greatest);
    let most = |(value, bound): Pair| (value + bound).min(greatest);
    least(a) + least(b) > -limit && most(a) + most(b) < limit
}

/// A difference of two numbers, with its bound.
pub(crate) fn difference(format: Format, a: Pair, b: Pair) -> Pair {
    let value = a.0 - b.0;
    bounded(format, value, SUMS, |format| sum_bound(format, value, a, (-b.0, b.1), false))
}

/// The greatest of some numbers; the least number of all if there are none.
pub(crate) fn greatest_of(format: Format, numbers: impl Iterator<Item = Pair>) -> Pair {
    numbers.fold((f64::NEG_INFINITY, 0.0), |greatest, it| {
        let value = maximum(greatest.0, it.0);
        (value, binary_bound(B::Maximum, format, value, greatest, it))
    })
}

/// The bound of the result of a function of two floats.
pub(crate) fn binary_bound(function: B, format: Format, value: f64, a: Pair, b: Pair) -> f64 {
    let all = [a, b];
    match function {
        B::Add | B::Subtract => sum_bound(format, value, a, b, false),
        B::Multiply => {
            if is_infinite_times(format, a, b) || is_infinite_times(format, b, a) {
                return 0.0;
            }
            let carried = product(a.0, b.1) + product(b.0, a.1) + product(a.1, b.1);
            let is_exact = is_exact(format, value, carried, a, b, is_exact_product);
            settle(format, value, carried, if is_exact { 0.0 } else { value.abs() }, &all)
        }
        B::Divide => {
            // The divisor may be zero or of another sign.
            if b.1 >= b.0.abs() && b.1 > 0.0 {
                return f64::INFINITY;
            }
            let is_zero = b.0.is_infinite() && a.1.is_finite() && a.0.is_finite();
            if is_zero || is_infinite_times(format, a, b) {
                return 0.0;
            }
            let carried = (a.1 + product(value, b.1)) / (b.0.abs() - b.1);
            let carried = if a.1 + b.1 == 0.0 { 0.0 } else { carried };
            let is_exact = carried == 0.0
                && is_power_of_two(b.0)
                && is_exact(format, value, carried, a, b, |_, _, _| true);
            settle(format, value, carried, if is_exact { 0.0 } else { value.abs() }, &all)
        }
        B::Remainder => {
            let same = (a.0 - a.1) / b.0;
            let is_same = b.1 == 0.0 && same.trunc() == ((a.0 + a.1) / b.0).trunc();
            match (a.1 + b.1 == 0.0, is_same) {
                (true, _) => 0.0,
                (false, true) => settle(format, value, a.1, 0.0, &all),
                _ => f64::INFINITY,
            }
        }
        B::Maximum | B::MaximumNumber => extreme(format, value, a, b),
        B::Minimum | B::MinimumNumber => extreme(format, value, (-a.0, a.1), (-b.0, b.1)),
        B::Power => {
            if a.0 == 0.0 && a.1 == 0.0 && b.1 == 0.0 {
                return 0.0;
            }
            let carried = corners(a, b, value, f64::powf);
            // A base that may be zero or change its sign has no bound, unless all is exact.
            if carried > 0.0 && a.1 >= a.0.abs() && b.0 <= 0.0 {
                return f64::INFINITY;
            }
            let own = value.abs() * accuracy::power(b.0 * a.0.abs().ln());
            settle(format, value, carried, own, &all)
        }
        B::Atan2 => {
            let is_near_origin = a.1 >= a.0.abs() && b.1 >= b.0.abs();
            let is_near_cut = b.0 <= b.1 && a.1 >= a.0.abs() && a.1 > 0.0;
            if (a.1 + b.1 > 0.0) && (is_near_origin || is_near_cut) {
                return f64::INFINITY;
            }
            let carried = corners(a, b, value, f64::atan2);
            settle(format, value, carried, value.abs() * accuracy::ATAN2, &all)
        }
        B::CopySign => {
            let is_decided = b.1 < b.0.abs() || b.1 == 0.0;
            settle(format, value, if is_decided { a.1 } else { a.1 + 2.0 * value.abs() }, 0.0, &all)
        }
    }
}

/// Whether the first number is infinite, and the other one is finite and of one sign, and so far
/// from zero that nothing flushes it: then their product and their quotient are infinite, whatever
/// the other one is.
fn is_infinite_times(format: Format, a: Pair, b: Pair) -> bool {
    let is_decided = b.0.is_finite() && b.0.abs() - b.1 >= least_normal(format);
    a.0.is_infinite() && is_certain(a) && is_decided
}

/// Whether no implementation rounds a sum or a product: it is a number of the format, or all that
/// it may be are whole numbers that the format has, as after a rounding to whole numbers.
fn is_exact(
    format: Format,
    value: f64,
    carried: f64,
    a: Pair,
    b: Pair,
    is_exact_in_f64: fn(f64, f64, f64) -> bool,
) -> bool {
    let is_whole = |(value, bound): Pair| value.fract() == 0.0 && bound.fract() == 0.0;
    if carried == 0.0 {
        let is_normal = value == 0.0 || value.abs() >= least_normal(format);
        round_to(format, value) == value && is_normal && is_exact_in_f64(a.0, b.0, value)
    } else {
        is_whole(a) && is_whole(b) && (value.abs() + carried) * epsilon(format) <= 1.0
    }
}

/// Whether f64 has not rounded a sum or a difference (Knuth's TwoSum).
fn is_exact_sum(a: f64, b: f64, sum: f64) -> bool {
    let of = |b: f64| {
        let rest = sum - a;
        (a - (sum - rest)) + (b - rest) == 0.0
    };
    of(b) || of(-b)
}

/// Whether f64 has not rounded a product.
fn is_exact_product(a: f64, b: f64, product: f64) -> bool {
    a.mul_add(b, -product) == 0.0
}

/// Whether dividing by a number moves only the exponent, also where an implementation multiplies by
/// the reciprocal.
fn is_power_of_two(number: f64) -> bool {
    const FRACTION: u64 = (1 << 52) - 1;
    number.is_normal() && number.to_bits() & FRACTION == 0
}

/// A magnitude times a bound; an exact operand contributes nothing, even to infinity.
fn product(value: f64, bound: f64) -> f64 {
    if bound == 0.0 || value == 0.0 { 0.0 } else { value.abs() * bound }
}

/// The bound of the greater of two.
fn extreme(format: Format, value: f64, a: Pair, b: Pair) -> f64 {
    if a.0 - a.1 > b.0 + b.1 {
        return a.1;
    }
    if b.0 - b.1 > a.0 + a.1 {
        return b.1;
    }
    settle(format, value, a.1.max(b.1), 0.0, &[a, b])
}

/// How far a function that is monotone in both operands moves within their bounds.
fn corners(a: Pair, b: Pair, value: f64, function: fn(f64, f64) -> f64) -> f64 {
    if is_certain(a) && is_certain(b) {
        return 0.0;
    }
    let mut most = 0.0_f64;
    for x in [a.0 - a.1, a.0 + a.1] {
        for y in [b.0 - b.1, b.0 + b.1] {
            let moved = (function(x, y) - value).abs();
            if moved.is_nan() {
                return f64::INFINITY;
            }
            most = most.max(moved);
        }
    }
    most
}

/// The bound of the result of a function of one float.
pub(crate) fn unary_bound(function: U, format: Format, value: f64, a: Pair) -> f64 {
    if is_overflown(a) && function == U::Negate {
        return OVERFLOWN;
    }
    let carried = if is_certain(a) { 0.0 } else { moved(function, value, a) };
    let promised = accuracy::of(function, format);
    let mut own = value.abs() * promised.relative + promised.absolute;
    if function == U::Exp2 && value != 0.0 && value.is_finite() {
        own += value * accuracy::exp2(a.0);
    }
    if promised.of_operand > 0.0 {
        own += a.0.abs() * promised.of_operand;
    }
    let bound = settle(format, value, carried, own, &[a]);
    let least = least_normal(format);
    if own > 0.0 && value.abs() <= least { bound.max(least) } else { bound }
}

/// How far a function moves within the bound of its operand.
fn moved(function: U, value: f64, (a, bound): Pair) -> f64 {
    if !bound.is_finite() {
        return f64::INFINITY;
    }
    let evaluate = unary(function);
    let (low, high) = (a - bound, a + bound);
    match function {
        U::Negate | U::Absolute => return bound,
        U::Sin | U::Cos => return bound.min(2.0),
        U::Tan => {
            let branch = |x: f64| (x / std::f64::consts::PI + 0.5).floor();
            if branch(low) != branch(high) {
                return f64::INFINITY;
            }
        }
        _ => {}
    }
    let mut most = 0.0_f64;
    for x in [low, high] {
        let difference = (evaluate(x) - value).abs();
        if difference.is_nan() {
            return f64::INFINITY;
        }
        most = most.max(difference);
    }
    if function == U::Cosh && low < 0.0 && high > 0.0 {
        most = most.max(value - 1.0);
    }
    most
}

/// The bound of `1 / (1 + exp(-x))`, of which each operation is rounded. Where the exponential is
/// infinite in one implementation, the quotient is zero there, and not more than 1 / greatest in
/// others.
pub(crate) fn logistic_bound(format: Format, value: f64, (x, bound): Pair) -> f64 {
    if x.is_nan() || value.is_nan() {
        return f64::INFINITY;
    }
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let carried = if bound == 0.0 {
        0.0
    } else {
        let (low, high) = (logistic(x - bound), logistic(x + bound));
        // An infinite bound of an infinite operand leaves all that the function may be.
        let moved = (value - low).max(high - value);
        if moved.is_nan() { value.max(1.0 - value) } else { moved }
    };
    // The exponential, the sum and the quotient, wherever the operand is.
    let units = accuracy::of(U::Exp, format).relative + 3.0;
    let rounded = (value + carried) * units * epsilon(format);
    carried + rounded + 1.0 / greatest(format) + least_normal(format)
}

/// The bound of `a * b + c`, rounded once or twice.
pub(crate) fn fused_bound(
    format: Format,
    value: f64,
    a: Pair,
    b: Pair,
    c: Pair,
    is_step: bool,
) -> f64 {
    let times = binary_bound(B::Multiply, format, a.0 * b.0, a, b);
    sum_bound(format, value, (a.0 * b.0, times), c, is_step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_numbers_of_the_format_are_not_rounded() {
        let sum = |value, a, b| sum_bound(Format::F32, value, a, b, false);
        assert_eq!(sum(8.0, (5.0, 0.0), (3.0, 0.0)), 0.0);
        assert_eq!(sum(8.0, (5.0, 1.0), (3.0, 0.0)), 1.0, "a rounding to whole numbers was near");
        assert!(sum(8.5, (5.5, 1.0), (3.0, 0.0)) > 1.0);
        let (a, b) = (f64::from(0.1_f32), f64::from(0.7_f32));
        assert!(sum(a + b, (a, 0.0), (b, 0.0)) > 0.0);
        assert!(sum(a - b, (a, 0.0), (b, 0.0)) > 0.0);
        // The whole numbers of f32 end at 2^24.
        let large = 2_f64.powi(24);
        assert!(sum(large + 3.0, (large, 1.0), (3.0, 0.0)) > 1.0);
        let product =
            |a: f64, b: f64| binary_bound(B::Multiply, Format::F32, a * b, (a, 0.0), (b, 0.0));
        assert_eq!((product(a, 0.5), product(3.0, -7.0)), (0.0, 0.0));
        assert!(product(a, b) > 0.0);
        let quotient =
            |a: f64, b: f64| binary_bound(B::Divide, Format::F32, a / b, (a, 0.0), (b, 0.0));
        assert_eq!((quotient(a, 2.0), quotient(5.0, -0.25)), (0.0, 0.0));
        assert!(quotient(6.0, 3.0) > 0.0, "a reciprocal may be rounded");
        // f64 rounds here as the implementation does, in another order perhaps.
        let exact = sum_bound(Format::F64, a + 1e-30, (a, 0.0), (1e-30, 0.0), false);
        assert!(exact > 0.0);
        // Workers may flush what is too small for a full significand.
        assert!(product(2_f64.powi(-100), 2_f64.powi(-40)) > 0.0);
    }

    #[test]
    fn infinite_products_and_quotients_are_decided_where_the_other_sign_is() {
        let infinity = (f64::INFINITY, 0.0);
        let bound = |function, b: Pair| {
            let value = binary(function)(infinity.0, b.0);
            binary_bound(function, Format::F32, value, infinity, b)
        };
        for function in [B::Multiply, B::Divide] {
            assert_eq!(bound(function, (0.5, 0.125)), 0.0);
            assert_eq!(bound(function, (-0.5, 0.125)), 0.0);
            assert_eq!(bound(function, (0.5, 0.75)), f64::INFINITY, "of either sign");
        }
        assert_eq!(bound(B::Multiply, (1e-39, 1e-45)), f64::INFINITY, "it may be flushed to zero");
        let large = binary_bound(B::Multiply, Format::F32, 2e38 * 2.0, (2e38, 1.0), (2.0, 0.0));
        assert_eq!(large, f64::INFINITY, "a product that overflows");
    }

    #[test]
    fn scores_of_a_mask_are_finite() {
        let least = -f64::from(f32::MAX);
        let sum = |a: Pair, b: Pair| sum_bound(Format::F32, a.0 + b.0, a, b, false);
        let masked = (least - 2.25, sum((-2.25, 1e-6), (least, 0.0)));
        assert!(masked.1 < 1e32);
        let apart = difference(Format::F32, masked, (2.25, 1e-6));
        assert!(apart.1 < 1e32, "{apart:?}");
        assert_eq!(unary_bound(U::Negate, Format::F32, -masked.0, masked), masked.1);
        assert_eq!(difference(Format::F32, masked, (-least, 0.0)).0, f64::NEG_INFINITY);
        assert_eq!(sum(masked, (-1.1e31, 0.0)), f64::INFINITY, "more than half a step below");
    }

    #[test]
    fn a_zero_that_may_be_too_large_has_no_bound() {
        let product = |a: Pair, b: Pair| binary_bound(B::Multiply, Format::F32, a.0 * b.0, a, b);
        assert_eq!(product((0.0, 1e20), (1e30, 0.0)), f64::INFINITY);
        assert!(product((0.0, 1e20), (0.5, 0.0)) < 1e20);
        let exp = unary_bound(U::Exp, Format::F32, 0.0, (-1000.0, 1095.0));
        assert_eq!(exp, f64::INFINITY);
    }

    #[test]
    fn what_is_too_large_in_every_order_is_infinite() {
        let product = |format, a: Pair, b: Pair| {
            let value = a.0 * b.0;
            let bound = |format| binary_bound(B::Multiply, format, value, a, b);
            Some(bounded(format, value, OTHERS, bound)).filter(|it| is_overflown(*it))
        };
        let exact = |it| (it, 0.0);
        let infinity = (f64::INFINITY, OVERFLOWN);
        assert_eq!(product(Format::F32, exact(1e30), exact(1e20)), Some(infinity));
        let negative = product(Format::F32, exact(-1e30), exact(1e20)).unwrap();
        assert_eq!(negative, (f64::NEG_INFINITY, OVERFLOWN));
        assert_eq!(product(Format::F32, exact(2e38), exact(2.0)), None, "a sum may bring it back");
        assert_eq!(product(Format::F32, (1e30, 0.99e30), exact(1e9)), None, "it may be small");
        assert_eq!(product(Format::F16, exact(1e30), exact(1e20)), None, "it may be an f32");
        let sum = |a: Pair, b: Pair| sum_bound(Format::F32, a.0 + b.0, a, b, false);
        assert_eq!(sum(infinity, exact(-3e38)), OVERFLOWN);
        assert_eq!(sum(infinity, infinity), OVERFLOWN);
        assert_eq!(sum(infinity, negative), f64::INFINITY, "infinite or no number");
        assert_eq!(sum(infinity, exact(f64::NEG_INFINITY)), f64::INFINITY, "as one instruction");
        let negated = unary_bound(U::Negate, Format::F32, f64::NEG_INFINITY, infinity);
        assert_eq!(negated, OVERFLOWN);
        for function in [U::Sqrt, U::Absolute, U::Exp, U::Tanh, U::Floor] {
            let value = unary(function)(f64::INFINITY);
            let bound = unary_bound(function, Format::F32, value, infinity);
            let of_infinity = unary_bound(function, Format::F32, value, exact(f64::INFINITY));
            assert_eq!(bound, of_infinity, "{function:?}");
        }
        let quotient = |a: Pair, b: Pair| binary_bound(B::Divide, Format::F32, a.0 / b.0, a, b);
        assert_eq!((quotient(exact(1e30), infinity), quotient(infinity, (2.0, 1e-3))), (0.0, 0.0));
        assert_eq!(quotient(infinity, infinity), 0.0);
    }

    #[test]
    fn logistic_functions_stay_within_their_bound() {
        let mut checked = 0;
        for x in (-120..=120).map(|it| f64::from(it) * 0.93) {
            for bound in [0.0, 1e-6, 0.25, 40.0, f64::INFINITY] {
                let value = 1.0 / (1.0 + (-x).exp());
                let allowed = logistic_bound(Format::F32, value, (x, bound));
                assert!(allowed < 1.01, "{x} ± {bound}: {allowed}");
                for part in [-1.0, -0.5, 0.0, 0.5, 1.0] {
                    let moved = if part == 0.0 { x } else { x + part * bound };
                    // In f32 the exponential is infinite from 89 on.
                    let found = 1.0 / (1.0 + (-moved as f32).exp());
                    let apart = (f64::from(found) - value).abs();
                    // f32 has rounded x, too; nowhere is the function steeper than a quarter.
                    let rounded = if moved.is_finite() {
                        (f64::from(moved as f32) - moved).abs() / 4.0
                    } else {
                        0.0
                    };
                    assert!(apart <= allowed + rounded, "{x} ± {bound}: {apart} > {allowed}");
                    checked += 1;
                }
            }
        }
        assert_eq!(checked, 241 * 5 * 5);
        assert_eq!(logistic_bound(Format::F32, f64::NAN, (f64::NAN, 0.0)), f64::INFINITY);
    }
}
