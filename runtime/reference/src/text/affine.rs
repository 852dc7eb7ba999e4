//! `affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>`.

use crate::affine::{Expression, Map};
use crate::refusal::Result;
use crate::text::cursor::{Cursor, MOST_NESTED};

/// The most operators in one map. An expression is a tree that is walked by recursion.
const MOST_OPERATORS: usize = 400;

/// Reads a map after `affine_map<`, up to its `>`.
pub(crate) fn map(cursor: &mut Cursor<'_>) -> Result<Map> {
    let map = map_body(cursor)?;
    cursor.expect(">")?;
    Ok(map)
}

/// Reads `(d0)[s0] -> (d0 + s0)`.
pub(crate) fn map_body(cursor: &mut Cursor<'_>) -> Result<Map> {
    cursor.expect("(")?;
    let mut names = cursor.list(")", |cursor| Ok(cursor.word().to_owned()))?;
    if cursor.eat("[") {
        names.extend(cursor.list("]", |cursor| Ok(cursor.word().to_owned()))?);
    }
    cursor.expect("->")?;
    cursor.expect("(")?;
    let mut reader = Reader { names: &names, operators: 0 };
    let results = cursor.list(")", |cursor| reader.sum(cursor, 0))?;
    Ok(Map { operands: names.len(), results })
}

struct Reader<'n> {
    names: &'n [String],
    operators: usize,
}

impl Reader<'_> {
    fn count(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            return cursor.error("this affine map has more than 400 operators");
        }
        Ok(())
    }

    fn sum(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<Expression> {
        let mut left = self.product(cursor, depth)?;
        loop {
            let is_minus = cursor.sees("-") && !cursor.sees("->");
            if is_minus && cursor.eat("-") {
                self.count(cursor)?;
                let right = self.product(cursor, depth)?;
                let negative =
                    Expression::Multiply(Box::new(right), Box::new(Expression::Constant(-1)));
                left = Expression::Add(Box::new(left), Box::new(negative));
            } else if cursor.eat("+") {
                self.count(cursor)?;
                let right = self.product(cursor, depth)?;
                left = Expression::Add(Box::new(left), Box::new(right));
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<Expression> {
        let mut left = self.atom(cursor, depth)?;
        loop {
            let operator = ["*", "floordiv", "ceildiv", "mod"].iter().find(|it| cursor.eat(it));
            let Some(operator) = operator else { return Ok(left) };
            self.count(cursor)?;
            let (a, b) = (Box::new(left), Box::new(self.atom(cursor, depth)?));
            left = match *operator {
                "*" => Expression::Multiply(a, b),
                "floordiv" => Expression::FloorDivide(a, b),
                "ceildiv" => Expression::CeilDivide(a, b),
                _ => Expression::Modulo(a, b),
            };
        }
    }

    fn atom(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<Expression> {
        if depth > MOST_NESTED {
            return cursor.error("this affine map nests too deep");
        }
        if cursor.eat("(") {
            let inner = self.sum(cursor, depth + 1)?;
            cursor.expect(")")?;
            return Ok(inner);
        }
        cursor.skip();
        if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Ok(Expression::Constant(cursor.integer()?));
        }
        if cursor.eat("-") {
            self.count(cursor)?;
            let inner = self.atom(cursor, depth + 1)?;
            let minus = Box::new(Expression::Constant(-1));
            return Ok(match inner {
                Expression::Constant(value) => Expression::Constant(value.wrapping_neg()),
                other => Expression::Multiply(Box::new(other), minus),
            });
        }
        let name = cursor.word();
        match self.names.iter().position(|it| it == name) {
            Some(at) => Ok(Expression::Operand(at)),
            None => cursor.error(format!("the affine map has no operand `{name}`")),
        }
    }
}
