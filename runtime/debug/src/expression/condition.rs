//! Conditions on registers, compiled to closures that the interpreter calls.
//!
//! A condition in a hot loop is nearly always false. If finding that out stopped the program, most
//! of the time would go into stopping. So a condition that only compares and computes with
//! registers becomes a closure over [`GuardFrame`], which the interpreter calls at the breakpoint;
//! it resumes if the answer is no. Everything else (tensors, lists, dispatches, functions) is
//! evaluated by the debugger, and so are the cases that a closure cannot decide: an integer that is
//! too large, a division by zero.

use debuginfo::{Recipe, RecipeInput, RegisterSlot, Scalar};
use vm::GuardFrame;

use super::parsed::Expression;
use super::reduce::{self, OnNumbers};
use super::scalars::Each;
use super::syntax::{Binary, Expr, Kind, Unary};
use crate::tensor::Number;

/// `None` is undecided: the debugger has to evaluate the condition.
type Fun<T> = Box<dyn Fn(&GuardFrame) -> Option<T> + Send + Sync>;

/// A compiled expression, by the type of its value.
enum Compiled {
    Integer(Fun<i64>),
    Float(Fun<f64>),
    Bool(Fun<bool>),
}

/// What a name stands for.
pub(crate) enum NumberSource {
    Register(RegisterSlot),
    /// A recipe over registers.
    Computed(Recipe, Scalar),
}

/// What names stand for.
type Names<'n> = dyn Fn(&str) -> Option<NumberSource> + 'n;

/// The closure for a condition, if it uses only registers and numbers.
pub(crate) fn compile(condition: &Expression, names: &Names<'_>) -> Option<Fun<bool>> {
    Some(expression(condition.root(), names)?.truth())
}

fn expression(expr: &Expr, names: &Names<'_>) -> Option<Compiled> {
    Some(match &expr.kind {
        Kind::Integer(value) => {
            let value = i64::try_from(*value).ok()?;
            Compiled::Integer(Box::new(move |_| Some(value)))
        }
        Kind::Float(value) => {
            let value = *value;
            Compiled::Float(Box::new(move |_| Some(value)))
        }
        Kind::Bool(value) => {
            let value = *value;
            Compiled::Bool(Box::new(move |_| Some(value)))
        }
        Kind::Name(name) => match names(name)? {
            NumberSource::Register(slot) => register(slot)?,
            NumberSource::Computed(recipe, scalar) => computed(recipe, scalar),
        },
        Kind::Unary(operator, operand) => match (operator, expression(operand, names)?) {
            (Unary::Not, operand) => {
                let operand = operand.truth();
                Compiled::Bool(Box::new(move |frame| Some(!operand(frame)?)))
            }
            (Unary::Negate, Compiled::Integer(operand)) => {
                Compiled::Integer(Box::new(move |frame| operand(frame)?.checked_neg()))
            }
            (Unary::Negate, Compiled::Float(operand)) => {
                Compiled::Float(Box::new(move |frame| Some(-operand(frame)?)))
            }
            (Unary::Complement, Compiled::Integer(operand)) => {
                Compiled::Integer(Box::new(move |frame| Some(!operand(frame)?)))
            }
            _ => return None,
        },
        Kind::Binary(operator, left, right) => {
            if let Some(quick) = register_with_constant(*operator, left, right, names) {
                return Some(quick);
            }
            binary(*operator, expression(left, names)?, expression(right, names)?)?
        }
        Kind::Call(callee, arguments) => {
            let Kind::Name(name) = &callee.kind else { return None };
            let arguments = arguments.iter().map(|argument| expression(argument, names));
            call(reduce::named(name)?.on_numbers()?, arguments.collect::<Option<_>>()?)?
        }
        _ => return None,
    })
}

/// A function of numbers. If the arguments are of both kinds, the kind of the result is known only
/// when it runs.
fn call(function: OnNumbers, mut arguments: Vec<Compiled>) -> Option<Compiled> {
    let pick = match function {
        OnNumbers::Pick(pick) => pick,
        OnNumbers::Each(each) => {
            let argument = arguments.pop().filter(|_| arguments.is_empty())?;
            return Some(match (each, argument) {
                (Each::Magnitude, Compiled::Float(run)) => {
                    Compiled::Float(Box::new(move |it| Some(run(it)?.abs())))
                }
                (Each::Magnitude, argument) => {
                    let run = argument.integer();
                    Compiled::Integer(Box::new(move |it| run(it)?.checked_abs()))
                }
                (Each::Float(of_one, _), argument) => {
                    let run = argument.float();
                    Compiled::Float(Box::new(move |it| Some(of_one(run(it)?))))
                }
            });
        }
    };
    let floats = arguments.iter().filter(|it| matches!(it, Compiled::Float(_))).count();
    if floats == 0 {
        let all: Vec<Fun<i64>> = arguments.into_iter().map(Compiled::integer).collect();
        let (first, others) = first_of(all)?;
        return Some(Compiled::Integer(Box::new(move |it| {
            others.iter().try_fold(first(it)?, |best, other| {
                let other = other(it)?;
                Some(if pick.prefers(other.cmp(&best)) { other } else { best })
            })
        })));
    }
    if floats < arguments.len() {
        return None;
    }
    let (first, others) = first_of(arguments.into_iter().map(Compiled::float).collect())?;
    Some(Compiled::Float(Box::new(move |it| {
        others.iter().try_fold(first(it)?, |best, other| {
            let other = other(it)?;
            // NaN is ignored.
            let is_better =
                other.partial_cmp(&best).map_or(best.is_nan(), |order| pick.prefers(order));
            Some(if is_better { other } else { best })
        })
    })))
}

fn first_of<T>(all: Vec<T>) -> Option<(T, Vec<T>)> {
    let mut all = all.into_iter();
    let first = all.next()?;
    Some((first, all.collect()))
}

fn register(slot: RegisterSlot) -> Option<Compiled> {
    Some(match slot {
        RegisterSlot::I32(at) => Compiled::Integer(Box::new(move |it| Some(it.i32(at).into()))),
        RegisterSlot::I64(at) => Compiled::Integer(Box::new(move |it| Some(it.i64(at)))),
        RegisterSlot::F32(at) => Compiled::Float(Box::new(move |it| {
            Some(f32::from_bits(it.i32(at).cast_unsigned()).into())
        })),
        RegisterSlot::F64(at) => {
            Compiled::Float(Box::new(move |it| Some(f64::from_bits(it.i64(at).cast_unsigned()))))
        }
        RegisterSlot::Ref(_) => return None,
    })
}

fn computed(recipe: Recipe, scalar: Scalar) -> Compiled {
    let bits = move |frame: &GuardFrame| {
        recipe.evaluate(&|given| match given {
            RecipeInput::Register(RegisterSlot::I32(at) | RegisterSlot::F32(at)) => {
                Some(frame.i32(at).cast_unsigned().into())
            }
            RecipeInput::Register(RegisterSlot::I64(at) | RegisterSlot::F64(at)) => {
                Some(frame.i64(at).cast_unsigned())
            }
            RecipeInput::Register(RegisterSlot::Ref(_)) | RecipeInput::Argument(_) => None,
        })
    };
    match scalar {
        Scalar::F32 => {
            Compiled::Float(Box::new(move |it| Some(f32::from_bits(bits(it)? as u32).into())))
        }
        Scalar::F64 => Compiled::Float(Box::new(move |it| Some(f64::from_bits(bits(it)?)))),
        // Truth is 1, not -1.
        Scalar::Int(1) => Compiled::Integer(Box::new(move |it| Some((bits(it)? & 1) as i64))),
        Scalar::Int(_) => Compiled::Integer(Box::new(move |it| Some(scalar.signed(bits(it)?)))),
    }
}

/// By far the commonest condition, `i3 == 7`, without a call inside.
fn register_with_constant(
    operator: Binary,
    left: &Expr,
    right: &Expr,
    names: &Names<'_>,
) -> Option<Compiled> {
    let (Kind::Name(name), Kind::Integer(value)) = (&left.kind, &right.kind) else { return None };
    let value = i64::try_from(*value).ok()?;
    macro_rules! compare {
        ($read:expr) => {{
            let read = $read;
            let test: Fun<bool> = match operator {
                Binary::Equal => Box::new(move |it| Some(read(it) == value)),
                Binary::NotEqual => Box::new(move |it| Some(read(it) != value)),
                Binary::Less => Box::new(move |it| Some(read(it) < value)),
                Binary::LessEqual => Box::new(move |it| Some(read(it) <= value)),
                Binary::Greater => Box::new(move |it| Some(read(it) > value)),
                Binary::GreaterEqual => Box::new(move |it| Some(read(it) >= value)),
                _ => return None,
            };
            Some(Compiled::Bool(test))
        }};
    }
    let Some(NumberSource::Register(slot)) = names(name) else { return None };
    match slot {
        RegisterSlot::I32(at) => compare!(move |it: &GuardFrame| i64::from(it.i32(at))),
        RegisterSlot::I64(at) => compare!(move |it: &GuardFrame| it.i64(at)),
        _ => None,
    }
}

fn binary(operator: Binary, left: Compiled, right: Compiled) -> Option<Compiled> {
    match operator {
        Binary::And => {
            let (left, right) = (left.truth(), right.truth());
            return Some(Compiled::Bool(Box::new(move |it| Some(left(it)? && right(it)?))));
        }
        Binary::Or => {
            let (left, right) = (left.truth(), right.truth());
            return Some(Compiled::Bool(Box::new(move |it| Some(left(it)? || right(it)?))));
        }
        _ => {}
    }
    match (left, right) {
        (Compiled::Float(left), right) => floats(operator, left, right.float()),
        (left, Compiled::Float(right)) => floats(operator, left.float(), right),
        (left, right) => integers(operator, left.integer(), right.integer()),
    }
}

fn integers(operator: Binary, left: Fun<i64>, right: Fun<i64>) -> Option<Compiled> {
    macro_rules! bool {
        ($test:expr) => {
            Compiled::Bool(Box::new(move |it| Some($test(left(it)?, right(it)?))))
        };
    }
    macro_rules! integer {
        ($run:expr) => {
            Compiled::Integer(Box::new(move |it| $run(left(it)?, right(it)?)))
        };
    }
    Some(match operator {
        Binary::Equal => bool!(|a, b| a == b),
        Binary::NotEqual => bool!(|a, b| a != b),
        Binary::Less => bool!(|a, b| a < b),
        Binary::LessEqual => bool!(|a, b| a <= b),
        Binary::Greater => bool!(|a, b| a > b),
        Binary::GreaterEqual => bool!(|a, b| a >= b),
        Binary::BitOr => integer!(|a: i64, b: i64| Some(a | b)),
        Binary::BitXor => integer!(|a: i64, b: i64| Some(a ^ b)),
        Binary::BitAnd => integer!(|a: i64, b: i64| Some(a & b)),
        Binary::Add => integer!(i64::checked_add),
        Binary::Subtract => integer!(i64::checked_sub),
        Binary::Multiply => integer!(i64::checked_mul),
        Binary::Divide => integer!(i64::checked_div),
        Binary::Remainder => integer!(i64::checked_rem),
        _ => return None,
    })
}

fn floats(operator: Binary, left: Fun<f64>, right: Fun<f64>) -> Option<Compiled> {
    macro_rules! bool {
        ($test:expr) => {
            Compiled::Bool(Box::new(move |it| Some($test(left(it)?, right(it)?))))
        };
    }
    macro_rules! float {
        ($run:expr) => {
            Compiled::Float(Box::new(move |it| Some($run(left(it)?, right(it)?))))
        };
    }
    Some(match operator {
        Binary::Equal => bool!(|a, b| a == b),
        Binary::NotEqual => bool!(|a, b| a != b),
        Binary::Less => bool!(|a, b| a < b),
        Binary::LessEqual => bool!(|a, b| a <= b),
        Binary::Greater => bool!(|a, b| a > b),
        Binary::GreaterEqual => bool!(|a, b| a >= b),
        Binary::Add => float!(|a, b| a + b),
        Binary::Subtract => float!(|a, b| a - b),
        Binary::Multiply => float!(|a, b| a * b),
        Binary::Divide => float!(|a: f64, b: f64| a / b),
        Binary::Remainder => float!(|a: f64, b: f64| a % b),
        Binary::Power => float!(f64::powf),
        _ => return None,
    })
}

impl Compiled {
    fn truth(self) -> Fun<bool> {
        match self {
            Self::Bool(test) => test,
            Self::Integer(run) => Box::new(move |it| Some(run(it)? != 0)),
            Self::Float(run) => Box::new(move |it| Some(run(it)? != 0.0)),
        }
    }

    fn float(self) -> Fun<f64> {
        match self {
            Self::Float(run) => run,
            Self::Integer(run) => {
                Box::new(move |it| Some(Number::Integer(run(it)?.into()).float()))
            }
            Self::Bool(test) => Box::new(move |it| Some(f64::from(u8::from(test(it)?)))),
        }
    }

    fn integer(self) -> Fun<i64> {
        match self {
            Self::Integer(run) => run,
            Self::Bool(test) => Box::new(move |it| Some(i64::from(test(it)?))),
            // Reached only if the other operand is a float, and then `binary` does not call this.
            Self::Float(_) => Box::new(|_| None),
        }
    }
}
