//! The VM program as people read it: a companion without its annotations.
//!
//! Line by line the companion equals the listing of `--iree-vm-bytecode-source-listing`, except
//! that lines end in locations, operations are annotated with registers and liveness, and constants
//! are long. Without these it is a listing, for any module that has a companion. That includes
//! nested modules, whose own listings the compiler overwrites with the outer module's.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use vmfb::FileBytes;

use super::model::{Companion, NestedText};
use crate::mlir_text::Cursor;
use crate::source::SourceText;

/// The attributes that annotate operations.
const ANNOTATIONS: [&[u8]; 9] = [
    b"block_defined",
    b"block_live",
    b"block_live_in",
    b"block_live_out",
    b"block_registers",
    b"live",
    b"operand_registers",
    b"remap_registers",
    b"result_registers",
];

/// Longer strings are truncated.
const LONGEST_STRING: usize = 256;
/// The bytes of a truncated string that are kept.
const KEPT: usize = 32;

/// The text of a companion, from which a listing can be made.
#[derive(Clone, Debug)]
pub struct CompanionText {
    bytes: FileBytes,
    /// The digits of a nested module's text.
    nested: Option<NestedText>,
}

impl CompanionText {
    /// Takes the text of a module's companion, read completely.
    #[must_use]
    pub fn new(bytes: FileBytes) -> Self {
        Self { bytes, nested: None }
    }

    /// The companion's text of a module nested in this one.
    #[must_use]
    pub fn of_nested(&self, nested: &NestedText) -> Self {
        Self { bytes: self.bytes.clone(), nested: Some(nested.clone()) }
    }

    /// The file that the outermost companion was read from.
    #[must_use]
    pub fn file(&self) -> &FileBytes {
        &self.bytes
    }

    /// The text as the compiler printed it.
    #[must_use]
    pub fn printed(&self) -> Cow<'_, [u8]> {
        match &self.nested {
            None => Cow::Borrowed(self.bytes.owned()),
            Some(nested) => Cow::Owned(Companion::nested_text(self.bytes.owned(), nested)),
        }
    }
}

/// A listing, with the offsets of its lines in the companion.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) text: Arc<SourceText>,
    starts: Vec<usize>,
}

impl Listing {
    pub(crate) fn of(printed: &[u8]) -> Self {
        let mut text = Vec::with_capacity(printed.len() / 4);
        let mut starts = Vec::new();
        let mut start = 0;
        while start < printed.len() {
            let rest = &printed[start..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            starts.push(start);
            write_line(&rest[..length], &mut text);
            text.push(b'\n');
            start += length + 1;
        }
        let text = String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Self { text: Arc::new(SourceText::new(text)), starts }
    }

    /// The line and column, both from one, of an offset in the companion.
    pub(crate) fn position(&self, at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).map_or(0, |index| self.starts[index]);
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        (number(line), number(at - start + 1))
    }
}

fn write_line(line: &[u8], text: &mut Vec<u8>) {
    // Definitions of location aliases become empty lines.
    if line.starts_with(b"#loc") {
        return;
    }
    let mut cursor = Cursor::new(line);
    while let Some(byte) = cursor.peek() {
        let start = cursor.at();
        let is_location = byte == b'l'
            && cursor.starts_with(b"loc(")
            && matches!(cursor.previous(), None | Some(b' '));
        if is_location {
            cursor.jump(start + 3);
            if cursor.skip_group().is_err() {
                cursor.jump(line.len());
            }
            text.truncate(text.trim_ascii_end().len());
            continue;
        }
        match byte {
            b'"' => {
                if cursor.skip_string().is_err() {
                    cursor.jump(line.len());
                }
                write_string(cursor.slice(start, cursor.at()), text);
            }
            b'{' if write_attributes(&mut cursor, text) => {}
            _ => {
                text.push(byte);
                cursor.bump();
            }
        }
    }
}

fn write_string(string: &[u8], text: &mut Vec<u8>) {
    if string.len() <= LONGEST_STRING {
        text.extend_from_slice(string);
        return;
    }
    text.extend_from_slice(&string[..KEPT]);
    text.extend_from_slice("…\"".as_bytes());
}

/// Writes the attributes of an operation without the annotations; `false` if there are none here.
fn write_attributes(cursor: &mut Cursor<'_>, text: &mut Vec<u8>) -> bool {
    let mut reader = cursor.clone();
    reader.bump();
    let mut kept: Vec<Range<usize>> = Vec::new();
    let mut is_annotated = false;
    loop {
        reader.skip_spaces();
        let start = reader.at();
        let name = reader.word();
        if name.is_empty() || reader.skip_attribute().is_err() {
            return false;
        }
        if ANNOTATIONS.contains(&name) {
            is_annotated = true;
        } else {
            kept.push(start..reader.at());
        }
        if reader.eat(b"}") {
            break;
        }
        if !reader.eat(b",") {
            return false;
        }
    }
    if !is_annotated {
        text.extend_from_slice(reader.slice(cursor.at(), reader.at()));
    } else if kept.is_empty() {
        text.truncate(text.trim_ascii_end().len());
    } else {
        let kept = kept.into_iter().map(|range| reader.slice(range.start, range.end));
        text.push(b'{');
        text.extend_from_slice(&kept.collect::<Vec<_>>().join(&b", "[..]));
        text.push(b'}');
    }
    *cursor = reader;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_compiler_added_goes() {
        let cases = [
            (
                "    %0 = vm.add.i32 %arg0, %arg1 {live = [\"%0\", \"%arg0\"], operand_registers = [\"i0\", \"i1\"]} : i32 loc(fused[\"a.mlir\":2:8, \"vm\"(\"a.vm.mlir\":3:4)])",
                "    %0 = vm.add.i32 %arg0, %arg1 : i32",
            ),
            (
                "    vm.call @f(%0) {live = [\"%0\"], nosideeffects, operand_registers = [\"i0\"]} : (i32) -> () loc(#loc3)",
                "    vm.call @f(%0) {nosideeffects} : (i32) -> ()",
            ),
            (
                "  ^bb1(%0: i32 loc(\"a\":1:1), %1: i32 loc(unknown)):  // 2 preds: ^bb0, ^bb2",
                "  ^bb1(%0: i32, %1: i32):  // 2 preds: ^bb0, ^bb2",
            ),
            (
                "  vm.func @\"a loc(b) {live = 1}\"() attributes {a = {live = 1}} {",
                "  vm.func @\"a loc(b) {live = 1}\"() attributes {a = {live = 1}} {",
            ),
            ("    vm.br_table %0 { loc", "    vm.br_table %0 { loc"),
            ("  } loc(\"a.mlir\":1:1", "  }"),
            ("#loc3 = loc(\"a.mlir\":1:1)", ""),
        ];
        for (line, expected) in cases {
            let listing = Listing::of(line.as_bytes());
            assert_eq!(listing.text.text(), format!("{expected}\n"));
        }
        let long = format!("  vm.rodata @a dense<\"0x{}\"> loc(unknown)", "AB".repeat(1000));
        let expected = format!("  vm.rodata @a dense<\"0x{}…\">\n", "AB".repeat(14) + "A");
        assert_eq!(Listing::of(long.as_bytes()).text.text(), expected);
    }

    #[test]
    fn lines_stay_where_they_were() {
        let listing = Listing::of(b"a {\n#loc\n  b loc(x)\n");
        assert_eq!(listing.text.text(), "a {\n\n  b\n");
        assert_eq!([0, 2, 4, 11].map(|at| listing.position(at)), [(1, 1), (1, 3), (2, 1), (3, 3)]);
        assert_eq!(listing.position(1000).0, 3);
        assert_eq!(Listing::of(b"").position(3), (0, 4));
    }
}
