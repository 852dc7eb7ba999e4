//! Affine maps, types and numbers, from their text.

use std::collections::HashMap;

use super::index::Index;

/// The affine maps of a text by their aliases.
#[derive(Default)]
pub(crate) struct Maps<'t>(HashMap<&'t str, &'t str>);

impl<'t> Maps<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let aliases = text.lines().filter_map(|line| line.strip_prefix('#')?.split_once(" = "));
        Self(aliases.filter(|(_, it)| it.starts_with("affine_map<")).collect())
    }

    /// The results of a map, over its variables.
    pub(crate) fn read(&self, text: &str) -> Option<Vec<Index>> {
        match text.strip_prefix('#') {
            Some(alias) => read_map(self.0.get(alias)?),
            None => read_map(text),
        }
    }
}

/// `affine_map<(d0, d1)[s0] -> (d0, d1 * s0 + 1)>`. Symbols are variables after the dimensions.
fn read_map(text: &str) -> Option<Vec<Index>> {
    let inner = text.trim().strip_prefix("affine_map<")?.strip_suffix('>')?;
    let (variables, results) = inner.split_once("->")?;
    let variables: Vec<&str> = variables
        .split(['(', ')', '[', ']', ','])
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect();
    let results = results.trim().strip_prefix('(')?.strip_suffix(')')?;
    if results.trim().is_empty() {
        return Some(Vec::new());
    }
    let mut expression = Expression { rest: results, variables: &variables };
    let mut found = vec![expression.sum()?];
    while expression.takes(",") {
        found.push(expression.sum()?);
    }
    expression.rest.trim().is_empty().then_some(found)
}

/// What is left of an affine expression.
struct Expression<'t> {
    rest: &'t str,
    variables: &'t [&'t str],
}

impl<'t> Expression<'t> {
    fn takes(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self) -> Option<Index> {
        let mut total = self.product()?;
        loop {
            if self.takes("+") {
                total = total.add(&self.product()?);
            } else if self.takes("-") {
                total = total.subtract(&self.product()?);
            } else {
                return Some(total);
            }
        }
    }

    fn product(&mut self) -> Option<Index> {
        let mut total = self.part()?;
        loop {
            let one = Index::constant(1);
            if self.takes("*") {
                total = total.multiply(&self.part()?);
            } else if self.takes("floordiv") {
                total = total.quotient(&self.part()?, &[]);
            } else if self.takes("ceildiv") {
                let by = self.part()?;
                total = total.add(&by).subtract(&one).quotient(&by, &[]);
            } else if self.takes("mod") {
                total = total.remainder(&self.part()?, &[]);
            } else {
                return Some(total);
            }
        }
    }

    fn part(&mut self) -> Option<Index> {
        if self.takes("(") {
            let inner = self.sum()?;
            return self.takes(")").then_some(inner);
        }
        if self.takes("-") {
            return Some(self.part()?.times(-1));
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        if let Ok(number) = word.parse() {
            return Some(Index::constant(number));
        }
        let at = self.variables.iter().position(|it| *it == word)?;
        Some(Index::variable(u32::try_from(at).ok()?))
    }
}

/// Shape and element type of `tensor<1x?xf32>`.
pub(crate) fn tensor(type_text: &str) -> Option<(Vec<Option<i64>>, String)> {
    shaped(type_text.strip_prefix("tensor<")?.strip_suffix('>')?)
}

/// Shape and element type of `1x?xf32`, without an encoding.
pub(crate) fn shaped(text: &str) -> Option<(Vec<Option<i64>>, String)> {
    let mut rest = text.split(',').next()?.trim();
    let mut shape = Vec::new();
    while let Some((size, after)) = rest.split_once('x') {
        match size.parse::<i64>() {
            Ok(size) => shape.push(Some(size)),
            Err(_) if size == "?" => shape.push(None),
            Err(_) => break,
        }
        rest = after;
    }
    Some((shape, rest.to_owned()))
}

/// A number of a type, so that equal ones have equal texts.
pub(crate) fn literal(text: &str, element: &str) -> String {
    let bits = |hexadecimal: &str| u64::from_str_radix(hexadecimal, 16).ok();
    let value = match (element, text.strip_prefix("0x")) {
        ("f32", Some(it)) => bits(it).map(|it| f64::from(f32::from_bits(it as u32)).to_bits()),
        ("f64", Some(it)) => bits(it),
        ("f32", None) => text.parse::<f32>().ok().map(|it| f64::from(it).to_bits()),
        ("f64", None) => text.parse::<f64>().ok().map(f64::to_bits),
        _ => None,
    };
    match value {
        Some(bits) => format!("{bits:x} : {element}"),
        None => format!("{text} : {element}"),
    }
}

/// The number of a [`literal`] as text; `None` for one that has no digits.
pub(crate) fn number(literal: &str) -> Option<String> {
    let (value, element) = literal.split_once(" : ")?;
    if !matches!(element, "f32" | "f64") {
        return value.parse::<f64>().ok().map(|_| value.to_owned());
    }
    let number = f64::from_bits(u64::from_str_radix(value, 16).ok()?);
    number.is_finite().then(|| format!("{number:?}"))
}
