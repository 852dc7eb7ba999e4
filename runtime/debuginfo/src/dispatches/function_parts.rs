//! Parts of a dispatch's text that its function is made of: slices, types, aliases.

use std::collections::HashSet;
use std::fmt;

use super::no_function::NoFunction;
use super::statements::{definition, symbol};
use super::twin::{values, whole_executable};

/// The part of a tensor that a dispatch loads or stores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Slice {
    offsets: Vec<String>,
    sizes: Vec<String>,
    strides: Vec<String>,
}

impl Slice {
    /// Reads `offsets = [0, %1], sizes = [3, 8], strides = [1, 1]`.
    pub(super) fn read(text: &str) -> Result<Self, NoFunction> {
        let list = |name: &str| {
            let inner = text.split_once(&format!("{name} = ["))?.1.split_once(']')?.0;
            let all = inner.split(',').map(str::trim).filter(|it| !it.is_empty());
            Some(all.map(str::to_owned).collect())
        };
        let missing = |list| NoFunction::Slice { list, text: text.to_owned() };
        let part = |name| list(name).ok_or_else(|| missing(name));
        Ok(Self { offsets: part("offsets")?, sizes: part("sizes")?, strides: part("strides")? })
    }

    /// Whether it is all of a tensor.
    pub(super) fn is_whole(&self, of: &SubspanType) -> bool {
        let mut sizes = of.sizes.iter();
        let shape = of.shape.iter().map(|size| match size.as_str() {
            "?" => sizes.next().cloned().unwrap_or_default(),
            _ => size.clone(),
        });
        self.offsets.iter().all(|it| it == "0")
            && self.strides.iter().all(|it| it == "1")
            && self.sizes.iter().cloned().eq(shape)
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [&self.offsets, &self.sizes, &self.strides];
        lists.iter().try_for_each(|list| {
            f.write_str(if std::ptr::eq(*list, lists[0]) { "" } else { " " })?;
            write!(f, "[{}]", list.join(", "))
        })
    }
}

/// The type with which a dispatch declares a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SubspanType {
    /// `tensor<?x8xf32>`.
    pub(super) written: String,
    /// `?` and `8`.
    shape: Vec<String>,
    /// The values of dynamic sizes, with their sigils.
    pub(super) sizes: Vec<String>,
    pub(super) is_encoded: bool,
}

impl SubspanType {
    /// Reads `… : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?x8xf32>>{%4}`.
    pub(super) fn read(text: &str) -> Result<Self, NoFunction> {
        let wrong = || NoFunction::TensorType { text: text.to_owned() };
        let (_, after) = text.rsplit_once("dispatch.tensor<").ok_or_else(wrong)?;
        let (_, shaped) = after.split_once(':').ok_or_else(wrong)?;
        let (shaped, sizes) = match shaped.rsplit_once('{') {
            Some((shaped, sizes)) if sizes.starts_with('%') => (shaped, sizes),
            _ => (shaped, ""),
        };
        let written = shaped.strip_suffix('>').ok_or_else(wrong)?.to_owned();
        let inner = written.strip_prefix("tensor<").and_then(|it| it.strip_suffix('>'));
        let inner = inner.ok_or_else(wrong)?;
        let sizes = sizes.trim_end_matches('}').split(',').map(str::trim);
        let is_size = |it: &&str| *it == "?" || it.bytes().all(|it| it.is_ascii_digit());
        Ok(Self {
            is_encoded: inner.contains(','),
            shape: inner.split('x').take_while(is_size).map(str::to_owned).collect(),
            sizes: sizes.filter(|it| !it.is_empty()).map(str::to_owned).collect(),
            written,
        })
    }
}

/// The function that a dispatch runs, from its first line to its closing brace.
pub(super) fn function_of<'t>(sources: &'t str, export: &str) -> Result<&'t str, NoFunction> {
    let executable = whole_executable(sources, export)?;
    let mut start: Option<(usize, usize)> = None;
    let mut at = 0;
    for line in executable.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some((start, outer)) = start {
            if trimmed.starts_with('}') && indent == outer {
                let text = &executable[start..at + line.len()];
                if text.contains(" call @") {
                    return Err(NoFunction::Calls { export: export.to_owned() });
                }
                return Ok(text);
            }
        } else if let Some(rest) = trimmed.strip_prefix("func.func ")
            && symbol(rest).is_some_and(|(name, _)| name == export)
        {
            start = Some((at, indent));
        }
        at += line.len();
    }
    Err(NoFunction::NotThere { export: export.to_owned() })
}

/// The aliases that some lines use, with those that these use, in the order of the sources.
pub(super) fn aliases_used<'l>(sources: &str, lines: impl Iterator<Item = &'l str>) -> Vec<String> {
    let defined: Vec<(&str, &str)> = sources
        .lines()
        .filter(|line| line.starts_with(['#', '!']))
        .filter_map(|line| Some((line.split_once(" = ")?.0, line)))
        .collect();
    let known: HashSet<&str> = defined.iter().map(|(name, _)| *name).collect();
    let mut used: HashSet<&str> = HashSet::new();
    for line in lines {
        used.extend(names(line).filter_map(|name| known.get(name)));
    }
    loop {
        let before = used.len();
        for (name, line) in &defined {
            if used.contains(name) {
                let more = line.split_once(" = ").map_or("", |(_, value)| value);
                let more: Vec<&str> = names(more).filter_map(|it| known.get(it).copied()).collect();
                used.extend(more);
            }
        }
        if used.len() == before {
            break;
        }
    }
    let lines = defined.iter().filter(|(name, _)| used.contains(name));
    lines.map(|(_, line)| (*line).to_owned()).collect()
}

/// The names of aliases in a text, and other words that begin like them.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().filter(|(_, it)| matches!(it, '#' | '!'));
    starts.map(|(start, _)| {
        let rest = &text[start + 1..];
        let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || "_$.-".contains(it)));
        &text[start..start + 1 + end.unwrap_or(rest.len())]
    })
}

/// Drops arithmetic that nothing uses.
pub(super) fn drop_unused(lines: &mut Vec<String>, used: &mut HashSet<String>) {
    let mut kept = Vec::new();
    for line in lines.drain(..).rev() {
        if let Some((names, operation, rest)) = definition(&line)
            && is_arithmetic(operation, without_location(rest))
            && !names.iter().any(|name| used.contains(&format!("%{name}")))
        {
            continue;
        }
        used.extend(values(&line).map(|(_, value)| value.to_owned()));
        kept.push(line);
    }
    lines.extend(kept.into_iter().rev());
}

fn without_location(text: &str) -> &str {
    text.rsplit_once(" loc(").map_or(text, |(text, _)| text)
}

/// Whether an operation computes numbers, and no tensor.
pub(super) fn is_arithmetic(operation: &str, rest: &str) -> bool {
    let is_number = rest.rsplit([' ', ':']).next().is_some_and(|it| !it.contains('<'));
    let is_known = operation.starts_with("arith.") || operation == "util.assume.int";
    is_known && is_number && !rest.ends_with('{')
}
