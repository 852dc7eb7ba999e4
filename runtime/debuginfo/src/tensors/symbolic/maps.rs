//! Affine maps, types and numbers, from their text.

use std::collections::HashMap;

use mlir::{Element, Expression, Map};

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
        indices(&self.map(text)?)
    }

    /// The map that a text is, or stands for.
    pub(crate) fn map(&self, text: &str) -> Option<Map> {
        let text = match text.strip_prefix('#') {
            Some(alias) => self.0.get(alias)?,
            None => text,
        };
        Map::parse(text).ok()
    }
}

/// The results of a map over its variables; symbols come after dimensions.
pub(crate) fn indices(map: &Map) -> Option<Vec<Index>> {
    map.results.iter().map(index).collect()
}

fn index(expression: &Expression) -> Option<Index> {
    let one = Index::constant(1);
    Some(match expression {
        Expression::Constant(value) => Index::constant(*value),
        Expression::Operand(at) => Index::variable(u32::try_from(*at).ok()?),
        Expression::Add(a, b) => index(a)?.add(&index(b)?),
        Expression::Multiply(a, b) => index(a)?.multiply(&index(b)?),
        Expression::FloorDivide(a, b) => index(a)?.quotient(&index(b)?, &[]),
        Expression::CeilDivide(a, b) => {
            let by = index(b)?;
            index(a)?.add(&by).subtract(&one).quotient(&by, &[])
        }
        Expression::Modulo(a, b) => index(a)?.remainder(&index(b)?, &[]),
    })
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

/// What the elements of a tensor are, or what a number is.
pub(crate) fn element(type_text: &str) -> Option<Element> {
    match tensor(type_text.trim()) {
        Some((_, element)) => Element::parse(&element),
        None => Element::parse(type_text.trim()),
    }
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

/// The bits of a [`literal`] in its type.
pub(crate) fn bits(literal: &str) -> Option<u64> {
    let (value, element) = literal.split_once(" : ")?;
    let hexadecimal = || u64::from_str_radix(value, 16).ok();
    match (element, value) {
        ("f32", _) => Some(u64::from((f64::from_bits(hexadecimal()?) as f32).to_bits())),
        ("f64", _) => hexadecimal(),
        ("i1", "true") => Some(1),
        ("i1", "false") => Some(0),
        _ => match Element::parse(element)? {
            Element::Integer(width) => {
                Some(mlir::bits::cut(width, value.parse::<i64>().ok()? as u64))
            }
            _ => None,
        },
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
