//! Running a program's steps on the lanes of a bank.

use std::sync::Arc;

use crate::formats::epsilon;
use crate::lanes::bank::Bank;
use crate::lanes::compile::{Logistic, Step, Term, What};
use crate::lanes::integer::Fault;
use crate::lanes::{convert, float, integer};
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor, canonical, signed, strides_of, unsigned};
use mlir::table::Affine;
use mlir::{Element, FloatBinary as B, Format, IntegerBinary as I, Map, Scalar};

/// What steps need besides registers.
pub(crate) struct Context<'c> {
    pub(crate) tensors: &'c [Arc<Tensor>],
    /// Whether bounds are kept.
    pub(crate) with_bounds: bool,
}

/// Runs steps on the first lanes.
pub(crate) fn run(
    bank: &mut Bank,
    steps: &[Step],
    lanes: usize,
    context: &Context<'_>,
) -> Result<()> {
    for step in steps {
        match &step.what {
            What::Scalar(what) => {
                apply(bank, what, &step.inputs, step.output, step.sum, lanes, context.with_bounds)
                    .map_err(|it| at_line(it, step.line))?;
                if let Some(logistic) = step.logistic.filter(|_| context.with_bounds) {
                    bound_logistic(bank, what, logistic, step.output, lanes);
                }
            }
            What::Affine(map, which) => {
                affine(bank, step, map, *which, lanes).map_err(|it| at_line(it, step.line))?;
            }
            What::Extract(tensor) => extract(bank, step, &context.tensors[*tensor], lanes)
                .map_err(|it| at_line(it, step.line))?,
            What::Assert(message) => {
                let condition = step.inputs[0];
                let fails = |lane: usize| {
                    bank.integers[condition][lane] == 0 && bank.bounds[condition][lane] == 0.0
                };
                if (0..lanes).any(fails) {
                    return Err(Refusal::undefined(step.line, format!("fails: {message}")));
                }
            }
            What::If { then, otherwise, pairs, results } => {
                let condition = bank.get(step.inputs[0], 0);
                let is_first = condition.integer != 0;
                run(bank, if is_first { then } else { otherwise }, lanes, context)?;
                for (from, to) in pairs[usize::from(!is_first)].iter().zip(results) {
                    let mut number = bank.get(*from, 0);
                    if condition.bound != 0.0 {
                        number.bound = f64::INFINITY;
                    }
                    bank.broadcast(*to, number);
                }
            }
        }
    }
    Ok(())
}

/// Bounds a quotient as the logistic function that it is, where that is less.
fn bound_logistic(
    bank: &mut Bank,
    what: &Scalar,
    Logistic { operand, ones }: Logistic,
    output: usize,
    lanes: usize,
) {
    let Scalar::FloatBinary(_, element) = what else { return };
    for lane in 0..lanes {
        let is_one = |at: usize| bank.floats[at][lane] == 1.0 && bank.bounds[at][lane] == 0.0;
        if !ones.into_iter().all(is_one) {
            continue;
        }
        let operand = (bank.floats[operand][lane], bank.bounds[operand][lane]);
        let value = bank.floats[output][lane];
        let bound = float::logistic_bound(format_of(*element), value, operand);
        let known = &mut bank.bounds[output][lane];
        *known = known.min(bound);
    }
}

fn at_line(mut refusal: Refusal, line: usize) -> Refusal {
    if refusal.line == 0 {
        refusal.line = line;
    }
    refusal
}

/// Elements of a tensor, at computed indices.
fn extract(bank: &mut Bank, step: &Step, tensor: &Tensor, lanes: usize) -> Result<()> {
    let strides = strides_of(&tensor.shape);
    if step.inputs.len() != strides.len() {
        return Err(Refusal::malformed(step.line, "another number of indices than dimensions"));
    }
    for lane in 0..lanes {
        let mut offset = 0;
        let mut is_unsure = false;
        for ((register, size), stride) in step.inputs.iter().zip(&tensor.shape).zip(&strides) {
            let index = bank.integers[*register][lane];
            is_unsure |= bank.bounds[*register][lane] != 0.0;
            let inside = usize::try_from(index).ok().filter(|index| index < size);
            let Some(index) = inside else {
                let reason = format!("index {index} of a dimension of {size}");
                return Err(Refusal::undefined(step.line, reason));
            };
            offset += index * stride;
        }
        let mut number = tensor.get(offset);
        if is_unsure {
            number.bound = f64::INFINITY;
        }
        bank.set(step.output, lane, number);
    }
    Ok(())
}

/// The format of a float's element; of others, the widest.
fn format_of(element: Element) -> Format {
    match element {
        Element::Float(format) => format,
        _ => Format::F64,
    }
}

/// Does a scalar operation on the first lanes. `sum` says of which sum it is a step.
pub(crate) fn apply(
    bank: &mut Bank,
    what: &Scalar,
    inputs: &[usize],
    output: usize,
    sum: Option<Term>,
    lanes: usize,
    with_bounds: bool,
) -> Result<()> {
    let mut floats = std::mem::take(&mut bank.floats[output]);
    let mut integers = std::mem::take(&mut bank.integers[output]);
    let mut bounds = std::mem::take(&mut bank.bounds[output]);
    let mut out = Out {
        floats: &mut floats[..lanes],
        integers: &mut integers[..lanes],
        bounds: &mut bounds[..lanes],
    };
    let done = compute(bank, what, inputs, sum, with_bounds, &mut out);
    bank.floats[output] = floats;
    bank.integers[output] = integers;
    bank.bounds[output] = bounds;
    done
}

/// The lanes of the register that is computed.
struct Out<'o> {
    floats: &'o mut [f64],
    integers: &'o mut [i64],
    bounds: &'o mut [f64],
}

impl Out<'_> {
    /// Settles the value of a lane with its bound ([`float::bounded`]).
    fn bound(&mut self, lane: usize, format: Format, limit: f64, bound: impl Fn(Format) -> f64) {
        (self.floats[lane], self.bounds[lane]) =
            float::bounded(format, self.floats[lane], limit, bound);
    }
}

fn compute(
    bank: &mut Bank,
    what: &Scalar,
    inputs: &[usize],
    sum: Option<Term>,
    with_bounds: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    let lanes = out.floats.len();
    let Bank { floats, integers, bounds, magnitudes } = bank;
    let float_of = |at: usize| &floats[inputs[at]][..lanes];
    let integer_of = |at: usize| &integers[inputs[at]][..lanes];
    let bound_of = |at: usize| &bounds[inputs[at]][..lanes];
    match what {
        Scalar::FloatUnary(function, element) => {
            let (a, evaluate) = (float_of(0), float::unary(*function));
            for (out, a) in out.floats.iter_mut().zip(a) {
                *out = evaluate(*a);
            }
            if with_bounds {
                let (bound, format) = (bound_of(0), format_of(*element));
                for lane in 0..lanes {
                    let operand = (a[lane], bound[lane]);
                    let value = out.floats[lane];
                    let bound = |format| float::unary_bound(*function, format, value, operand);
                    out.bound(lane, format, float::OTHERS, bound);
                }
            }
        }
        Scalar::FloatBinary(function, element) => {
            let (a, b) = (float_of(0), float_of(1));
            float_binary(*function, a, b, out.floats);
            if with_bounds {
                let (of_a, of_b, format) = (bound_of(0), bound_of(1), format_of(*element));
                if matches!(function, B::Add | B::Subtract) {
                    let is_step = sum.is_some();
                    for lane in 0..lanes {
                        let (a, b) = ((a[lane], of_a[lane]), (b[lane], of_b[lane]));
                        let value = out.floats[lane];
                        let bound = |format| float::sum_bound(format, value, a, b, is_step);
                        match is_step {
                            // In another order, other parts of the sum are too large.
                            true => out.bounds[lane] = bound(format),
                            false => out.bound(lane, format, float::SUMS, bound),
                        }
                    }
                } else {
                    for lane in 0..lanes {
                        let (a, b) = ((a[lane], of_a[lane]), (b[lane], of_b[lane]));
                        let value = out.floats[lane];
                        let bound = |format| float::binary_bound(*function, format, value, a, b);
                        out.bound(lane, format, float::OTHERS, bound);
                    }
                }
                if let Some(term) = sum {
                    let added = if term.input == 0 { a } else { b };
                    for (magnitude, added) in magnitudes[term.output].iter_mut().zip(added) {
                        *magnitude += added.abs();
                    }
                }
            }
        }
        Scalar::FusedMultiplyAdd(element) => {
            let (a, b, c) = (float_of(0), float_of(1), float_of(2));
            for lane in 0..lanes {
                out.floats[lane] = a[lane] * b[lane] + c[lane];
            }
            if with_bounds {
                let (of_a, of_b, of_c) = (bound_of(0), bound_of(1), bound_of(2));
                for lane in 0..lanes {
                    let a = (a[lane], of_a[lane]);
                    let b = (b[lane], of_b[lane]);
                    let c = (c[lane], of_c[lane]);
                    let value = out.floats[lane];
                    out.bounds[lane] =
                        float::fused_bound(format_of(*element), value, a, b, c, sum.is_some());
                    if let Some(term) = sum {
                        magnitudes[term.output][lane] += (a.0 * b.0).abs();
                    }
                }
            }
        }
        Scalar::PowerOfInteger(element) => {
            let (a, b) = (float_of(0), integer_of(1));
            let (of_a, of_b) = (bound_of(0), bound_of(1));
            for lane in 0..lanes {
                let exponent = b[lane] as f64;
                out.floats[lane] = a[lane].powf(exponent);
                let operands = ((a[lane], of_a[lane]), (exponent, of_b[lane]));
                let value = out.floats[lane];
                // Repeated products: a rounding for each bit or each factor.
                let factors = |format| match value.is_finite() {
                    true => (exponent.abs() + 2.0) * value.abs() * epsilon(format),
                    false => 0.0,
                };
                out.bound(lane, format_of(*element), float::OTHERS, |format| {
                    let (base, exponent) = operands;
                    let bound = float::binary_bound(B::Power, format, value, base, exponent);
                    bound + factors(format)
                });
            }
        }
        Scalar::FloatTest(test, element) => {
            let (a, of_a) = (float_of(0), bound_of(0));
            for lane in 0..lanes {
                let operand = (a[lane], of_a[lane]);
                let (holds, is_certain) = convert::test(*test, format_of(*element), operand);
                out.integers[lane] = i64::from(holds);
                out.bounds[lane] = if is_certain { 0.0 } else { 1.0 };
            }
        }
        Scalar::IntegerUnary(function, width) => {
            let (a, of_a) = (integer_of(0), bound_of(0));
            for lane in 0..lanes {
                out.integers[lane] = integer::unary(*function, a[lane], *width);
                let is_absolute = *function == mlir::IntegerUnary::Absolute;
                let unknown = if is_absolute { of_a[lane] } else { f64::INFINITY };
                out.bounds[lane] = if of_a[lane] == 0.0 { 0.0 } else { unknown };
            }
        }
        Scalar::IntegerBinary(function, width) => {
            let (a, b) = (integer_of(0), integer_of(1));
            let (of_a, of_b) = (bound_of(0), bound_of(1));
            integer_binary(*function, *width, a, b, with_bounds, out)?;
            if with_bounds {
                for lane in 0..lanes {
                    let operands = ((a[lane], of_a[lane]), (b[lane], of_b[lane]));
                    let value = out.integers[lane];
                    let carried = integer::bound(*function, value, operands.0, operands.1, *width);
                    out.bounds[lane] = out.bounds[lane].max(carried);
                }
            }
        }
        Scalar::CompareFloats { order, unordered, .. } => {
            let (a, b) = (float_of(0), float_of(1));
            let (of_a, of_b) = (bound_of(0), bound_of(1));
            for lane in 0..lanes {
                let is_so = convert::compare_floats(*order, *unordered, a[lane], b[lane]);
                out.integers[lane] = i64::from(is_so);
                let (a, b) = ((a[lane], of_a[lane]), (b[lane], of_b[lane]));
                out.bounds[lane] = convert::compare_bound(*order, a, b);
            }
        }
        Scalar::CompareIntegers { order, is_signed, width } => {
            let (a, b) = (integer_of(0), integer_of(1));
            let (of_a, of_b) = (bound_of(0), bound_of(1));
            for lane in 0..lanes {
                let is_so = convert::compare_integers(*order, *is_signed, a[lane], b[lane], *width);
                out.integers[lane] = i64::from(is_so);
                let (a, b) = ((a[lane] as f64, of_a[lane]), (b[lane] as f64, of_b[lane]));
                out.bounds[lane] = convert::compare_bound(*order, a, b);
            }
        }
        Scalar::SelectFloat => {
            let (condition, unsure) = (integer_of(0), bound_of(0));
            let (a, b, of_a, of_b) = (float_of(1), float_of(2), bound_of(1), bound_of(2));
            for lane in 0..lanes {
                let (a, b) = ((a[lane], of_a[lane]), (b[lane], of_b[lane]));
                let (chosen, other) = if condition[lane] != 0 { (a, b) } else { (b, a) };
                out.floats[lane] = chosen.0;
                out.bounds[lane] = convert::choice_bound(unsure[lane], chosen, other);
            }
        }
        Scalar::SelectInteger => {
            let (condition, unsure) = (integer_of(0), bound_of(0));
            let (a, b, of_a, of_b) = (integer_of(1), integer_of(2), bound_of(1), bound_of(2));
            for lane in 0..lanes {
                let (a, b) = ((a[lane], of_a[lane]), (b[lane], of_b[lane]));
                let (chosen, other) = if condition[lane] != 0 { (a, b) } else { (b, a) };
                out.integers[lane] = chosen.0;
                let (chosen, other) = ((chosen.0 as f64, chosen.1), (other.0 as f64, other.1));
                out.bounds[lane] = convert::choice_bound(unsure[lane], chosen, other);
            }
        }
        _ => {
            for lane in 0..lanes {
                let number = Number {
                    float: float_of(0)[lane],
                    integer: integer_of(0)[lane],
                    bound: bound_of(0)[lane],
                };
                let number = cast(what, number);
                if number.bound.is_infinite() && !with_bounds && bound_of(0)[lane] == 0.0 {
                    return Err(Refusal::undefined(0, "a float that is no integer of this width"));
                }
                out.floats[lane] = number.float;
                out.integers[lane] = number.integer;
                out.bounds[lane] = number.bound;
            }
        }
    }
    Ok(())
}

/// A conversion of one value.
fn cast(what: &Scalar, it: Number) -> Number {
    let pair = (it.float, it.bound);
    let float = |(float, bound)| Number { float, integer: 0, bound };
    let integer = |integer, bound| Number { float: 0.0, integer, bound };
    match what {
        Scalar::Convert { to, .. } => float(convert::convert(format_of(*to), pair)),
        Scalar::SignExtend { from, to } => {
            integer(canonical(signed(it.integer, *from), *to), it.bound)
        }
        Scalar::ZeroExtend { from, to } => {
            let value = unsigned(it.integer, *from) as i64;
            // What may change its sign changes the value above it.
            let is_near = (it.integer as f64).abs() <= it.bound && *from > 1;
            let bound = if it.bound != 0.0 && is_near { f64::INFINITY } else { it.bound };
            integer(canonical(value, *to), bound)
        }
        Scalar::Narrow { to } => {
            let value = canonical(it.integer, *to);
            let limit = 2_f64.powi(*to as i32 - 1);
            let wraps = (value as f64).abs() + it.bound >= limit;
            let bound = if it.bound != 0.0 && wraps { f64::INFINITY } else { it.bound };
            integer(value, bound)
        }
        Scalar::FromSigned { from, to } => {
            float(convert::from_integer(it.integer, it.bound, *from, format_of(*to), true))
        }
        Scalar::FromUnsigned { from, to } => {
            float(convert::from_integer(it.integer, it.bound, *from, format_of(*to), false))
        }
        Scalar::ToSigned { to, .. } => {
            let (value, bound) = convert::to_integer(pair, *to, true);
            integer(value, bound)
        }
        Scalar::ToUnsigned { to, .. } => {
            let (value, bound) = convert::to_integer(pair, *to, false);
            integer(value, bound)
        }
        Scalar::Bitcast { from, to } => convert::bitcast(*from, *to, it),
        _ => it,
    }
}

fn float_binary(function: B, a: &[f64], b: &[f64], out: &mut [f64]) {
    let pairs = a.iter().zip(b);
    match function {
        B::Add => out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = a + b),
        B::Subtract => out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = a - b),
        B::Multiply => out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = a * b),
        B::Divide => out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = a / b),
        _ => {
            let evaluate = float::binary(function);
            out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = evaluate(*a, *b));
        }
    }
}

fn integer_binary(
    function: I,
    width: u32,
    a: &[i64],
    b: &[i64],
    with_bounds: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    out.bounds.fill(0.0);
    let is_wide = width > 1;
    let pairs = a.iter().zip(b);
    match function {
        I::Add if is_wide => out
            .integers
            .iter_mut()
            .zip(pairs)
            .for_each(|(out, (a, b))| *out = canonical(a.wrapping_add(*b), width)),
        I::Multiply if is_wide => out
            .integers
            .iter_mut()
            .zip(pairs)
            .for_each(|(out, (a, b))| *out = canonical(a.wrapping_mul(*b), width)),
        _ => {
            for (lane, (a, b)) in pairs.enumerate() {
                match integer::binary(function, *a, *b, width) {
                    Ok(value) => out.integers[lane] = value,
                    Err(Fault::Poison(_)) if with_bounds => {
                        out.integers[lane] = 0;
                        out.bounds[lane] = f64::INFINITY;
                    }
                    Err(Fault::Poison(why) | Fault::Undefined(why)) => {
                        return Err(Refusal::undefined(0, why));
                    }
                }
            }
        }
    }
    Ok(())
}

/// A result of an affine map, in each lane.
fn affine(bank: &mut Bank, step: &Step, map: &Map, which: Affine, lanes: usize) -> Result<()> {
    let mut operands = vec![0; step.inputs.len()];
    for lane in 0..lanes {
        let mut is_unsure = false;
        for (operand, register) in operands.iter_mut().zip(&step.inputs) {
            *operand = bank.integers[*register][lane];
            is_unsure |= bank.bounds[*register][lane] != 0.0;
        }
        let result = which.of(map.values(&operands)?);
        bank.integers[step.output][lane] = result.unwrap_or_default();
        bank.bounds[step.output][lane] = if is_unsure { f64::INFINITY } else { 0.0 };
    }
    Ok(())
}
