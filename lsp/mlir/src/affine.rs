//! Affine expressions and maps: `affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>`.

use thiserror::Error;

/// The most operators of one map, and the deepest brackets. An expression is a tree that is walked
/// by recursion, and texts come from outside.
const MOST_OPERATORS: usize = 400;
const DEEPEST: usize = 30;

/// An affine expression over dimensions and symbols, which are counted together: symbols come
/// after dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A number.
    Constant(i64),
    /// The dimension or symbol with this number.
    Operand(usize),
    /// A sum.
    Add(Box<Expression>, Box<Expression>),
    /// A product.
    Multiply(Box<Expression>, Box<Expression>),
    /// A quotient, rounded down.
    FloorDivide(Box<Expression>, Box<Expression>),
    /// A quotient, rounded up.
    CeilDivide(Box<Expression>, Box<Expression>),
    /// A remainder that is not negative.
    Modulo(Box<Expression>, Box<Expression>),
}

/// An affine map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    /// How many dimensions it has.
    pub dimensions: usize,
    /// How many symbols it has.
    pub symbols: usize,
    /// Its results.
    pub results: Vec<Expression>,
}

/// Why a text is no affine map.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// Something else stands there.
    #[error("expected `{expected}` in an affine map, found `{found}`")]
    Expected {
        /// What has to come.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A name that is none of its dimensions and symbols.
    #[error("the affine map has no operand `{0}`")]
    Unknown(String),
    /// More than is read.
    #[error("this affine map has more than {MOST_OPERATORS} operators")]
    TooLong,
    /// Deeper brackets than are read.
    #[error("this affine map nests too deep")]
    TooDeep,
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoValue {
    /// It divides by a number that is not positive, for which MLIR defines nothing.
    #[error("an affine expression divides by {0}")]
    Divisor(i64),
    /// The value has more than 64 bits.
    #[error("an affine expression exceeds 64 bits")]
    Overflow,
}

/// A sum of operands with factors, and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The constant.
    pub constant: i64,
    /// The factor of each operand.
    pub factors: Vec<i64>,
}

impl Map {
    /// Reads `affine_map<(d0) -> (d0)>`, or `(d0) -> (d0)`.
    pub fn parse(text: &str) -> Result<Self, MapError> {
        let text = text.trim();
        let inner = text.strip_prefix("affine_map<").and_then(|it| it.strip_suffix('>'));
        let mut reader = Reader { rest: inner.unwrap_or(text), names: Vec::new(), operators: 0 };
        reader.expect("(")?;
        reader.names(")")?;
        let dimensions = reader.names.len();
        if reader.takes("[") {
            reader.names("]")?;
        }
        let symbols = reader.names.len() - dimensions;
        reader.expect("->")?;
        reader.expect("(")?;
        let mut results = Vec::new();
        if !reader.takes(")") {
            loop {
                results.push(reader.sum(0)?);
                if reader.takes(")") {
                    break;
                }
                reader.expect(",")?;
            }
        }
        match reader.rest.trim() {
            "" => Ok(Self { dimensions, symbols, results }),
            rest => Err(MapError::Expected { expected: "the end", found: shortened(rest) }),
        }
    }

    /// The map from this many dimensions to these of them.
    #[must_use]
    pub fn of_dimensions(dimensions: usize, results: &[usize]) -> Self {
        let results = results.iter().map(|at| Expression::Operand(*at)).collect();
        Self { dimensions, symbols: 0, results }
    }

    /// The map that changes nothing.
    #[must_use]
    pub fn identity(dimensions: usize) -> Self {
        Self::of_dimensions(dimensions, &(0..dimensions).collect::<Vec<_>>())
    }

    /// Its dimensions and symbols.
    #[must_use]
    pub fn operands(&self) -> usize {
        self.dimensions + self.symbols
    }

    /// The values of its results for these operands, symbols last.
    pub fn values(&self, operands: &[i64]) -> Result<Vec<i64>, NoValue> {
        self.results.iter().map(|it| it.value(operands)).collect()
    }
}

impl Expression {
    /// The value for these operands.
    pub fn value(&self, operands: &[i64]) -> Result<i64, NoValue> {
        let both = |a: &Self, b: &Self| Ok((a.value(operands)?, b.value(operands)?));
        let divided = |a: &Self, b: &Self| match both(a, b)? {
            (_, b) if b <= 0 => Err(NoValue::Divisor(b)),
            both => Ok(both),
        };
        let value = match self {
            Self::Constant(value) => Some(*value),
            Self::Operand(at) => Some(operands.get(*at).copied().unwrap_or_default()),
            Self::Add(a, b) => both(a, b).map(|(a, b)| a.checked_add(b))?,
            Self::Multiply(a, b) => both(a, b).map(|(a, b)| a.checked_mul(b))?,
            Self::FloorDivide(a, b) => divided(a, b).map(|(a, b)| a.checked_div_euclid(b))?,
            Self::CeilDivide(a, b) => {
                let (a, b) = divided(a, b)?;
                a.div_euclid(b).checked_add(i64::from(a.rem_euclid(b) != 0))
            }
            Self::Modulo(a, b) => divided(a, b).map(|(a, b)| a.checked_rem_euclid(b))?,
        };
        value.ok_or(NoValue::Overflow)
    }

    /// The expression as a sum of operands with factors; `None` if it divides.
    #[must_use]
    pub fn linear(&self, operands: usize) -> Option<Linear> {
        let constant = |constant| Linear { constant, factors: vec![0; operands] };
        match self {
            Self::Constant(value) => Some(constant(*value)),
            Self::Operand(at) => {
                let mut it = constant(0);
                *it.factors.get_mut(*at)? = 1;
                Some(it)
            }
            Self::Add(a, b) => {
                let (mut a, b) = (a.linear(operands)?, b.linear(operands)?);
                a.constant = a.constant.checked_add(b.constant)?;
                for (a, b) in a.factors.iter_mut().zip(b.factors) {
                    *a = a.checked_add(b)?;
                }
                Some(a)
            }
            Self::Multiply(a, b) => {
                let (a, b) = (a.linear(operands)?, b.linear(operands)?);
                let (factor, mut of) = match (a.is_constant(), b.is_constant()) {
                    (true, _) => (a.constant, b),
                    (_, true) => (b.constant, a),
                    _ => return None,
                };
                of.constant = of.constant.checked_mul(factor)?;
                for it in &mut of.factors {
                    *it = it.checked_mul(factor)?;
                }
                Some(of)
            }
            Self::FloorDivide(..) | Self::CeilDivide(..) | Self::Modulo(..) => None,
        }
    }

    fn times(self, factor: i64) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value.wrapping_mul(factor)),
            other => Self::Multiply(Box::new(other), Box::new(Self::Constant(factor))),
        }
    }
}

impl Linear {
    fn is_constant(&self) -> bool {
        self.factors.iter().all(|factor| *factor == 0)
    }
}

/// What is left of the text of a map.
struct Reader<'t> {
    rest: &'t str,
    names: Vec<&'t str>,
    operators: usize,
}

impl<'t> Reader<'t> {
    fn takes(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let Some(after) = self.rest.strip_prefix(token) else { return false };
        let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if token.ends_with(is_part) && after.starts_with(is_part) {
            return false;
        }
        self.rest = after;
        true
    }

    fn expect(&mut self, expected: &'static str) -> Result<(), MapError> {
        if self.takes(expected) {
            return Ok(());
        }
        Err(MapError::Expected { expected, found: shortened(self.rest) })
    }

    fn word(&mut self) -> &'t str {
        let rest = self.rest.trim_start();
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        self.rest = after;
        word
    }

    /// Reads the names of operands, up to and with `end`.
    fn names(&mut self, end: &'static str) -> Result<(), MapError> {
        if self.takes(end) {
            return Ok(());
        }
        loop {
            let name = self.word();
            if name.is_empty() {
                let found = shortened(self.rest);
                return Err(MapError::Expected { expected: "the name of a dimension", found });
            }
            self.names.push(name);
            if self.takes(end) {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    fn count(&mut self) -> Result<(), MapError> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS { Err(MapError::TooLong) } else { Ok(()) }
    }

    fn sum(&mut self, depth: usize) -> Result<Expression, MapError> {
        let mut left = self.product(depth)?;
        loop {
            let is_minus = !self.rest.trim_start().starts_with("->") && self.takes("-");
            if !is_minus && !self.takes("+") {
                return Ok(left);
            }
            self.count()?;
            let right = self.product(depth)?;
            let right = if is_minus { right.times(-1) } else { right };
            left = Expression::Add(Box::new(left), Box::new(right));
        }
    }

    fn product(&mut self, depth: usize) -> Result<Expression, MapError> {
        let mut left = self.atom(depth)?;
        loop {
            let operators = ["*", "floordiv", "ceildiv", "mod"];
            let Some(operator) = operators.into_iter().find(|it| self.takes(it)) else {
                return Ok(left);
            };
            self.count()?;
            let (a, b) = (Box::new(left), Box::new(self.atom(depth)?));
            left = match operator {
                "*" => Expression::Multiply(a, b),
                "floordiv" => Expression::FloorDivide(a, b),
                "ceildiv" => Expression::CeilDivide(a, b),
                _ => Expression::Modulo(a, b),
            };
        }
    }

    fn atom(&mut self, depth: usize) -> Result<Expression, MapError> {
        if depth > DEEPEST {
            return Err(MapError::TooDeep);
        }
        if self.takes("(") {
            let inner = self.sum(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.takes("-") {
            self.count()?;
            return Ok(self.atom(depth + 1)?.times(-1));
        }
        let word = self.word();
        if let Ok(number) = word.parse() {
            return Ok(Expression::Constant(number));
        }
        match self.names.iter().position(|it| *it == word) {
            Some(at) => Ok(Expression::Operand(at)),
            None if word.is_empty() => Err(MapError::Expected {
                expected: "an affine expression",
                found: shortened(self.rest),
            }),
            None => Err(MapError::Unknown(word.to_owned())),
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(20).take_while(|it| *it != '\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, operands: &[i64]) -> Result<Vec<i64>, NoValue> {
        let map = Map::parse(&format!("affine_map<{text}>"));
        map.map_or_else(|error| panic!("{error}"), |map| map.values(operands))
    }

    #[test]
    fn maps_as_the_compiler_prints_them() {
        assert_eq!(values("()[s0] -> (s0 ceildiv 64)", &[65]), Ok(vec![2]));
        assert_eq!(values("()[s0] -> (s0 ceildiv 64)", &[0]), Ok(vec![0]));
        assert_eq!(values("(d0)[s0, s1] -> (d0 + s0 * s1 - 1)", &[4, 2, 3]), Ok(vec![9]));
        assert_eq!(values("(d0) -> (-d0 + 7, (d0 mod 4) * 2)", &[5]), Ok(vec![2, 2]));
        assert_eq!(values("(d0) -> (d0 floordiv 4)", &[-5]), Ok(vec![-2]));
        assert_eq!(values("(d0) -> (d0 ceildiv 4)", &[-5]), Ok(vec![-1]));
        assert_eq!(values("(d0) -> (d0 floordiv 0)", &[5]), Err(NoValue::Divisor(0)));
        assert_eq!(values("(d0) -> (d0 * d0)", &[i64::MAX]), Err(NoValue::Overflow));
        assert_eq!(values("(d0) -> ()", &[5]), Ok(vec![]));
    }

    #[test]
    fn texts_that_are_no_maps() {
        let error = |text: &str| Map::parse(text).unwrap_err().to_string();
        assert_eq!(error("(d0) -> (d1)"), "the affine map has no operand `d1`");
        assert_eq!(error("(d0 -> (d0)"), "expected `,` in an affine map, found `-> (d0)`");
        assert_eq!(
            error("(d0) -> (d0 +)"),
            "expected `an affine expression` in an affine map, found `)`"
        );
        assert_eq!(error("(d0) -> (d0) x"), "expected `the end` in an affine map, found `x`");
        let deep = format!("() -> ({})", "(".repeat(100_000));
        assert_eq!(error(&deep), "this affine map nests too deep");
        let long = format!("(d0) -> (d0{})", " + d0".repeat(100_000));
        assert_eq!(error(&long), "this affine map has more than 400 operators");
    }

    #[test]
    fn sums_with_factors() {
        let linear = |text: &str| Map::parse(text).unwrap().results[0].linear(2);
        let found = Linear { constant: -1, factors: vec![2, 3] };
        assert_eq!(linear("(d0, d1) -> (d0 * 2 + (d1 * 3) - 1)"), Some(found));
        assert_eq!(linear("(d0, d1) -> (d0 mod 2)"), None);
        assert_eq!(linear("(d0, d1) -> (d0 * d1)"), None);
    }
}
