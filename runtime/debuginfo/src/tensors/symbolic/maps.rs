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

/// `affine_map<(d0, d1) -> (d0, d1 * 2 + 1)>`.
fn read_map(text: &str) -> Option<Vec<Index>> {
    let inner = text.trim().strip_prefix("affine_map<")?.strip_suffix('>')?;
    let (variables, results) = inner.split_once("->")?;
    let variables = variables.trim().strip_prefix('(')?.strip_suffix(')')?;
    let variables: Vec<&str> = variables.split(',').map(str::trim).collect();
    let results = results.trim().strip_prefix('(')?.strip_suffix(')')?;
    if results.trim().is_empty() {
        return Some(Vec::new());
    }
    results.split(',').map(|it| sum(it, &variables)).collect()
}

/// Sums of products; there are no parentheses in the maps that matter.
fn sum(text: &str, variables: &[&str]) -> Option<Index> {
    let mut total = Index::default();
    let spaced = text.replace('+', " + ").replace('*', " * ");
    for part in spaced.split(" + ") {
        let mut factor = 1_i64;
        let mut variable = None;
        for word in part.split(" * ").map(str::trim) {
            match word.parse::<i64>() {
                Ok(number) => factor = factor.checked_mul(number)?,
                Err(_) if variable.is_none() => {
                    let at = variables.iter().position(|it| *it == word)?;
                    variable = Some(u32::try_from(at).ok()?);
                }
                Err(_) => return None,
            }
        }
        let term = variable.map_or_else(|| Index::constant(1), Index::variable);
        total = total.add(&term.times(factor));
    }
    Some(total)
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
