//! Values as terms: what structure proves.
//!
//! A term stands for an operation on the terms of its operands, in a normal form: constants stand
//! last, `a > b` is `b < a`, a choice between two paths is a `select` ([`mlir::rules`], and
//! [`OF_REGISTERS`] below). Equal terms have one number, for both programs ([`Terms`]), so two
//! values with one term are made by the same computation from the same leaves, and are equal for
//! every input. Values with different terms may be equal all the same: the compiler rewrites more
//! than is undone here.
//!
//! Which value of a graph has which term is [`super::numbering`]'s.
//!
//! Rules are applied in one direction, and an e-graph (`egg` 0.11) is not used, since it found
//! nothing more: of 415 values of random programs that a register holds, rules in one direction
//! proved 385. Of the other 30, equality saturation with commutative, associative and distributive
//! rules and with choices moved outwards joined none. What they need are ranges (`(x mod 5) / 10`
//! is 0) and which floats are no NaN.

use std::collections::HashMap;

use mlir::rules::{Form, Holds, MOST_REWRITES, Operand, RULES, Rule};
use mlir::{IntegerBinary as I, Scalar as Function};

use super::arithmetic::{ExtremeRule, Pure, Scalar};
use super::graph::Node;

/// What only registers have.
pub(super) const OF_REGISTERS: &[Rule] = &[
    Rule {
        name: "a boolean in a register is 0 or 1",
        holds: Holds::InAllBits,
        rewrite: widened_boolean,
    },
    Rule {
        name: "registers hold narrow integers, and logic does each bit alone",
        holds: Holds::InItsBits,
        rewrite: logic_in_registers,
    },
];

/// The number of a term, and whether it is the opposite of the boolean with that number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Term(u32);

/// What a term stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Made {
    /// A value of a program of which nothing is known but that it is itself. A leaf of the bytecode
    /// that is matched with one of the source has the term of that.
    Own(Program, Node),
    Constant(u64),
    /// What the loops with this number carry, before anything is known of it.
    Carried(usize),
    /// What loops carry: what was known before, the initial value, and the next one.
    Turn([Term; 3]),
    Of(Pure, Box<[Term]>),
}

/// Which of the two programs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Program {
    Source,
    Bytecode,
}

/// The terms of both programs.
#[derive(Debug, Default)]
pub(super) struct Terms {
    numbers: HashMap<Made, u32>,
    /// By number, what is known of the term.
    known: Vec<Known>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    constant: Option<u64>,
    is_boolean: bool,
    /// The function that made it of another term and a constant on its right.
    made: Option<(Function, Term, u64)>,
}

impl Term {
    fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_opposite(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Terms {
    fn intern(&mut self, made: Made, is_boolean: bool) -> Term {
        let mut known = Known { is_boolean, ..Known::default() };
        match &made {
            Made::Constant(bits) => known.constant = Some(*bits),
            Made::Of(Pure::Of(function), operands) => {
                if let [one, other] = **operands
                    && let Some(bits) = self.known[other.index()].constant
                {
                    known.made = Some((*function, one, bits));
                }
            }
            _ => {}
        }
        let number = match self.numbers.get(&made) {
            Some(number) => *number,
            None => {
                let number = self.known.len() as u32;
                self.known.push(known);
                self.numbers.insert(made, number);
                number
            }
        };
        Term(number << 1)
    }

    pub(super) fn own(&mut self, program: Program, node: Node) -> Term {
        self.intern(Made::Own(program, node), false)
    }

    pub(super) fn constant(&mut self, bits: u64) -> Term {
        self.intern(Made::Constant(bits), bits < 2)
    }

    pub(super) fn carried(&mut self, loops: usize) -> Term {
        self.intern(Made::Carried(loops), false)
    }

    pub(super) fn turn(&mut self, known: Term, begins: Term, next: Term) -> Term {
        self.intern(Made::Turn([known, begins, next]), false)
    }

    /// The opposite of a boolean.
    fn not(&mut self, term: Term) -> Term {
        match self.known[term.index()].constant {
            Some(bits) => self.constant(bits ^ 1),
            None => Term(term.0 ^ 1),
        }
    }

    /// A choice by a condition.
    pub(super) fn choice(&mut self, condition: (Term, bool), yes: Term, no: Term) -> Term {
        self.function(Function::SelectInteger, vec![condition, (yes, false), (no, false)])
    }

    /// An operation on operands, each with whether the program says that it is 0 or 1.
    pub(super) fn operation(&mut self, pure: Pure, operands: Vec<(Term, bool)>) -> Term {
        match pure {
            Pure::Of(function) => self.function(function, operands),
            Pure::Not(Scalar::Int(1)) if operands.len() == 1 => self.not(operands[0].0),
            Pure::Not(_) => self.made(pure, operands),
            Pure::Extreme { is_least, scalar, .. } => self.extreme(is_least, scalar, operands),
            Pure::MultiplyAdd(scalar) => {
                let [times, plus] = Pure::multiply_and_add(scalar);
                let [one, other, third] = operands[..] else { return self.made(pure, operands) };
                let product = self.function(times, vec![one, other]);
                self.function(plus, vec![(product, false), third])
            }
        }
    }

    /// The lesser or greater of two floats, as the compiler writes it. Where a NaN or zeros of both
    /// signs decide, [`Pure::Extreme`] has no result, so all of its rules have one term.
    fn extreme(&mut self, is_least: bool, scalar: Scalar, operands: Vec<(Term, bool)>) -> Term {
        let [one, other] = operands[..] else {
            let rule = ExtremeRule::Either;
            return self.made(Pure::Extreme { is_least, rule, scalar }, operands);
        };
        let is_less = self.function(Pure::less_or_nan(scalar), operands);
        let (yes, no) = if is_least { (one, other) } else { (other, one) };
        self.choice((is_less, true), yes.0, no.0)
    }

    /// A function of numbers, rewritten as long as there is a rule for it.
    fn function(&mut self, mut function: Function, mut operands: Vec<(Term, bool)>) -> Term {
        for _ in 0..MOST_REWRITES {
            // What is chosen is known by its bits.
            if function == Function::SelectFloat {
                function = Function::SelectInteger;
            }
            if function == Function::SelectInteger
                && let [condition, yes, no] = &mut operands[..]
                && condition.0.is_opposite()
            {
                condition.0 = self.not(condition.0);
                std::mem::swap(yes, no);
            }
            let known: Vec<Operand> = operands.iter().map(|it| self.operand(*it)).collect();
            let form = mlir::rules::rewritten(RULES, function, &known);
            let form = form.or_else(|| mlir::rules::rewritten(OF_REGISTERS, function, &known));
            match form {
                None => break,
                Some(Form::Of(rewritten, forms)) => {
                    operands = forms.iter().map(|form| self.form(form, &operands)).collect();
                    function = rewritten;
                }
                Some(form) => return self.form(&form, &operands).0,
            }
        }
        self.made(Pure::Of(function), operands)
    }

    fn operand(&self, (term, is_boolean): (Term, bool)) -> Operand {
        let known = self.known[term.index()];
        // What made a boolean did not make its opposite.
        let made = known.made.filter(|_| !term.is_opposite());
        Operand {
            number: term.0,
            constant: known.constant,
            is_boolean: is_boolean || known.is_boolean,
            made: made.map(|(function, _, bits)| (function, bits)),
        }
    }

    fn form(&mut self, form: &Form, operands: &[(Term, bool)]) -> (Term, bool) {
        match form {
            Form::Operand(index) => operands[*index],
            Form::Inside(index) => {
                let term = operands[*index].0;
                (self.known[term.index()].made.map_or(term, |(_, inside, _)| inside), false)
            }
            Form::Constant(bits, _) => (self.constant(*bits), false),
            Form::Not(form) => {
                let (term, _) = self.form(form, operands);
                (self.not(term), true)
            }
            Form::Of(function, forms) => {
                let operands = forms.iter().map(|form| self.form(form, operands)).collect();
                (self.function(*function, operands), false)
            }
        }
    }

    fn made(&mut self, pure: Pure, operands: Vec<(Term, bool)>) -> Term {
        let are_booleans = |terms: &Self, operands: &[(Term, bool)]| {
            operands.iter().all(|it| terms.operand(*it).is_boolean)
        };
        let is_boolean = pure.is_comparison()
            || match pure {
                Pure::Of(Function::SelectInteger) => {
                    are_booleans(self, operands.get(1..).unwrap_or_default())
                }
                Pure::Of(Function::IntegerBinary(I::And | I::Or | I::Xor, _)) => {
                    are_booleans(self, &operands)
                }
                _ => false,
            };
        let terms = operands.into_iter().map(|(term, _)| term).collect();
        self.intern(Made::Of(pure, terms), is_boolean)
    }
}

fn widened_boolean(function: Function, operands: &[Operand]) -> Option<Form> {
    let Function::ZeroExtend { from, to } = function else { return None };
    if !operands.first()?.is_boolean {
        return None;
    }
    match to {
        ..=32 => Some(Form::Operand(0)),
        // A register of another size.
        _ if from != 1 => {
            let widened = Function::ZeroExtend { from: 1, to };
            Some(Form::Of(widened, vec![Form::Operand(0)]))
        }
        _ => None,
    }
}

fn logic_in_registers(function: Function, _: &[Operand]) -> Option<Form> {
    let Function::IntegerBinary(logic @ (I::And | I::Or | I::Xor), ..32) = function else {
        return None;
    };
    let wide = Function::IntegerBinary(logic, 32);
    Some(Form::Of(wide, vec![Form::Operand(0), Form::Operand(1)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An opposite was not made by what made its boolean.
    #[test]
    fn rules_do_not_look_inside_of_opposites() {
        let mut terms = Terms::default();
        let or = Pure::Of(Function::IntegerBinary(I::Or, 32));
        let boolean = terms.own(Program::Source, 0);
        let [one, two, three] = [1, 2, 3].map(|bits| (terms.constant(bits), false));
        let set = terms.operation(or, vec![(boolean, true), one]);
        let opposite = terms.not(set);
        let inside = terms.operation(or, vec![(boolean, true), three]);
        assert_eq!(terms.operation(or, vec![(set, true), two]), inside);
        assert_ne!(terms.operation(or, vec![(opposite, true), two]), inside);
    }

    #[test]
    fn rules_of_registers_hold_at_the_edges() {
        for rule in OF_REGISTERS {
            let tried = rule.try_at_edges();
            assert!(tried.is_ok_and(|times| times > 0), "{}", rule.name);
        }
    }
}
