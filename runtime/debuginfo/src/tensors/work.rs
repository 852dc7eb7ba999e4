//! How many arithmetic operations a dispatch does, as far as its code says: for each operation on
//! tensors, how often its loops turn, times what one turn computes. A size that is only known when
//! it runs, or an operation that is not understood, makes the number unknown.

use std::collections::HashMap;

use super::head::Head;
use crate::source::functions::SourceFunction;

/// The affine maps that a text has names for.
pub(super) struct Maps<'t>(HashMap<&'t str, &'t str>);

impl<'t> Maps<'t> {
    /// `#map1 = affine_map<(d0, d1) -> (d0)>`, a line each, before the module.
    pub(super) fn of(text: &'t str) -> Self {
        let lines = text.lines().take_while(|line| !line.starts_with("module"));
        let maps = lines.filter_map(|line| {
            let (name, map) = line.split_once(" = ")?;
            Some((name.trim(), map.trim().strip_prefix("affine_map")?))
        });
        Self(maps.collect())
    }

    /// For each result of a map, the loop that it is, if it is one; and the number of loops.
    fn loops(&self, map: &str) -> Option<(usize, Vec<Option<usize>>)> {
        let map = match map.trim() {
            named if named.starts_with('#') => self.0.get(named)?,
            given => given.strip_prefix("affine_map")?,
        };
        let (names, results) = map.trim().strip_prefix('<')?.strip_suffix('>')?.split_once("->")?;
        let inside = |it: &'_ str| -> Option<String> {
            Some(it.trim().strip_prefix('(')?.strip_suffix(')')?.to_owned())
        };
        let (names, results) = (inside(names)?, inside(results)?);
        let names: Vec<&str> =
            names.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        let results = results.split(',').map(str::trim).filter(|it| !it.is_empty());
        let results = results.map(|it| names.iter().position(|name| *name == it)).collect();
        Some((names.len(), results))
    }
}

/// The arithmetic operations of a dispatch's code.
pub(super) fn operations(body: &SourceFunction, maps: &Maps<'_>) -> Option<u64> {
    let mut total = 0_u64;
    for (index, operation) in body.operations.iter().enumerate().skip(1) {
        let name = operation.name.as_str();
        // `return` has no dialect in the text.
        let own = match name.split_once('.').unwrap_or(("func", name)) {
            ("func", _) => 0,
            ("linalg", "fill" | "index" | "yield" | "transpose" | "broadcast" | "copy") => 0,
            ("linalg", which) => {
                let head = Head::of(body, index);
                let text = head.text(0..head.len());
                match which {
                    "generic" => {
                        let each = computed(body, index);
                        turns(&text, maps)?.checked_mul(each)?
                    }
                    which => named(which, &shapes(&text)?)?,
                }
            }
            (
                "arith" | "math" | "tensor" | "affine" | "iree_tensor_ext" | "util" | "flow" | "cf",
                _,
            ) => 0,
            _ => return None,
        };
        total = total.checked_add(own)?;
    }
    Some(total)
}

/// What one turn of a `linalg.generic` computes: its operations, without conversions and
/// constants.
fn computed(body: &SourceFunction, generic: usize) -> u64 {
    let is_work = |name: &str| match name.split_once('.') {
        Some(("math", _)) => true,
        Some(("arith", which)) => !matches!(
            which,
            "constant"
                | "index_cast"
                | "index_castui"
                | "bitcast"
                | "extf"
                | "truncf"
                | "extsi"
                | "extui"
                | "trunci"
                | "sitofp"
                | "uitofp"
                | "fptosi"
                | "fptoui"
        ),
        _ => false,
    };
    let inside = body.operations.iter().filter(|it| it.parent == Some(generic));
    inside.filter(|it| is_work(&it.name)).count() as u64
}

/// How often the loops of a `linalg.generic` turn.
fn turns(head: &str, maps: &Maps<'_>) -> Option<u64> {
    let (_, listed) = head.split_once("indexing_maps")?;
    let listed = listed.split_once('[')?.1.split_once(']')?.0;
    let shapes = shapes(head)?;
    // A map has commas of its own.
    let listed: Vec<&str> = if listed.contains("affine_map<") {
        let starts: Vec<usize> = listed.match_indices("affine_map<").map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain([listed.len()]);
        starts
            .iter()
            .zip(ends)
            .map(|(from, to)| listed[*from..to].trim_end_matches([',', ' ']))
            .collect()
    } else {
        listed.split(',').collect()
    };
    let mut sizes: Vec<Option<u64>> = Vec::new();
    for (map, shape) in listed.iter().zip(&shapes) {
        let (count, results) = maps.loops(map)?;
        sizes.resize(count.max(sizes.len()), None);
        for (size, of) in shape.iter().zip(results) {
            if let Some(slot) = of.and_then(|it| sizes.get_mut(it)) {
                *slot = slot.or(*size);
            }
        }
    }
    sizes.into_iter().try_fold(1_u64, |turns, size| turns.checked_mul(size?))
}

/// The sizes of the operands of an operation: those after `ins`, then those after `outs`.
fn shapes(head: &str) -> Option<Vec<Vec<Option<u64>>>> {
    let mut found = Vec::new();
    for word in ["ins(", "outs("] {
        let Some((_, rest)) = head.split_once(word) else { continue };
        let types = rest.split_once(':')?.1;
        let mut depth = 0_usize;
        let end = types.char_indices().find(|(_, it)| {
            match it {
                '(' | '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                ')' if depth > 0 => depth -= 1,
                _ => {}
            }
            *it == ')' && depth == 0
        });
        let types = &types[..end?.0];
        let mut rest = types;
        while !rest.trim().is_empty() {
            rest = rest.trim_start_matches([',', ' ']);
            let Some(shaped) = rest.strip_prefix("tensor<") else {
                // A number that is the same for all elements.
                found.push(Vec::new());
                rest = rest.split_once(',').map_or("", |it| it.1);
                continue;
            };
            let (shape, after) = shaped.split_once('>')?;
            let shape = shape.rsplit_once('x').map_or("", |it| it.0);
            let sizes = shape.split('x').filter(|it| !it.is_empty());
            found.push(sizes.map(|it| it.parse().ok()).collect());
            rest = after;
        }
    }
    Some(found)
}

/// An operation with a name of its own: a multiplication and an addition each turn.
fn named(which: &str, shapes: &[Vec<Option<u64>>]) -> Option<u64> {
    let [one, other, result] = shapes else { return None };
    let count = |shape: &[Option<u64>]| {
        shape.iter().try_fold(1_u64, |count, size| count.checked_mul((*size)?))
    };
    let per_result = if which.contains("pooling") {
        // One operation for each element of the window.
        return count(result)?.checked_mul(count(other)?);
    } else if which.starts_with("depthwise_conv") {
        // The channels are those of the result.
        let channels = if which.ends_with("_chw") { other.first() } else { other.last() };
        count(other)?.checked_div((*channels?)?)?
    } else if which.starts_with("conv") && which.ends_with("_fchw") {
        count(other.get(1..)?)?
    } else if which.starts_with("conv") && which.ends_with("cf") {
        count(other.get(..other.len().checked_sub(1)?)?)?
    } else if which.contains("mat") || which == "dot" {
        // Each size but those of the result, and of batches, is summed over.
        let batches = if which.starts_with("batch_") { (*result.first()?)? } else { 1 };
        let all = count(one)?.checked_mul(count(other)?)?;
        let squared = all.checked_div(count(result)?)?.checked_div(batches)?;
        let summed = squared.isqrt();
        (summed.checked_mul(summed)? == squared).then_some(summed)?
    } else {
        return None;
    };
    count(result)?.checked_mul(per_result)?.checked_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_with_names_of_their_own() {
        let sizes = |text: &str| -> Vec<Option<u64>> {
            text.split('x').map(|it| it.parse().ok()).collect()
        };
        let of = |which: &str, shapes: [&str; 3]| named(which, &shapes.map(sizes));
        assert_eq!(of("matmul", ["2x3", "3x5", "2x5"]), Some(2 * 2 * 3 * 5));
        assert_eq!(of("batch_matmul", ["7x2x3", "7x3x5", "7x2x5"]), Some(2 * 7 * 2 * 3 * 5));
        assert_eq!(of("matvec", ["4x6", "6", "4"]), Some(2 * 24));
        assert_eq!(
            of("conv_2d_nchw_fchw", ["1x3x10x10", "8x3x3x3", "1x8x8x8"]),
            Some(2 * 8 * 8 * 8 * 27)
        );
        assert_eq!(
            of("conv_2d_nhwc_hwcf", ["1x10x10x3", "3x3x3x8", "1x8x8x8"]),
            Some(2 * 8 * 8 * 8 * 27)
        );
        assert_eq!(
            of("depthwise_conv_2d_nhwc_hwc", ["1x10x10x8", "3x3x8", "1x8x8x8"]),
            Some(2 * 8 * 8 * 8 * 9)
        );
        assert_eq!(of("pooling_nhwc_max", ["1x4x4x2", "2x2", "1x2x2x2"]), Some(8 * 4));
        assert_eq!(of("matmul", ["?x3", "3x5", "?x5"]), None);
        assert_eq!(of("softmax", ["2x3", "3x5", "2x5"]), None);
    }

    #[test]
    fn the_turns_of_a_generic_operation() {
        let maps = Maps::of(
            "#map = affine_map<(d0, d1) -> (d0, d1)>\n#map1 = affine_map<(d0, d1) -> (d0)>\nmodule",
        );
        let head = |ins: &str| {
            format!(
                "{{indexing_maps = [#map, #map1], iterator_types = [\"parallel\", \"reduction\"]}} \
                 ins(%0 : tensor<{ins}>) outs(%1 : tensor<4xf32>)"
            )
        };
        assert_eq!(turns(&head("4x9xf32"), &maps), Some(36));
        assert_eq!(turns(&head("4x?xf32"), &maps), None);
        let written = "{indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>, \
             affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]} \
             ins(%0, %k : tensor<9xf32>, tensor<3xf32>) outs(%1 : tensor<4xf32>)";
        assert_eq!(turns(written, &maps), Some(12));
    }
}
