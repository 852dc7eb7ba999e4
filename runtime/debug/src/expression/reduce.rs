//! Functions of the language: reductions of tensors, functions of each element, and the table of
//! all.

use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

use abi::element_type::ElementType;
use vm::Value;

use super::budget::Budget;
use super::datum::Datum;
use super::elementwise::{Operand, Stop};
use super::evaluation_error::EvaluationError;
use super::format::raw_bits;
use super::scalars::{Each, computed};
use super::tensor_functions::{allclose, cosine, percentile, softmax};
use crate::tensor::Number;
use crate::tensor::{BLOCK, Reader};
use crate::tensor::{Statistics, Wanted};

/// A function of the language.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static str,
    pub(crate) help: &'static str,
    run: Run,
}

enum Run {
    /// Of all elements of a tensor, or of several numbers.
    Reduce(Wanted, fn(&Statistics) -> Datum),
    /// Of each element.
    Each(Each),
    /// Of two arguments.
    Two(fn(&Datum, &Datum) -> Result<Datum, EvaluationError>),
    /// Of at least and at most so many arguments, the latter as a word.
    Several(RangeInclusive<usize>, &'static str, fn(&[Datum], &mut Budget) -> Result<Datum, Stop>),
    /// Anything else.
    Other(fn(&[Datum], &mut Budget) -> Result<Datum, EvaluationError>),
}

/// A function of numbers alone, for conditions that the interpreter checks.
#[derive(Clone, Copy)]
pub(crate) enum OnNumbers {
    Each(Each),
    Pick(Pick),
}

/// Picks one of several numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pick {
    Smallest,
    Largest,
}

impl Pick {
    /// Whether a number is preferred to another one, given how it compares with it.
    pub(crate) fn prefers(self, order: Ordering) -> bool {
        match self {
            Self::Smallest => order == Ordering::Less,
            Self::Largest => order == Ordering::Greater,
        }
    }
}

/// A function of each element, from a function of one float.
macro_rules! each {
    ($name:literal, $help:literal, $run:expr) => {
        Function {
            name: $name,
            arguments: "x",
            help: $help,
            run: Run::Each(Each::Float($run, |values| {
                values.iter_mut().for_each(|value| *value = $run(*value));
            })),
        }
    };
}

/// All functions, as the documentation and completions list them.
pub(crate) const FUNCTIONS: &[Function] = &[
    reduce("min", "the smallest element that is no NaN", Wanted::SMALLEST, |it| {
        it.smallest.map_or(Datum::float(f64::NAN), |(_, number)| Datum::Number(number))
    }),
    reduce("max", "the largest element that is no NaN", Wanted::LARGEST, |it| {
        it.largest.map_or(Datum::float(f64::NAN), |(_, number)| Datum::Number(number))
    }),
    reduce("mean", "the mean of all elements", Wanted::SUM, |it| Datum::float(it.mean())),
    reduce("sum", "the sum of all elements", Wanted::SUM, |it| Datum::Number(it.sum())),
    reduce("norm", "the square root of the sum of squares", Wanted::SQUARES, |it| {
        Datum::float(it.squares.sqrt())
    }),
    reduce(
        "std",
        "the standard deviation of all elements",
        Wanted::SUM.and(Wanted::SQUARES),
        |it| Datum::float(it.deviation()),
    ),
    reduce("nan", "how many elements are NaN", Wanted::NANS, |it| Datum::integer(it.nans as i128)),
    reduce("inf", "how many elements are infinite", Wanted::INFINITIES, |it| {
        Datum::integer(it.infinities as i128)
    }),
    reduce("zeros", "how many elements are 0", Wanted::ZEROS, |it| {
        Datum::integer(it.zeros as i128)
    }),
    reduce("any", "whether an element is not 0", Wanted::ZEROS, |it| {
        Datum::Bool(it.zeros < it.count)
    }),
    reduce("all", "whether no element is 0", Wanted::ZEROS, |it| Datum::Bool(it.zeros == 0)),
    reduce(
        "argmin",
        "the index of the smallest element, in row-major order",
        Wanted::SMALLEST,
        |it| it.smallest.map_or(Datum::integer(-1), |(at, _)| Datum::integer(at as i128)),
    ),
    reduce(
        "argmax",
        "the index of the largest element, in row-major order",
        Wanted::LARGEST,
        |it| it.largest.map_or(Datum::integer(-1), |(at, _)| Datum::integer(at as i128)),
    ),
    Function {
        name: "abs",
        arguments: "x",
        help: "the magnitude of a number, or of each element",
        run: Run::Each(Each::Magnitude),
    },
    each!("sqrt", "the square root", f64::sqrt),
    each!("exp", "e to this power", f64::exp),
    each!("log", "the natural logarithm", f64::ln),
    each!("floor", "the next integer below", f64::floor),
    each!("ceil", "the next integer above", f64::ceil),
    each!("round", "the closest integer, even ones of two", f64::round_ties_even),
    each!("is_nan", "1 where NaN, else 0", |value: f64| f64::from(u8::from(value.is_nan()))),
    each!("is_inf", "1 where infinite, else 0", |value: f64| {
        f64::from(u8::from(value.is_infinite()))
    }),
    several(
        "softmax",
        "tensor, axis",
        "e to the power of each element, as a share of their sum along the axis; the last, if none \
         is said",
        (1..=2, "one or two"),
        softmax,
    ),
    several(
        "percentile",
        "tensor, percentage",
        "the value that so many per cent of the elements are below, interpolated as NumPy does",
        (2..=2, "two"),
        percentile,
    ),
    several(
        "allclose",
        "a, b, rtol, atol",
        "whether abs(a - b) <= atol + rtol * abs(b) everywhere, or both are the same infinity; \
         1e-5 and 1e-8, if not said",
        (2..=4, "two to four"),
        allclose,
    ),
    several(
        "cosine",
        "a, b",
        "of the angle between two tensors as vectors: 1 in one direction, -1 in opposite ones",
        (2..=2, "two"),
        cosine,
    ),
    other("len", "x", "how many elements a list, tensor or buffer has", length),
    other("hash", "x", "a hash of the bytes (xxh3, 64 bits), in hexadecimal", hash),
    Function {
        name: "unravel",
        arguments: "index, tensor",
        help: "the coordinates of an element, as an index takes them: t[unravel(argmax(t), t)]",
        run: Run::Two(unravel),
    },
    other("bits", "x", "the bits of a number of the program, as an integer", bits),
    other("f32", "bits", "the f32 with these bits", |arguments, _| {
        let bits = integer_argument(arguments)?;
        Ok(Datum::Value(Value::F32(f32::from_bits(bits as u32))))
    }),
    other("f64", "bits", "the f64 with these bits", |arguments, _| {
        let bits = integer_argument(arguments)?;
        Ok(Datum::Value(Value::F64(f64::from_bits(bits as u64))))
    }),
    other("hex", "x", "an integer, or the bits of a float, in hexadecimal", |arguments, budget| {
        written(arguments, budget, |bits| format!("{bits:#x}"))
    }),
    other("bin", "x", "an integer, or the bits of a float, in binary", |arguments, budget| {
        written(arguments, budget, |bits| format!("{bits:#b}"))
    }),
];

const fn reduce(
    name: &'static str,
    help: &'static str,
    wanted: Wanted,
    run: fn(&Statistics) -> Datum,
) -> Function {
    Function { name, arguments: "tensor", help, run: Run::Reduce(wanted, run) }
}

const fn several(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    (count, takes): (RangeInclusive<usize>, &'static str),
    run: fn(&[Datum], &mut Budget) -> Result<Datum, Stop>,
) -> Function {
    Function { name, arguments, help, run: Run::Several(count, takes, run) }
}

const fn other(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(&[Datum], &mut Budget) -> Result<Datum, EvaluationError>,
) -> Function {
    Function { name, arguments, help, run: Run::Other(run) }
}

/// The function with a name.
pub(crate) fn named(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

impl Function {
    /// The function of numbers alone, if it has a simple form.
    pub(crate) fn on_numbers(&self) -> Option<OnNumbers> {
        match (self.name, &self.run) {
            ("min", _) => Some(OnNumbers::Pick(Pick::Smallest)),
            ("max", _) => Some(OnNumbers::Pick(Pick::Largest)),
            (_, Run::Each(each)) => Some(OnNumbers::Each(*each)),
            _ => None,
        }
    }

    /// Calls it. [`Stop::Irregular`]: the call may succeed with the values of its operands.
    pub(crate) fn call(
        &self,
        operands: &[Operand],
        span: &Range<usize>,
        budget: &mut Budget,
    ) -> Result<Operand, Stop> {
        let function = self.name;
        if operands.is_empty() {
            return Err(
                EvaluationError::NeedsArgument { function, arguments: self.arguments }.into()
            );
        }
        let result = match &self.run {
            Run::Reduce(wanted, run) => {
                summarize(operands, *wanted, budget).map(|it| Operand::Datum(run(&it)))
            }
            Run::Each(each) => only(operands)
                .and_then(|operand| map(operand, *each, span, budget))
                .map_err(Stop::Because),
            Run::Two(run) => match operands {
                [Operand::Datum(one), Operand::Datum(other)] => {
                    run(one, other).map(Operand::Datum).map_err(Stop::Because)
                }
                [_, _] => Err(Stop::Irregular),
                _ => {
                    let given = operands.len();
                    Err(EvaluationError::Arguments { given, takes: "two" }.into())
                }
            },
            Run::Several(count, takes, run) => {
                let given = operands.len();
                match count.contains(&given) {
                    true => run(&data_of(operands)?, budget).map(Operand::Datum),
                    false => Err(EvaluationError::Arguments { given, takes }.into()),
                }
            }
            Run::Other(run) => {
                let data = data_of(operands)?;
                let result = only(operands).and_then(|_| run(&data, budget));
                result.map(Operand::Datum).map_err(Stop::Because)
            }
        };
        let because = |why| EvaluationError::InFunction { function, why: Box::new(why) };
        result.map_err(|stop| match stop {
            Stop::Because(why) => Stop::Because(because(why)),
            Stop::OfArgument(index, why) => Stop::OfArgument(index, because(why)),
            Stop::Irregular => Stop::Irregular,
        })
    }
}

/// The values of operands, if all are stored.
fn data_of(operands: &[Operand]) -> Result<Vec<Datum>, Stop> {
    let datum = |operand: &Operand| match operand {
        Operand::Datum(datum) => Ok(datum.clone()),
        Operand::Computation(_) => Err(Stop::Irregular),
    };
    operands.iter().map(datum).collect()
}

fn only(operands: &[Operand]) -> Result<&Operand, EvaluationError> {
    match operands {
        [operand] => Ok(operand),
        _ => Err(EvaluationError::Arguments { given: operands.len(), takes: "one" }),
    }
}

fn summarize(
    operands: &[Operand],
    wanted: Wanted,
    budget: &mut Budget,
) -> Result<Statistics, Stop> {
    let mut summary = Statistics::default();
    for operand in operands {
        let list = match operand {
            Operand::Datum(datum) => datum.list(),
            Operand::Computation(_) => None,
        };
        if let Some(number) = operand.number() {
            summary.add(number);
        } else if let Some((list, start, end)) = list {
            for index in start..end {
                budget.step()?;
                let element = list.get(index).and_then(|value| Datum::Value(value).number());
                let element = element.ok_or(EvaluationError::NoNumber { index })?;
                summary.add(element);
            }
        } else if let Some(tensor) = operand.tensor() {
            let mut reader = Reader::new(&tensor)?;
            while let Some(block) = reader.read(BLOCK)? {
                summary.add_block(block, wanted);
                budget.steps(BLOCK)?;
            }
        } else if let Operand::Computation(computation) = operand {
            computation.summarize(wanted, &mut summary, budget)?;
        } else {
            return Err(operand.has_no("elements that are numbers").into());
        }
    }
    Ok(summary)
}

/// A function of each element; elements of tensors are computed later.
fn map(
    operand: &Operand,
    each: Each,
    span: &Range<usize>,
    budget: &Budget,
) -> Result<Operand, EvaluationError> {
    if let Some(number) = operand.number() {
        return Ok(Operand::Datum(Datum::Number(each.of(number))));
    }
    let operand = operand.computation().ok_or_else(|| operand.is_no("number"))?;
    budget.check_elements(operand.count())?;
    Ok(Operand::Computation(operand.each(each, span)))
}

fn length(arguments: &[Datum], _: &mut Budget) -> Result<Datum, EvaluationError> {
    let count = if let Some((_, start, end)) = arguments[0].list() {
        end.saturating_sub(start)
    } else if let Some(tensor) = arguments[0].tensor() {
        tensor.count()
    } else if let Some(memory) = arguments[0].memory() {
        memory.len()
    } else {
        return Err(arguments[0].has_no("length"));
    };
    Ok(Datum::integer(count as i128))
}

/// The coordinates of the element with an index in row-major order.
fn unravel(index: &Datum, tensor: &Datum) -> Result<Datum, EvaluationError> {
    let Some(Number::Integer(index)) = index.number() else {
        return Err(index.is_no("index"));
    };
    let tensor = tensor.tensor().ok_or_else(|| tensor.is_no("tensor"))?;
    let no_index = |_| EvaluationError::NotA { is: index.to_string(), wanted: "index" };
    let mut left = usize::try_from(index).map_err(no_index)?;
    if left >= tensor.count() {
        return Err(EvaluationError::NoElementOfTensor { index, count: tensor.count() });
    }
    let shape = tensor.tensor_type().shape.clone();
    let mut coordinates = Vec::with_capacity(shape.len());
    for size in shape.iter().rev() {
        let size = usize::try_from(*size).unwrap_or(usize::MAX).max(1);
        coordinates.push(Number::Integer((left % size) as i128));
        left /= size;
    }
    coordinates.reverse();
    computed(vec![coordinates.len() as u64], &coordinates, false)
}

/// A stable hash of a value's bytes, in the order of its elements.
fn hash(arguments: &[Datum], _: &mut Budget) -> Result<Datum, EvaluationError> {
    let bytes = match &arguments[0] {
        Datum::Value(Value::I32(value)) => value.to_le_bytes().to_vec(),
        Datum::Value(Value::I64(value)) => value.to_le_bytes().to_vec(),
        Datum::Value(Value::F32(value)) => value.to_le_bytes().to_vec(),
        Datum::Value(Value::F64(value)) => value.to_le_bytes().to_vec(),
        value => {
            if let Some(tensor) = value.tensor() {
                return Ok(Datum::Text(format!("{:016x}", tensor.hash())));
            }
            let memory = value.memory();
            let memory = memory.ok_or_else(|| value.has_no("bytes"))?;
            memory.read(0, memory.len())
        }
    };
    Ok(Datum::Text(format!("{:016x}", twox_hash::XxHash3_64::oneshot(&bytes))))
}

fn bits(arguments: &[Datum], _: &mut Budget) -> Result<Datum, EvaluationError> {
    let bits = raw_bits(&arguments[0]);
    bits.map(Datum::integer).ok_or_else(|| arguments[0].is_no("number"))
}

fn written(
    arguments: &[Datum],
    budget: &mut Budget,
    write: fn(i128) -> String,
) -> Result<Datum, EvaluationError> {
    match bits(arguments, budget)?.number() {
        Some(Number::Integer(bits)) => Ok(Datum::Text(write(bits))),
        _ => Err(arguments[0].is_no("number")),
    }
}

fn integer_argument(arguments: &[Datum]) -> Result<i128, EvaluationError> {
    match arguments[0].number() {
        Some(Number::Integer(value)) => Ok(value),
        _ => Err(arguments[0].is_no("integer")),
    }
}

/// Converts a number to an element type, as a cast does.
pub(crate) fn convert(number: Number, element_type: ElementType) -> Option<Datum> {
    use abi::element_type::NumericalKind as Kind;
    let integer = || match number {
        Number::Integer(value) => Some(value),
        // The conversion saturates, and turns NaN into 0.
        Number::Float(value) => Some(value as i128),
    };
    Some(match (element_type.kind, element_type.bits) {
        (Kind::Float, 32) => Datum::Value(Value::F32(number.float() as f32)),
        (Kind::Float, 64) => Datum::Value(Value::F64(number.float())),
        (Kind::Integer | Kind::SignedInteger, 32) => Datum::Value(Value::I32(integer()? as i32)),
        (Kind::Integer | Kind::SignedInteger, 64) => Datum::Value(Value::I64(integer()? as i64)),
        (Kind::Integer | Kind::SignedInteger, bits) if bits < 64 && bits > 0 => {
            let unused = 128 - u32::from(bits);
            Datum::integer(integer()? << unused >> unused)
        }
        (Kind::UnsignedInteger | Kind::Boolean, bits) if bits <= 64 && bits > 0 => {
            Datum::integer(integer()? & (u128::MAX >> (128 - u32::from(bits))).cast_signed())
        }
        // Other floats are converted by way of their bytes.
        _ => {
            let text = format!("{element_type}={}", number.float());
            let parsed = abi::tensor::Tensor::parse(&text, 16).ok()?;
            Datum::float(element_type.float_value(&parsed.bytes)?)
        }
    })
}
