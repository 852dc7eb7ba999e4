//! Arithmetic of MLIR's affine maps: `affine_map<(d0)[s0] -> (d0 + s0 ceildiv 64)>`.

use std::collections::HashMap;

/// The deepest nesting of parentheses that is read.
const DEEPEST: usize = 64;

/// The results of a map for its dimensions and symbols, in their order. `None` if it is not
/// understood, or a number does not fit.
pub(super) fn evaluate(map: &str, dimensions: &[i64], symbols: &[i64]) -> Option<Vec<i64>> {
    let map = map.trim().strip_prefix("affine_map<")?.strip_suffix('>')?;
    let (names, results) = map.split_once("->")?;
    let (dimension_names, symbol_names) = match names.trim().split_once('[') {
        Some((dimensions, symbols)) => (dimensions, symbols.trim().strip_suffix(']')?),
        None => (names, ""),
    };
    let dimension_names = dimension_names.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut values = HashMap::new();
    for (names, given) in [(dimension_names, dimensions), (symbol_names, symbols)] {
        let names: Vec<&str> =
            names.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        if names.len() != given.len() {
            return None;
        }
        values.extend(names.into_iter().zip(given.iter().copied()));
    }
    let results = results.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut parser = Parser { rest: results, values: &values, depth: 0 };
    let mut found = Vec::new();
    loop {
        found.push(parser.sum()?);
        if !parser.eat(",") {
            return parser.rest.trim().is_empty().then_some(found);
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
    values: &'t HashMap<&'t str, i64>,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        rest.map(|rest| self.rest = rest).is_some()
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            value = if self.eat("+") {
                value.checked_add(self.product()?)?
            } else if self.eat("-") {
                value.checked_sub(self.product()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        loop {
            value = if self.eat("*") {
                value.checked_mul(self.factor()?)?
            } else if self.eat("floordiv") {
                let divisor = self.divisor()?;
                value.div_euclid(divisor)
            } else if self.eat("ceildiv") {
                let divisor = self.divisor()?;
                value.checked_neg()?.div_euclid(divisor).checked_neg()?
            } else if self.eat("mod") {
                let divisor = self.divisor()?;
                value.rem_euclid(divisor)
            } else {
                return Some(value);
            };
        }
    }

    /// Affine maps divide by positive numbers only.
    fn divisor(&mut self) -> Option<i64> {
        self.factor().filter(|value| *value > 0)
    }

    fn factor(&mut self) -> Option<i64> {
        if self.eat("-") {
            return self.factor()?.checked_neg();
        }
        if self.eat("(") {
            self.depth += 1;
            let value = (self.depth < DEEPEST).then(|| self.sum()).flatten()?;
            self.depth -= 1;
            return self.eat(")").then_some(value);
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|character: char| !character.is_alphanumeric()).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        word.parse().ok().or_else(|| self.values.get(word).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_as_the_compiler_prints_them() {
        let map = |text: &str, dimensions: &[i64], symbols: &[i64]| {
            evaluate(&format!("affine_map<{text}>"), dimensions, symbols)
        };
        assert_eq!(map("()[s0] -> (s0 ceildiv 64)", &[], &[65]), Some(vec![2]));
        assert_eq!(map("()[s0] -> (s0 ceildiv 64)", &[], &[0]), Some(vec![0]));
        assert_eq!(map("(d0)[s0, s1] -> (d0 + s0 * s1 - 1)", &[4], &[2, 3]), Some(vec![9]));
        assert_eq!(map("(d0) -> (-d0 + 7, (d0 mod 4) * 2)", &[5], &[]), Some(vec![2, 2]));
        assert_eq!(map("(d0) -> (d0 floordiv 4)", &[-5], &[]), Some(vec![-2]));
        assert_eq!(map("(d0) -> (d0 floordiv 0)", &[5], &[]), None);
        assert_eq!(map("(d0) -> (d1)", &[5], &[]), None);
        assert_eq!(map("(d0, d1) -> (d0)", &[5], &[]), None);
        assert_eq!(map(&format!("() -> ({})", "(".repeat(100_000)), &[], &[]), None);
    }
}
