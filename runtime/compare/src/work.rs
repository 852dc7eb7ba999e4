//! What a dispatch computes, as far as it says how far two sound results may be apart: lengths of
//! reductions, mathematical functions, types of floats, roundings to integers; and which part of
//! its result it stores. All from the dispatch's own text in the debug file.

use std::collections::HashMap;

/// What a dispatch computes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Work {
    /// How many terms are added up for an element, over all reductions one after the other.
    pub(crate) terms: u64,
    /// How many operations of floats there are beside.
    pub(crate) operations: u64,
    /// How many mathematical functions are called.
    pub(crate) functions: u64,
    /// Whether a function raises something to a power: it turns absolute errors into relative ones.
    pub(crate) is_exponential: bool,
    /// Bits of the mantissa of the narrowest float that is computed with.
    pub(crate) mantissa: Option<u32>,
    /// Whether floats are rounded to integers.
    pub(crate) rounds_to_integers: bool,
    /// The parts of tensors that are stored, by the number of the tensor among all.
    stored: Vec<(usize, StoredPart)>,
}

/// A part of a tensor that a dispatch stores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StoredPart {
    /// Begin and size along each axis.
    Box(Vec<(u64, u64)>),
    /// Only the run knows which.
    Unknown,
}

impl Work {
    /// Reads the text of an executable for one of its functions. `largest` stands for sizes that
    /// only the run knows.
    pub(crate) fn parse(text: &str, export: &str, largest: u64) -> Self {
        let aliases: HashMap<&str, &str> = text
            .lines()
            .take_while(|line| line.starts_with(['#', '!']) || line.is_empty())
            .filter_map(|line| line.split_once(" = "))
            .collect();
        let mut work = Self::default();
        let mut subspans: Vec<String> = Vec::new();
        for line in function(text, export) {
            let line = line.trim_start();
            let statement = match line.rsplit_once(" loc(") {
                Some((statement, _)) => statement,
                None => line,
            };
            let (result, operation) = match statement.split_once(" = ") {
                Some(defined) if line.starts_with('%') => defined,
                _ => ("", statement),
            };
            if operation.starts_with("hal.interface.binding.subspan")
                && !operation.contains("#iree_encoding")
            {
                subspans.push(result.to_owned());
            } else if operation.contains("dispatch.tensor.store ") {
                work.stored.extend(stored(operation, &subspans));
            } else if operation.starts_with("linalg.") || operation.starts_with("iree_linalg_ext.")
            {
                work.terms += reduced(operation, &aliases, largest);
                work.is_exponential |= operation.contains("softmax");
                work.is_exponential |= operation.contains("attention");
                if operation.starts_with("linalg.softmax") {
                    work.functions += 1;
                }
            } else {
                work.add_scalar(operation);
            }
        }
        work
    }

    /// The part of a tensor that the dispatch stores; none if it stores all of it.
    pub(crate) fn stored_part(&self, operand: usize, shape: &[u64]) -> Option<&StoredPart> {
        let mut parts = self.stored.iter().filter(|(index, _)| *index == operand);
        let (_, part) = parts.next()?;
        if parts.next().is_some() {
            return Some(&StoredPart::Unknown);
        }
        let is_all = |bounds: &Vec<(u64, u64)>| {
            let whole = shape.iter().map(|size| (0, *size));
            bounds.iter().copied().eq(whole)
        };
        match part {
            StoredPart::Box(bounds) if is_all(bounds) => None,
            part => Some(part),
        }
    }

    /// An operation of one element.
    fn add_scalar(&mut self, operation: &str) {
        let name = operation.split([' ', '(']).next().unwrap_or_default();
        let is_function = name.starts_with("math.");
        let is_arithmetic = name.starts_with("arith.") && name.ends_with('f');
        self.rounds_to_integers |= name == "arith.fptosi" || name == "arith.fptoui";
        if !is_function && !is_arithmetic {
            return;
        }
        if is_function {
            self.functions += 1;
            self.is_exponential |= name.starts_with("math.exp") || name == "math.powf";
        } else {
            self.operations += 1;
        }
        let float = operation.rsplit_once(" : ").map_or("", |(_, types)| types);
        let to = float.rsplit(' ').next().unwrap_or_default();
        if let Some(bits) = mantissa(to) {
            self.mantissa = Some(self.mantissa.map_or(bits, |known| known.min(bits)));
        }
    }
}

/// How many bits the mantissa of a float has, with the one that is not written.
pub(crate) fn mantissa(float: &str) -> Option<u32> {
    Some(match float {
        "f64" => 53,
        "f32" => 24,
        "f16" => 11,
        "bf16" => 8,
        _ if float.starts_with("f8E5M2") => 3,
        _ if float.starts_with("f8E4M3") => 4,
        _ => return None,
    })
}

/// The lines of a function.
fn function<'t>(text: &'t str, export: &str) -> impl Iterator<Item = &'t str> {
    let (plain, quoted) = (format!("@{export}("), format!("@\"{export}\"("));
    let begins = move |line: &&str| {
        let rest = line.trim_start().strip_prefix("func.func ");
        rest.is_some_and(|rest| rest.contains(&plain) || rest.contains(&quoted))
    };
    let lines = text.lines().skip_while(move |line| !begins(line)).skip(1);
    lines.take_while(|line| {
        let line = line.trim_start();
        line != "return" && !line.starts_with("return ") && !line.starts_with("func.func ")
    })
}

/// `iree_tensor_ext.dispatch.tensor.store %5, %1, offsets = [0, 0], sizes = [8, 32], strides = …`
fn stored(operation: &str, subspans: &[String]) -> Option<(usize, StoredPart)> {
    let (_, rest) = operation.split_once("dispatch.tensor.store ")?;
    let target = rest.split(", ").nth(1)?.trim();
    let operand = subspans.iter().position(|name| name == target)?;
    let list = |name: &str| {
        let (_, rest) = rest.split_once(name)?;
        let (list, _) = rest.split_once(']')?;
        let numbers = list.split(", ").filter(|it| !it.is_empty());
        numbers.map(|it| it.trim().parse().ok()).collect::<Option<Vec<u64>>>()
    };
    let known = || {
        let (offsets, sizes) = (list("offsets = [")?, list("sizes = [")?);
        let strides = list("strides = [")?;
        let is_dense = strides.iter().all(|stride| *stride == 1);
        is_dense.then(|| StoredPart::Box(offsets.into_iter().zip(sizes).collect()))
    };
    // Sizes that only the run knows are those of the whole, most often; offsets of 0 say so.
    let is_whole = || {
        let offsets = list("offsets = [")?;
        let (_, types) = rest.rsplit_once(" : ")?;
        let (from, to) = types.split_once(" -> ")?;
        let same = shape_text(from)? == shape_text(to)?;
        (same && offsets.iter().all(|it| *it == 0)).then_some(())
    };
    match known() {
        Some(part) => Some((operand, part)),
        None if is_whole().is_some() => None,
        None => Some((operand, StoredPart::Unknown)),
    }
}

/// `tensor<4x8xf32>` inside a type.
fn shape_text(of: &str) -> Option<&str> {
    let (_, rest) = of.rsplit_once("tensor<")?;
    rest.split(['>', ',']).next()
}

/// How many terms an operation of tensors adds up for an element of its result.
fn reduced(operation: &str, aliases: &HashMap<&str, &str>, largest: u64) -> u64 {
    let inputs = shapes(operation, "ins(", largest);
    let outputs = shapes(operation, "outs(", largest);
    let name = operation.split([' ', '(', '<', '{']).next().unwrap_or_default();
    let count = |shape: &Vec<u64>| shape.iter().copied().fold(1, u64::saturating_mul);
    match name {
        "linalg.fill" | "linalg.copy" | "linalg.transpose" | "linalg.broadcast" | "linalg.pack"
        | "linalg.unpack" | "linalg.index" | "linalg.yield" => 0,
        "linalg.generic" => generic(operation, &inputs, &outputs, aliases, largest),
        "linalg.softmax" => {
            let axis = operation.split_once("dimension(").and_then(|(_, rest)| {
                rest.split_once(')').and_then(|(axis, _)| axis.parse::<usize>().ok())
            });
            axis.and_then(|axis| inputs.first()?.get(axis).copied()).unwrap_or(largest)
        }
        "linalg.reduce" => {
            let (input, output) = (inputs.first().map(count), outputs.first().map(count));
            input.zip(output).map_or(largest, |(all, kept)| all / kept.max(1))
        }
        _ if name.contains("pooling") => inputs.get(1).map_or(largest, count),
        _ if name.contains("conv") => {
            let Some(filter) = inputs.get(1) else { return largest };
            let is_first = name.ends_with("fchw") || name.ends_with("fcw");
            let channels = if is_first { filter.first() } else { filter.last() };
            count(filter) / channels.copied().unwrap_or(1).max(1)
        }
        _ if name.contains("mat") || name.contains("dot") || name.contains("contract") => {
            let [a, b] = &inputs[..] else { return largest };
            let made = outputs.first().map_or(1, count).max(1) as f64;
            ((count(a) as f64 * count(b) as f64 / made).sqrt().ceil() as u64).max(1)
        }
        _ if name.starts_with("linalg.") && inputs.len() <= 2 => 0,
        _ => largest,
    }
}

/// The product of the sizes of a generic operation's reduced dimensions.
fn generic(
    operation: &str,
    inputs: &[Vec<u64>],
    outputs: &[Vec<u64>],
    aliases: &HashMap<&str, &str>,
    largest: u64,
) -> u64 {
    let iterators = operation
        .split_once("iterator_types = [")
        .map_or("", |(_, rest)| rest.split_once(']').map_or("", |(iterators, _)| iterators));
    let reduced = iterators.split(", ").enumerate();
    let reduced = reduced.filter(|(_, kind)| kind.contains("reduction")).map(|(index, _)| index);
    let maps = maps(operation, aliases);
    let mut terms = None;
    for dimension in reduced {
        let name = format!("d{dimension}");
        let operands = maps.iter().zip(inputs.iter().chain(outputs));
        let sizes = operands.flat_map(|(map, shape)| map.iter().zip(shape));
        let size = sizes.filter(|(result, _)| **result == name).map(|(_, size)| *size).next();
        terms = Some(terms.unwrap_or(1_u64).saturating_mul(size.unwrap_or(largest)));
    }
    terms.unwrap_or(0)
}

/// The results of each indexing map.
fn maps(operation: &str, aliases: &HashMap<&str, &str>) -> Vec<Vec<String>> {
    let Some((_, rest)) = operation.split_once("indexing_maps = [") else { return Vec::new() };
    let mut found = Vec::new();
    let mut rest = rest;
    while !rest.starts_with(']') && !rest.is_empty() {
        let map = if let Some(inline) = rest.strip_prefix("affine_map<") {
            let end = map_end(inline);
            let (map, after) = inline.split_at(end);
            rest = after.strip_prefix('>').unwrap_or(after);
            map
        } else {
            let end = rest.find([',', ']']).unwrap_or(rest.len());
            let (alias, after) = rest.split_at(end);
            rest = after;
            let text = aliases.get(alias.trim()).copied().unwrap_or_default();
            let text = text.strip_prefix("affine_map<").unwrap_or(text);
            &text[..map_end(text)]
        };
        let results = map.split_once("-> (").map_or("", |(_, results)| results);
        let results = results.trim_end_matches(')').split(", ").map(str::to_owned);
        found.push(results.collect());
        rest = rest.trim_start_matches([',', ' ']);
    }
    found
}

/// Where the text of a map ends: at a `>` that is not that of an arrow.
fn map_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |at: &usize| bytes[*at] == b'>' && (*at == 0 || bytes[*at - 1] != b'-');
    (0..bytes.len()).find(ends).unwrap_or(bytes.len())
}

/// The shapes of the tensors of `ins(%a, %b : tensor<…>, tensor<…>)`.
fn shapes(operation: &str, of: &str, largest: u64) -> Vec<Vec<u64>> {
    let Some((_, rest)) = operation.split_once(of) else { return Vec::new() };
    let mut depth = 1;
    let end = rest.char_indices().find(|(_, it)| {
        depth += match it {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    let inside = &rest[..end.map_or(rest.len(), |(at, _)| at)];
    let Some((_, types)) = inside.rsplit_once(" : ") else { return Vec::new() };
    let tensors = types.split("tensor<").skip(1);
    let shape = |tensor: &str| {
        let text = tensor.split(['>', ',']).next().unwrap_or_default();
        let sizes = text.split('x').map_while(|size| match size {
            "?" => Some(largest),
            size => size.parse().ok(),
        });
        sizes.collect()
    };
    tensors.map(shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
      func.func @other() {
          %9 = linalg.matmul ins(%1, %2 : tensor<4x999xf32>, tensor<999x8xf32>) outs(%3)
        return
      }
      func.func @f() {
          %0 = hal.interface.binding.subspan layout(<x>) binding(0) : !t<readonly:tensor<8x64xf32>>
          %1 = hal.interface.binding.subspan layout(<x>) binding(1) : !t<writeonly:tensor<8x80xf32>>
  %4 = linalg.matmul ins(%2, %c : tensor<8x64xf16>, tensor<64x32xf16>) outs(%5 : tensor<8x32xf32>)
          %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = [\"parallel\", \"reduction\"]} \
            ins(%4 : tensor<8x32xf32>) outs(%3 : tensor<8xf32>) {
            %7 = arith.addf %in, %out : f32 loc(#loc2)
            %8 = math.exp %7 : f32
            %9 = arith.fptosi %8 : f32 to i8
  iree_tensor_ext.dispatch.tensor.store %5, %1, offsets = [0, 16], sizes = [8, 64], \
            strides = [1, 1] : tensor<8x64xf32> -> !t<w:tensor<8x80xf32>>
        return loc(#loc3)
      }
";

    #[test]
    fn lengths_of_reductions_and_functions() {
        let work = Work::parse(TEXT, "f", 100);
        assert_eq!((work.terms, work.operations, work.functions), (64 + 32, 1, 1), "{work:?}");
        assert!(work.is_exponential && work.rounds_to_integers);
        assert_eq!(work.mantissa, Some(24));
    }

    #[test]
    fn the_stored_part_is_known() {
        let work = Work::parse(TEXT, "f", 100);
        let part = StoredPart::Box(vec![(0, 8), (16, 64)]);
        assert_eq!(work.stored_part(1, &[8, 80]), Some(&part));
        assert_eq!(work.stored_part(0, &[8, 64]), None);
        let whole = TEXT.replace("[0, 16], sizes = [8, 64]", "[0, 0], sizes = [8, 80]");
        assert_eq!(Work::parse(&whole, "f", 1).stored_part(1, &[8, 80]), None);
        let unknown = TEXT.replace("offsets = [0, 16]", "offsets = [0, %7]");
        let unknown = Work::parse(&unknown, "f", 1);
        assert_eq!(unknown.stored_part(1, &[8, 80]), Some(&StoredPart::Unknown));
    }

    #[test]
    fn maps_in_line() {
        let text = "linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, \
                    affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], \
                    iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} \
                    ins(%a, %b : tensor<4x?xf32>, tensor<7x5xf32>) outs(%c : tensor<4x5xf32>) {";
        assert_eq!(reduced(text, &HashMap::new(), 9), 9);
        let conv = "linalg.conv_2d_nhwc_hwcf {strides = dense<1>} ins(%a, %b : \
                    tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) outs(%c : tensor<1x6x6x16xf32>)";
        assert_eq!(reduced(conv, &HashMap::new(), 9), 36);
    }
}
