//! Affine maps as memory layouts: `affine_map<(d0, d1)[s0] -> (d0 * 8 + d1 + s0)>`, and their
//! strides, if they have any.

use crate::text::cursor::{Cursor, SyntaxError, check_depth};

/// A map: its number of dimensions, and an expression for each result.
pub(crate) struct Map {
    pub(crate) dimensions: usize,
    results: Vec<Linear>,
}

/// A linear expression, or one that is not linear.
#[derive(Clone, Debug)]
enum Linear {
    /// A coefficient for each dimension, and a constant; `None` for one that contains a symbol.
    Sum { coefficients: Vec<Option<i64>>, constant: Option<i64> },
    /// `mod`, `floordiv`, `ceildiv`, or a product of dimensions.
    NotLinear,
}

/// Parses a map, from `affine_map` on.
pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Map, SyntaxError> {
    cursor.expect("affine_map")?;
    cursor.expect("<")?;
    let dimensions = parse_names(cursor, "(", ")")?;
    cursor.skip_space();
    let symbols =
        if cursor.peek() == Some('[') { parse_names(cursor, "[", "]")? } else { Vec::new() };
    cursor.expect("->")?;
    cursor.expect("(")?;
    let mut parser = Parser { dimensions: &dimensions, symbols: &symbols };
    let mut results = Vec::new();
    if !cursor.eat(")") {
        loop {
            results.push(parser.sum(cursor, 0)?);
            if cursor.eat(")") {
                break;
            }
            cursor.expect(",")?;
        }
    }
    cursor.expect(">")?;
    Ok(Map { dimensions: dimensions.len(), results })
}

fn parse_names(
    cursor: &mut Cursor<'_>,
    open: &str,
    close: &str,
) -> Result<Vec<String>, SyntaxError> {
    cursor.expect(open)?;
    let mut names = Vec::new();
    if cursor.eat(close) {
        return Ok(names);
    }
    loop {
        cursor.skip_space();
        let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(cursor.expected("a name"));
        }
        names.push(name.to_owned());
        if cursor.eat(close) {
            return Ok(names);
        }
        cursor.expect(",")?;
    }
}

impl Map {
    /// Whether it is the identity.
    pub(crate) fn is_identity(&self) -> bool {
        self.results.len() == self.dimensions
            && self.results.iter().enumerate().all(|(at, result)| result.dimension() == Some(at))
    }

    /// The strides and the offset, if the map has one result and that is linear. Except for the
    /// identity, MLIR treats no other maps as strided, not even permutations.
    pub(crate) fn strides(&self) -> Option<(Vec<Option<i64>>, Option<i64>)> {
        match self.results.as_slice() {
            [result] => result.parts(),
            _ => None,
        }
    }
}

impl Linear {
    fn zero(dimensions: usize) -> Self {
        Self::Sum { coefficients: vec![Some(0); dimensions], constant: Some(0) }
    }

    fn parts(&self) -> Option<(Vec<Option<i64>>, Option<i64>)> {
        match self {
            Self::Sum { coefficients, constant } => Some((coefficients.clone(), *constant)),
            Self::NotLinear => None,
        }
    }

    /// The dimension, if the expression is a single one.
    fn dimension(&self) -> Option<usize> {
        let Self::Sum { coefficients, constant: Some(0) } = self else { return None };
        let mut used = coefficients.iter().enumerate().filter(|(_, c)| **c != Some(0));
        match (used.next(), used.next()) {
            (Some((index, Some(1))), None) => Some(index),
            _ => None,
        }
    }

    fn plus(&self, other: &Self) -> Self {
        let (Some((a, ka)), Some((b, kb))) = (self.parts(), other.parts()) else {
            return Self::NotLinear;
        };
        let add = |a: Option<i64>, b: Option<i64>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
        Self::Sum {
            coefficients: a.into_iter().zip(b).map(|(a, b)| add(a, b)).collect(),
            constant: add(ka, kb),
        }
    }

    /// The expression multiplied by a factor; `None` for a factor known only at run time.
    fn times(&self, factor: Option<i64>) -> Option<Self> {
        let (coefficients, constant) = self.parts()?;
        let multiply = |part: Option<i64>| match part {
            Some(0) => Some(0),
            part => part.zip(factor).and_then(|(part, factor)| part.checked_mul(factor)),
        };
        Some(Self::Sum {
            coefficients: coefficients.into_iter().map(multiply).collect(),
            constant: multiply(constant),
        })
    }

    /// The value, if it contains no dimension; the inner `None` if it contains a symbol.
    fn as_constant(&self) -> Option<Option<i64>> {
        let Self::Sum { coefficients, constant } = self else { return None };
        coefficients.iter().all(|c| *c == Some(0)).then_some(*constant)
    }
}

struct Parser<'a> {
    dimensions: &'a [String],
    symbols: &'a [String],
}

impl Parser<'_> {
    fn sum(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<Linear, SyntaxError> {
        let mut total = self.product(cursor, depth)?;
        loop {
            cursor.skip_space();
            if cursor.rest().starts_with("->") {
                return Ok(total);
            }
            if cursor.eat("+") {
                total = total.plus(&self.product(cursor, depth)?);
            } else if cursor.eat("-") {
                let term = self.product(cursor, depth)?;
                total = total.plus(&term.times(Some(-1)).unwrap_or(Linear::NotLinear));
            } else {
                return Ok(total);
            }
        }
    }

    fn product(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<Linear, SyntaxError> {
        let mut total = self.factor(cursor, depth)?;
        loop {
            if cursor.eat("*") {
                let factor = self.factor(cursor, depth)?;
                total = match (total.as_constant(), factor.as_constant()) {
                    (Some(number), _) => factor.times(number),
                    (None, Some(number)) => total.times(number),
                    (None, None) => None,
                }
                .unwrap_or(Linear::NotLinear);
            } else if cursor.eat_word("mod")
                || cursor.eat_word("floordiv")
                || cursor.eat_word("ceildiv")
            {
                self.factor(cursor, depth)?;
                total = Linear::NotLinear;
            } else {
                return Ok(total);
            }
        }
    }

    fn factor(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<Linear, SyntaxError> {
        check_depth(depth, cursor.position())?;
        if cursor.eat("(") {
            let inner = self.sum(cursor, depth + 1)?;
            cursor.expect(")")?;
            return Ok(inner);
        }
        if cursor.eat("-") {
            let inner = self.factor(cursor, depth + 1)?;
            return Ok(inner.times(Some(-1)).unwrap_or(Linear::NotLinear));
        }
        cursor.skip_space();
        let at = cursor.position();
        let word = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let mut found = Linear::zero(self.dimensions.len());
        let Linear::Sum { coefficients, constant } = &mut found else { return Ok(found) };
        if let Some(index) = self.dimensions.iter().position(|name| name == word) {
            coefficients[index] = Some(1);
        } else if self.symbols.iter().any(|name| name == word) || cursor.eat("?") {
            *constant = None;
        } else if let Ok(number) = word.parse() {
            *constant = Some(number);
        } else {
            cursor.go_to(at);
            return Err(cursor.expected("a dimension, a symbol or a number"));
        }
        Ok(found)
    }
}
