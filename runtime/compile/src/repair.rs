//! Takes the names of scratch files out of a companion. A compiler that goes on with the text of a
//! phase gives places in that text to what has no location there: the arguments of functions.

use std::path::Path;

use memchr::memmem;

/// How a companion is made to name the user's files only.
pub(crate) struct Repair<'a> {
    /// The text that the compiler has gone on with.
    pub(crate) phase: &'a Path,
    /// The listing that it has written, and the name of the user's.
    pub(crate) listing: (&'a Path, Option<&'a str>),
}

impl Repair<'_> {
    pub(crate) fn repaired(&self, text: Vec<u8>) -> Vec<u8> {
        let phase = quoted(&self.phase.display().to_string());
        self.with_listing(without_places(text, &phase))
    }

    /// Gives the listing the user's name, also in the text of executables, which is hexadecimal.
    pub(crate) fn with_listing(&self, text: Vec<u8>) -> Vec<u8> {
        let (Some(name), scratch) = (self.listing.1, self.listing.0.display().to_string()) else {
            return text;
        };
        let (scratch, name) = (quoted(&scratch), quoted(name));
        let text = replaced(text, &scratch, &name);
        replaced(text, &hexadecimal(&scratch), &hexadecimal(&name))
    }
}

/// Puts `unknown` for the places of a file: `"file":1:2`.
fn without_places(text: Vec<u8>, file: &[u8]) -> Vec<u8> {
    let mut made = Vec::new();
    let mut rest = &text[..];
    while let Some(at) = memmem::find(rest, file) {
        let after = &rest[at + file.len()..];
        let length = place_length(after);
        let shown: &[u8] = if length == 0 { file } else { b"unknown" };
        made.extend_from_slice(&rest[..at]);
        made.extend_from_slice(shown);
        rest = &after[length..];
    }
    if made.is_empty() {
        return text;
    }
    made.extend_from_slice(rest);
    made
}

/// The length of `:12:34` at the start of a text; 0 without.
fn place_length(text: &[u8]) -> usize {
    let number = |text: &[u8]| {
        let digits = text.strip_prefix(b":")?.iter().take_while(|it| it.is_ascii_digit()).count();
        (digits > 0).then_some(digits + 1)
    };
    let both = number(text).and_then(|line| Some(line + number(&text[line..])?));
    both.unwrap_or(0)
}

fn replaced(text: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut made = Vec::new();
    let mut last = 0;
    for at in memmem::find_iter(&text, from) {
        made.extend_from_slice(&text[last..at]);
        made.extend_from_slice(to);
        last = at + from.len();
    }
    if last == 0 {
        return text;
    }
    made.extend_from_slice(&text[last..]);
    made
}

/// A string as MLIR prints it, with its quotes.
fn quoted(text: &str) -> Vec<u8> {
    let mut made = vec![b'"'];
    for byte in text.bytes() {
        match byte {
            b'\\' => made.extend(b"\\\\"),
            b'"' | 0..0x20 | 0x7F.. => made.extend(format!("\\{byte:02X}").into_bytes()),
            plain => made.push(plain),
        }
    }
    made.push(b'"');
    made
}

fn hexadecimal(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_files_are_not_named() {
        let repair = Repair {
            phase: Path::new("/tmp/a \"b\"/p.mlir"),
            listing: (Path::new("/tmp/l.mlir"), Some("my.vm.mlir")),
        };
        let nested = String::from_utf8(hexadecimal(b"fused[\"/tmp/l.mlir\":3:4]")).unwrap();
        let text = format!(
            "%a loc(\"/tmp/a \\22b\\22/p.mlir\":12:3), loc(\"m.mlir\":1:2) \"/tmp/l.mlir\":3:4 \
             \"0x{nested}\" \"/tmp/a \\22b\\22/p.mlir\""
        );
        let nested = String::from_utf8(hexadecimal(b"fused[\"my.vm.mlir\":3:4]")).unwrap();
        let expected = format!(
            "%a loc(unknown), loc(\"m.mlir\":1:2) \"my.vm.mlir\":3:4 \"0x{nested}\" \
             \"/tmp/a \\22b\\22/p.mlir\""
        );
        assert_eq!(String::from_utf8(repair.repaired(text.into())).unwrap(), expected);
    }
}
