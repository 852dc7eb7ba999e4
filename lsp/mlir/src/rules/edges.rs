//! Trying a rule on operands at the edges: zeros of both signs, infinities, NaN, the smallest and
//! largest numbers, shifts as wide as the type.

use super::{Form, Holds, Operand, Rule};
use crate::bits::{cut, is_nan};
use crate::element::{Element, Format};
use crate::scalar::{FloatBinary, FloatUnary, IntegerBinary as I, Order, Scalar};

const F32: Element = Element::Float(Format::F32);
const F64: Element = Element::Float(Format::F64);
const WIDTHS: [u32; 5] = [1, 8, 16, 32, 64];

/// Operands for which the two forms of a rule differ.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// The function.
    pub function: Scalar,
    /// Its operands.
    pub operands: Vec<u64>,
    /// What it gives.
    pub result: u64,
    /// The rule's other form.
    pub form: Form,
    /// What that gives.
    pub other: Option<u64>,
}

impl Rule {
    /// Tries the rule for every function of the table at the edges of its operands, with each of
    /// them a constant and not. Gives how often both forms had a result.
    ///
    /// # Errors
    /// The first operands for which the two forms differ.
    pub fn try_at_edges(&self) -> Result<usize, Box<Counterexample>> {
        let mut tried = 0;
        for (function, types, result) in functions() {
            let edges: Vec<Vec<u64>> = types.iter().map(|it| edges(*it)).collect();
            let count = edges.iter().map(Vec::len).product();
            for at in 0..count {
                tried += self.try_on(&Trial::of(function, nth(&edges, at), result))?;
            }
            // The first operand made of another one by the same function.
            let Scalar::IntegerBinary(_, 8 | 64) = function else { continue };
            for at in 0..count {
                let inner = nth(&edges, at);
                let Some(made) = function.apply(&inner) else { continue };
                for outer in &edges[1] {
                    let mut trial = Trial::of(function, vec![made, *outer], result);
                    trial.inside = Some(inner[0]);
                    trial.made = Some((function, inner[1]));
                    tried += self.try_on(&trial)?;
                }
            }
        }
        Ok(tried)
    }

    fn try_on(&self, trial: &Trial) -> Result<usize, Box<Counterexample>> {
        let Trial { function, numbers, result_type, .. } = trial;
        let Some(result) = function.apply(numbers) else { return Ok(0) };
        let mut tried = 0;
        for constants in 0..1 << numbers.len() {
            for knows_booleans in [false, true] {
                let operands = trial.known(constants, knows_booleans);
                let Some(form) = (self.rewrite)(*function, &operands) else { continue };
                let other = form.apply(numbers, trial.inside);
                // The other form may not say less than the first.
                let is_same = other.is_some_and(|other| {
                    let kept = match self.holds {
                        Holds::InAllBits => other,
                        Holds::InItsBits => cut(result_type.width(), other),
                    };
                    kept == result || is_nan(*result_type, result) && is_nan(*result_type, kept)
                });
                if !is_same {
                    let (function, operands) = (*function, numbers.clone());
                    let found = Counterexample { function, operands, result, form, other };
                    return Err(Box::new(found));
                }
                tried += 1;
            }
        }
        Ok(tried)
    }
}

/// A function of operands.
struct Trial {
    function: Scalar,
    numbers: Vec<u64>,
    result_type: Element,
    /// What the first operand was made of, and by what.
    inside: Option<u64>,
    made: Option<(Scalar, u64)>,
}

impl Trial {
    fn of(function: Scalar, numbers: Vec<u64>, result_type: Element) -> Self {
        Self { function, numbers, result_type, inside: None, made: None }
    }

    /// What is known of the operands if those in a set of bits are constants.
    fn known(&self, constants: u32, knows_booleans: bool) -> Vec<Operand> {
        let of = |(index, bits): (usize, &u64)| Operand {
            number: self.numbers.iter().position(|it| it == bits).unwrap_or(index) as u32,
            constant: (constants >> index & 1 == 1).then_some(*bits),
            is_boolean: knows_booleans && *bits < 2,
            made: self.made.filter(|_| index == 0),
        };
        self.numbers.iter().enumerate().map(of).collect()
    }
}

impl Form {
    /// The value for these operands, and what the first was made of; `None` if a function has none.
    fn apply(&self, operands: &[u64], inside: Option<u64>) -> Option<u64> {
        match self {
            Self::Operand(index) => operands.get(*index).copied(),
            Self::Inside(index) => inside.filter(|_| *index == 0),
            Self::Constant(bits, _) => Some(*bits),
            Self::Not(form) => Some(form.apply(operands, inside)? ^ 1),
            Self::Of(function, forms) => {
                let numbers: Option<Vec<u64>> =
                    forms.iter().map(|form| form.apply(operands, inside)).collect();
                function.apply(&numbers?)
            }
        }
    }
}

fn nth(edges: &[Vec<u64>], mut at: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for edges in edges {
        numbers.push(edges[at % edges.len()]);
        at /= edges.len();
    }
    numbers
}

fn edges(element: Element) -> Vec<u64> {
    let singles = [0.0, 1.0, 1.5, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NAN];
    let both = |it: u64, sign: u64| [it, it ^ 1 << sign];
    let mut found: Vec<u64> = match element {
        F32 => singles.iter().flat_map(|it| both(u64::from(it.to_bits()), 31)).collect(),
        F64 => singles.iter().flat_map(|it| both(f64::from(*it).to_bits(), 63)).collect(),
        _ => {
            let width = element.width();
            let top = 1_u64 << (width - 1);
            let all = [0, 1, 2, 3, 7, 8, u64::from(width) - 1, u64::from(width), 100];
            let all = all.into_iter().chain([top - 1, top, top + 1, u64::MAX - 1, u64::MAX]);
            all.map(|bits| cut(width, bits)).collect()
        }
    };
    found.sort_unstable();
    found.dedup();
    found
}

/// Functions, with the types of their operands and of their result.
fn functions() -> Vec<(Scalar, Vec<Element>, Element)> {
    let mut found = Vec::new();
    let boolean = Element::Integer(1);
    let orders = [
        Order::Equal,
        Order::NotEqual,
        Order::Less,
        Order::LessEqual,
        Order::Greater,
        Order::GreaterEqual,
        Order::Ordered,
        Order::Always,
        Order::Never,
    ];
    for width in WIDTHS {
        let of = Element::Integer(width);
        for function in INTEGERS {
            found.push((Scalar::IntegerBinary(function, width), vec![of; 2], of));
        }
        for order in orders {
            for is_signed in [false, true] {
                let compare = Scalar::CompareIntegers { order, is_signed, width };
                found.push((compare, vec![of; 2], boolean));
            }
        }
        for to in WIDTHS.into_iter().filter(|to| *to > width) {
            let wider = Element::Integer(to);
            found.push((Scalar::ZeroExtend { from: width, to }, vec![of], wider));
            found.push((Scalar::SignExtend { from: width, to }, vec![of], wider));
            found.push((Scalar::Narrow { to: width }, vec![wider], of));
        }
        found.push((Scalar::SelectInteger, vec![boolean, of, of], of));
    }
    for of in [F32, F64] {
        for function in FLOATS {
            found.push((Scalar::FloatBinary(function, of), vec![of; 2], of));
        }
        for function in [FloatUnary::Negate, FloatUnary::Absolute] {
            found.push((Scalar::FloatUnary(function, of), vec![of], of));
        }
        for order in orders {
            for unordered in [false, true] {
                let compare = Scalar::CompareFloats { order, unordered, element: of };
                found.push((compare, vec![of; 2], boolean));
            }
        }
        found.push((Scalar::SelectFloat, vec![boolean, of, of], of));
    }
    found
}

const INTEGERS: [I; 20] = [
    I::Add,
    I::Subtract,
    I::Multiply,
    I::DivideSigned,
    I::DivideUnsigned,
    I::RemainderSigned,
    I::RemainderUnsigned,
    I::CeilDivideSigned,
    I::CeilDivideUnsigned,
    I::FloorDivideSigned,
    I::And,
    I::Or,
    I::Xor,
    I::ShiftLeft,
    I::ShiftRightSigned,
    I::ShiftRightUnsigned,
    I::MaximumSigned,
    I::MaximumUnsigned,
    I::MinimumSigned,
    I::MinimumUnsigned,
];

const FLOATS: [FloatBinary; 10] = [
    FloatBinary::Add,
    FloatBinary::Subtract,
    FloatBinary::Multiply,
    FloatBinary::Divide,
    FloatBinary::Remainder,
    FloatBinary::Maximum,
    FloatBinary::Minimum,
    FloatBinary::MaximumNumber,
    FloatBinary::MinimumNumber,
    FloatBinary::CopySign,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{RULES, rule, simplified};

    #[test]
    fn every_rule_holds_at_the_edges() {
        for rule in RULES {
            match rule.try_at_edges() {
                Ok(0) => panic!("{}: it never applied", rule.name),
                Ok(_) => {}
                Err(counterexample) => panic!("{}: {counterexample:?}", rule.name),
            }
        }
    }

    #[test]
    fn a_function_that_is_one_of_its_operands() {
        let operand = |number, constant| Operand { constant, ..Operand::unknown(number) };
        let lowest = crate::bits::negative_infinity(F32);
        let order = Order::Greater;
        let greater = Scalar::CompareFloats { order, unordered: false, element: F32 };
        let operands = [operand(0, lowest), operand(1, None)];
        let never = Some(Form::Constant(0, Element::Integer(1)));
        assert_eq!(simplified(greater, &operands), never);
        let operands = [operand(0, Some(0)), operand(1, lowest), operand(2, None)];
        assert_eq!(simplified(Scalar::SelectFloat, &operands), Some(Form::Operand(2)));
        let minus = Scalar::IntegerBinary(I::Subtract, 32);
        let operands = [operand(3, None), operand(4, Some(0))];
        assert_eq!(simplified(minus, &operands), Some(Form::Operand(0)));
        let operands = [operand(3, None), operand(4, Some(1))];
        assert_eq!(simplified(minus, &operands), None);
    }

    /// What looks like a rule, and holds but for NaN, for zeros of one sign, or without a wrap.
    #[test]
    fn what_is_no_rule_is_found_out() {
        let float = |function| Scalar::FloatBinary(function, F32);
        let zero = rule("a - 0 is a + 0", |function, _| match function {
            Scalar::FloatBinary(FloatBinary::Subtract, F32) => Some(Form::Of(
                Scalar::FloatBinary(FloatBinary::Add, F32),
                vec![Form::Operand(0), Form::Operand(1)],
            )),
            _ => None,
        });
        assert_eq!(zero.try_at_edges().unwrap_err().function, float(FloatBinary::Subtract));
        let nan = rule("a <= b is !(b < a)", |function, _| match function {
            Scalar::CompareFloats { order: Order::LessEqual, unordered, element } => {
                let less = Scalar::CompareFloats { order: Order::Less, unordered, element };
                Some(Form::Not(Box::new(Form::Of(less, vec![Form::Operand(1), Form::Operand(0)]))))
            }
            _ => None,
        });
        let found = nan.try_at_edges().unwrap_err();
        assert!(found.operands.iter().any(|bits| is_nan(F32, *bits)), "{found:?}");
        let wraps = rule("a < b is a - b < 0", |function, _| match function {
            Scalar::CompareIntegers { order: Order::Less, is_signed: true, width } => {
                let operands = vec![Form::Operand(0), Form::Operand(1)];
                let minus = Form::Of(Scalar::IntegerBinary(I::Subtract, width), operands);
                let zero = Form::Constant(0, Element::Integer(width));
                Some(Form::Of(function, vec![minus, zero]))
            }
            _ => None,
        });
        assert!(wraps.try_at_edges().is_err());
    }
}
