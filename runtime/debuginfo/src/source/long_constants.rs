//! The long constants of a text: those whose elements are written as digits in hexadecimal, beside
//! the operation or in the resources at the end of the file.
//!
//! ```text
//! %w = stablehlo.constant dense<"0x0000803F00000040…"> : tensor<64x64xf32>
//! util.global private @w = dense_resource<w> : tensor<64x64xf32>
//! ```
//!
//! They are found in the characters alone: a text of 100 MB is mostly digits, and looking at its
//! weights takes no functions. What a running program has is [`super::constants`]' business.
//! [`module_weights`] says which of them a module has, and where.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use abi::tensor::TensorType;
use memchr::memmem;
use vmfb::FileBytes;

use crate::debug_file::DebugFile;
use crate::dialect_resources::{DIALECT_RESOURCES, dialect_resources};
use crate::elided_name::ElidedName;

use super::constants::{RESOURCE_HEAD, bytes_of_digits, plain_tensor_type};

/// A constant whose elements are digits of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongConstant {
    /// The value or the symbol that it is of, `%w` or `@w`. Where others have that name, too, the
    /// line follows: `%w:12`. Without a name: `line 12`.
    pub name: String,
    /// What it is called among the resources of the file, if it is one of them: an import of ONNX
    /// has the name of the weight there.
    pub resource: Option<String>,
    /// The line of its operation, from 1.
    pub line: u32,
    /// Its type: `64x64xf32`.
    pub tensor_type: TensorType,
    /// Where its digits are in the text, two for a byte; or the name that stands for them in a text
    /// that a debug file keeps.
    written: Range<usize>,
}

impl LongConstant {
    /// How many bytes it has.
    #[must_use]
    pub fn length(&self) -> usize {
        // It was found by having the bytes of its type.
        self.tensor_type.byte_length(usize::MAX).unwrap_or_default()
    }

    /// Its bytes, given the text that it was found in; `None` if they are left out of it.
    #[must_use]
    pub fn bytes(&self, text: &str) -> Option<Vec<u8>> {
        bytes_of_digits(text.get(self.written.clone())?)
    }

    /// The name that it has in texts that leave it out.
    fn elided_name(&self, text: &str) -> String {
        let written = &text[self.written.clone()];
        if ElidedName::byte_length(written).is_some() {
            return written.to_owned();
        }
        let mut name = ElidedName::default();
        name.add(written.as_bytes());
        name.finish()
    }
}

/// A constant of the source whose bytes are in the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleWeight {
    /// What it is called; with what it is called among the resources of the source: `w = %0`. All
    /// constants with these very bytes have it in common.
    pub name: String,
    /// Its type: `64x64xf32`.
    pub tensor_type: TensorType,
    /// Where it is in the file of the module.
    pub range: Range<u64>,
    /// The name by which [`DebugFile::constant`] gives its bytes.
    pub elided: String,
}

/// The constants of its source that a module has as the source has them, in the order of the
/// module, given the folder of the module and its debug file. A compiler that arranges weights anew
/// leaves none of them.
#[must_use]
pub fn module_weights(folder: &Path, file: &DebugFile) -> Vec<ModuleWeight> {
    let manifest = file.manifest();
    let kept = manifest.sources.iter().find(|kept| kept.name == manifest.input);
    let on_disk = || {
        let text = FileBytes::read(&folder.join(&manifest.input)).ok()?;
        String::from_utf8(kept?.is_text(&text).then(|| text.into_owned())?).ok()
    };
    let source = || file.source(&manifest.input).or_else(on_disk);
    let is_any = !manifest.constants.is_empty();
    is_any.then(source).flatten().map_or_else(Vec::new, |source| weights_in(&source, file))
}

fn weights_in(source: &str, file: &DebugFile) -> Vec<ModuleWeight> {
    let at = &file.manifest().constants;
    let mut found = HashMap::<String, ModuleWeight>::new();
    for constant in long_constants(source) {
        let elided = constant.elided_name(source);
        let Some(start) = at.get(&elided) else { continue };
        let name = match &constant.resource {
            Some(resource) => format!("{resource} = {}", constant.name),
            None => constant.name.clone(),
        };
        let range = *start..start.saturating_add(constant.length() as u64);
        let known = found.entry(elided.clone()).or_insert_with(|| ModuleWeight {
            name: String::new(),
            tensor_type: constant.tensor_type,
            range,
            elided,
        });
        known.name += if known.name.is_empty() { "" } else { ", " };
        known.name += &name;
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by_key(|it| it.range.start);
    found
}

/// The long constants of a text, in their order. Those are left out whose digits are not those of
/// all elements.
#[must_use]
pub fn long_constants(text: &str) -> Vec<LongConstant> {
    let end = memmem::rfind(text.as_bytes(), DIALECT_RESOURCES.as_bytes()).unwrap_or(text.len());
    let mut resources = HashMap::<&str, Option<Range<usize>>>::new();
    for (key, range) in dialect_resources(text) {
        // Of two with one name, neither is told.
        resources.entry(key).and_modify(|it| *it = None).or_insert(Some(range));
    }
    let mut found = Vec::new();
    let (mut line, mut counted, mut at) = (1, 0, 0);
    while let Some(start) = memmem::find(&text.as_bytes()[at..end], b"dense").map(|it| at + it) {
        at = start + "dense".len();
        let Some(literal) = literal_at(&text[..end], at) else { continue };
        at = literal.end;
        let start_of_line =
            memchr::memrchr(b'\n', &text.as_bytes()[..start]).map_or(0, |it| it + 1);
        let before = text[start_of_line..start].trim_start();
        let Some(tensor_type) = type_at(text, at).filter(|_| !before.starts_with("//")) else {
            continue;
        };
        let written = match literal.resource {
            Some(key) => resources.get(key).cloned().flatten(),
            None => Some(literal.written),
        };
        let Some(written) = written.and_then(|it| elements(text, it, literal.resource)) else {
            continue;
        };
        let length = ElidedName::byte_length(&text[written.clone()]);
        let length = length.unwrap_or_else(|| written.len().div_ceil(2));
        if tensor_type.byte_length(usize::MAX).ok() != Some(length) {
            continue;
        }
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..start]).count() as u32;
        counted = start;
        let name = name_of(before).unwrap_or_default().to_owned();
        let resource = literal.resource.map(str::to_owned);
        found.push(LongConstant { name, resource, line, tensor_type, written });
    }
    tell_apart(&mut found);
    found
}

/// What follows `dense`.
struct Literal<'t> {
    /// What is in its quotes.
    written: Range<usize>,
    /// The name of the resource that has the elements.
    resource: Option<&'t str>,
    end: usize,
}

fn literal_at(text: &str, at: usize) -> Option<Literal<'_>> {
    const RESOURCE: &str = "_resource<";
    let rest = &text[at..];
    if rest.starts_with("<\"") {
        let start = at + "<\"".len();
        let end = start + memchr::memchr(b'"', &text.as_bytes()[start..])?;
        return Some(Literal { written: start..end, resource: None, end: end + 1 });
    }
    let key = rest.strip_prefix(RESOURCE)?.split_once('>')?.0;
    let end = at + RESOURCE.len() + key.len();
    Some(Literal { written: at..at, resource: Some(key.trim_matches('"')), end })
}

/// The digits of the elements, or the name that stands for them, of what is in quotes.
fn elements(text: &str, written: Range<usize>, resource: Option<&str>) -> Option<Range<usize>> {
    let quoted = &text[written.clone()];
    if ElidedName::byte_length(quoted).is_some() {
        return Some(written);
    }
    let head = if resource.is_some() { RESOURCE_HEAD } else { "0x".len() };
    let is_digits =
        quoted.starts_with("0x") && quoted.len() >= head && quoted.len().is_multiple_of(2);
    is_digits.then(|| written.start + head..written.end)
}

/// The type in `> : tensor<4xf32>`.
fn type_at(text: &str, at: usize) -> Option<TensorType> {
    let rest = text[at..].strip_prefix('>')?.trim_start().strip_prefix(':')?.trim_start();
    let rest = rest.strip_prefix("tensor<").or_else(|| rest.strip_prefix("vector<"))?;
    TensorType::parse(&plain_tensor_type(rest.split_once('>')?.0)).ok()
}

/// The value or the symbol that the beginning of a line defines.
fn name_of(before: &str) -> Option<&str> {
    let head = before.split_once('=').map_or(before, |(head, _)| head);
    let start = head.find(['%', '@'])?;
    let name = &head[start..];
    if let Some(quoted) = name.strip_prefix("@\"") {
        return name.get(..quoted.find('"')? + 3);
    }
    let is_part = |it: char| it.is_alphanumeric() || "_$.-%@".contains(it);
    Some(&name[..name.find(|it| !is_part(it)).unwrap_or(name.len())])
}

/// Adds the line to each name that is there twice.
fn tell_apart(constants: &mut [LongConstant]) {
    let mut counts = HashMap::<String, usize>::new();
    for constant in &*constants {
        *counts.entry(constant.name.clone()).or_default() += 1;
    }
    for LongConstant { name, line, .. } in constants {
        if name.is_empty() {
            *name = format!("line {line}");
        } else if counts[name] > 1 {
            *name = format!("{name}:{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
util.global private @\"a b\" = dense_resource<w> : tensor<2xf32>
func.func @f() {
  %0 = arith.constant dense<\"0x0000803F\"> : tensor<1xf32>
  // %1 = arith.constant dense<\"0x0000803F\"> : tensor<1xf32>
  %c, %d = test.two dense<\"0x01020304\"> : tensor<4xsi8>
  %short = arith.constant dense<\"0x0000803F\"> : tensor<4xf32>
  %bits = arith.constant dense<\"0xFF\"> : tensor<9xi1>
  %list = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %gone = arith.constant dense_resource<gone> : tensor<2xf32>
  %left = arith.constant dense_resource<left> : tensor<2xf32>
}
func.func @g() {
  %0 = \"torch.operator\"() {value = dense_resource<\"x y\"> : tensor<1xsi64>} : () -> ()
  \"test.none\"() {value = dense<\"0x00FF\"> : vector<2xi8>} : () -> ()
  %cut = arith.constant dense<\"0x00
}
{-#
  dialect_resources: {
    builtin: {
      w: \"0x040000000000803F00000040\",
      left: \"__elided__16_0\",
      \"x y\": \"0x080000000300000000000000\"
    }
  }
#-}
";

    #[test]
    fn constants_have_names_that_tell_them_apart() {
        let found = long_constants(TEXT);
        let said: Vec<String> = found
            .iter()
            .map(|it| format!("{} {} {:?}", it.name, it.tensor_type, it.bytes(TEXT)))
            .collect();
        assert_eq!(
            said,
            [
                "@\"a b\" 2xf32 Some([0, 0, 128, 63, 0, 0, 0, 64])",
                "%0:3 1xf32 Some([0, 0, 128, 63])",
                "%c 4xi8 Some([1, 2, 3, 4])",
                "%left 2xf32 None",
                "%0:13 1xi64 Some([3, 0, 0, 0, 0, 0, 0, 0])",
                "line 14 2xi8 Some([0, 255])",
            ]
        );
        let lines: Vec<u32> = found.iter().map(|it| it.line).collect();
        assert_eq!(lines, [1, 3, 5, 10, 13, 14]);
        let resources: Vec<_> = found.iter().filter_map(|it| it.resource.as_deref()).collect();
        assert_eq!(resources, ["w", "left", "x y"]);
    }

    #[test]
    fn a_text_may_end_anywhere() {
        for end in (0..TEXT.len()).filter(|it| TEXT.is_char_boundary(*it)) {
            let found = long_constants(&TEXT[..end]);
            assert!(found.iter().all(|it| it.written.end <= end));
        }
    }
}
