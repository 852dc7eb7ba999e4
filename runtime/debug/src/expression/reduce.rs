//! Functions: reductions of tensors, and what is done to each element.

use abi::element_type::ElementType;
use vm::Value;

use super::budget::Budget;
use super::datum::Datum;
use super::format::raw_bits;
use super::operators::{collect, computed};
use crate::number::Number;
use crate::tensor::TensorView;

/// A function of the language.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static str,
    pub(crate) help: &'static str,
    run: Run,
}

enum Run {
    /// Of all elements of a tensor, or of several numbers.
    Reduce(fn(&Summary) -> Datum),
    /// Of each element.
    Each(fn(f64) -> f64),
    /// Anything else.
    Other(fn(&[Datum], &mut Budget) -> Result<Datum, String>),
}

/// All functions, as the documentation and completions list them.
pub(crate) const FUNCTIONS: &[Function] = &[
    reduce("min", "the smallest element that is no NaN", Summary::minimum),
    reduce("max", "the largest element that is no NaN", Summary::maximum),
    reduce("mean", "the mean of all elements", |it| Datum::float(it.sum / it.count as f64)),
    reduce("sum", "the sum of all elements", Summary::sum),
    reduce("norm", "the square root of the sum of squares", |it| Datum::float(it.squares.sqrt())),
    reduce("std", "the standard deviation of all elements", |it| Datum::float(it.deviation())),
    reduce("nan", "how many elements are NaN", |it| Datum::integer(it.nans as i128)),
    reduce("inf", "how many elements are infinite", |it| Datum::integer(it.infinities as i128)),
    reduce("zeros", "how many elements are 0", |it| Datum::integer(it.zeros as i128)),
    reduce("any", "whether an element is not 0", |it| Datum::Bool(it.zeros < it.count)),
    reduce("all", "whether no element is 0", |it| Datum::Bool(it.zeros == 0)),
    reduce("argmin", "the index of the smallest element, in row-major order", |it| {
        it.smallest.map_or(Datum::integer(-1), |(at, _)| Datum::integer(at as i128))
    }),
    reduce("argmax", "the index of the largest element, in row-major order", |it| {
        it.largest.map_or(Datum::integer(-1), |(at, _)| Datum::integer(at as i128))
    }),
    other("abs", "x", "the magnitude of a number, or of each element", absolute),
    each("sqrt", "the square root", f64::sqrt),
    each("exp", "e to this power", f64::exp),
    each("log", "the natural logarithm", f64::ln),
    each("floor", "the next integer below", f64::floor),
    each("ceil", "the next integer above", f64::ceil),
    each("round", "the closest integer, even ones of two", f64::round_ties_even),
    each("is_nan", "1 where NaN, else 0", |value| f64::from(u8::from(value.is_nan()))),
    each("is_inf", "1 where infinite, else 0", |value| f64::from(u8::from(value.is_infinite()))),
    other("len", "x", "how many elements a list, tensor or buffer has", length),
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

const fn reduce(name: &'static str, help: &'static str, run: fn(&Summary) -> Datum) -> Function {
    Function { name, arguments: "tensor", help, run: Run::Reduce(run) }
}

const fn each(name: &'static str, help: &'static str, run: fn(f64) -> f64) -> Function {
    Function { name, arguments: "x", help, run: Run::Each(run) }
}

const fn other(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(&[Datum], &mut Budget) -> Result<Datum, String>,
) -> Function {
    Function { name, arguments, help, run: Run::Other(run) }
}

/// The function of a name.
pub(crate) fn named(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

impl Function {
    /// Calls it.
    pub(crate) fn call(&self, arguments: &[Datum], budget: &mut Budget) -> Result<Datum, String> {
        let name = self.name;
        if arguments.is_empty() {
            return Err(format!("{name}({}) needs an argument", self.arguments));
        }
        match &self.run {
            Run::Reduce(run) => Ok(run(&summarize(arguments, budget)?)),
            Run::Each(run) => {
                only(arguments)?;
                map(&arguments[0], budget, |number| Number::Float(run(number.float())))
            }
            Run::Other(run) => only(arguments).and_then(|()| run(arguments, budget)),
        }
        .map_err(|error| format!("{name}: {error}"))
    }
}

fn only(arguments: &[Datum]) -> Result<(), String> {
    match arguments {
        [_] => Ok(()),
        _ => Err(format!("{} arguments were given, it takes one", arguments.len())),
    }
}

/// What is to be known of many numbers, from one pass over them.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) count: usize,
    pub(crate) nans: usize,
    pub(crate) infinities: usize,
    pub(crate) zeros: usize,
    pub(crate) sum: f64,
    pub(crate) squares: f64,
    exact: Option<i128>,
    pub(crate) smallest: Option<(usize, Number)>,
    pub(crate) largest: Option<(usize, Number)>,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            count: 0,
            nans: 0,
            infinities: 0,
            zeros: 0,
            sum: 0.0,
            squares: 0.0,
            exact: Some(0),
            smallest: None,
            largest: None,
        }
    }
}

impl Summary {
    #[inline]
    pub(crate) fn add(&mut self, number: Number) {
        let value = number.float();
        let index = self.count;
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
        self.zeros += usize::from(value == 0.0);
        self.exact = match number {
            Number::Integer(value) => self.exact.and_then(|sum| sum.checked_add(value)),
            Number::Float(_) => None,
        };
        if value.is_nan() {
            self.nans += 1;
            return;
        }
        self.infinities += usize::from(value.is_infinite());
        if self.smallest.is_none_or(|(_, known)| is_less(number, known)) {
            self.smallest = Some((index, number));
        }
        if self.largest.is_none_or(|(_, known)| is_less(known, number)) {
            self.largest = Some((index, number));
        }
    }

    fn minimum(&self) -> Datum {
        self.smallest.map_or(Datum::float(f64::NAN), |(_, number)| Datum::Number(number))
    }

    fn maximum(&self) -> Datum {
        self.largest.map_or(Datum::float(f64::NAN), |(_, number)| Datum::Number(number))
    }

    fn sum(&self) -> Datum {
        self.exact.map_or(Datum::float(self.sum), Datum::integer)
    }

    fn deviation(&self) -> f64 {
        let mean = self.sum / self.count as f64;
        (self.squares / self.count as f64 - mean * mean).max(0.0).sqrt()
    }
}

#[inline]
fn is_less(left: Number, right: Number) -> bool {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => left < right,
        _ => left.float() < right.float(),
    }
}

fn summarize(arguments: &[Datum], budget: &mut Budget) -> Result<Summary, String> {
    let mut summary = Summary::default();
    for argument in arguments {
        if let Some(number) = argument.number() {
            summary.add(number);
        } else if let Some(tensor) = argument.tensor() {
            let mut stop = Ok(());
            tensor.each(|number| {
                summary.add(number);
                stop = budget.step();
                stop.is_ok()
            });
            stop?;
        } else if let Some((list, start, end)) = argument.list() {
            for index in start..end {
                budget.step()?;
                let element = list.get(index).and_then(|value| Datum::Value(value).number());
                let element = element.ok_or_else(|| format!("element {index} is no number"))?;
                summary.add(element);
            }
        } else {
            return Err(format!("{} has no elements that are numbers", argument.kind()));
        }
    }
    Ok(summary)
}

fn map(
    operand: &Datum,
    budget: &mut Budget,
    run: impl Fn(Number) -> Number,
) -> Result<Datum, String> {
    if let Some(number) = operand.number() {
        return Ok(Datum::Number(run(number)));
    }
    let tensor: TensorView =
        operand.tensor().ok_or_else(|| format!("{} is no number", operand.kind()))?;
    let numbers: Vec<Number> = collect(&tensor, budget)?.into_iter().map(run).collect();
    computed(tensor.tensor_type().shape.clone(), &numbers, false)
}

fn absolute(arguments: &[Datum], budget: &mut Budget) -> Result<Datum, String> {
    map(&arguments[0], budget, |number| match number {
        Number::Integer(value) => Number::Integer(value.saturating_abs()),
        Number::Float(value) => Number::Float(value.abs()),
    })
}

fn length(arguments: &[Datum], _: &mut Budget) -> Result<Datum, String> {
    let count = if let Some((_, start, end)) = arguments[0].list() {
        end.saturating_sub(start)
    } else if let Some(tensor) = arguments[0].tensor() {
        tensor.count()
    } else if let Some(memory) = arguments[0].memory() {
        memory.len()
    } else {
        return Err(format!("{} has no length", arguments[0].kind()));
    };
    Ok(Datum::integer(count as i128))
}

fn bits(arguments: &[Datum], _: &mut Budget) -> Result<Datum, String> {
    let bits = raw_bits(&arguments[0]);
    bits.map(Datum::integer).ok_or_else(|| format!("{} is no number", arguments[0].kind()))
}

fn written(
    arguments: &[Datum],
    budget: &mut Budget,
    write: fn(i128) -> String,
) -> Result<Datum, String> {
    match bits(arguments, budget)?.number() {
        Some(Number::Integer(bits)) => Ok(Datum::Text(write(bits))),
        _ => Err("there are no bits".to_owned()),
    }
}

fn integer_argument(arguments: &[Datum]) -> Result<i128, String> {
    match arguments[0].number() {
        Some(Number::Integer(value)) => Ok(value),
        _ => Err(format!("{} is no integer", arguments[0].kind())),
    }
}

/// Converts a number to a type of the program's, as a cast writes it.
pub(crate) fn convert(number: Number, element_type: ElementType) -> Option<Datum> {
    use abi::element_type::NumericalKind as Kind;
    let integer = || match number {
        Number::Integer(value) => Some(value),
        // The cast saturates, and makes NaN 0.
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
        // Any other float: by way of its bytes.
        _ => {
            let text = format!("{element_type}={}", number.float());
            let parsed = abi::tensor::Tensor::parse(&text, 16).ok()?;
            Datum::float(element_type.float_value(&parsed.bytes)?)
        }
    })
}
