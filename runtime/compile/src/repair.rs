//! Takes the names of scratch files out of a companion. The text of a phase does not say where the
//! arguments of functions come from, so a compiler that goes on with it gives them places in that
//! text, and passes these on to operations. The last phase has the right places.

use std::collections::HashMap;
use std::path::Path;

use memchr::memmem;

/// How a companion is made to name the user's files only.
pub(crate) struct Repair<'a> {
    /// The text that the compiler has gone on with.
    pub(crate) phase: &'a Path,
    /// The text of the last phase, with the locations of arguments; or empty.
    pub(crate) last: &'a str,
    /// The listing that it has written, and the name of the user's.
    pub(crate) listing: (&'a Path, Option<&'a str>),
}

impl Repair<'_> {
    pub(crate) fn repaired(&self, text: Vec<u8>) -> Vec<u8> {
        let phase = quoted(&self.phase.display().to_string());
        let places = self.places(&text);
        self.with_listing(without_places(text, &phase, &places))
    }

    /// The places in the phase's text of the arguments of functions, each with the right location.
    fn places(&self, companion: &[u8]) -> HashMap<Vec<u8>, String> {
        let aliases = aliases(self.last);
        let right: HashMap<&str, Vec<&str>> = self.last.lines().filter_map(arguments).collect();
        let lines = companion.split(|byte| *byte == b'\n');
        let functions = lines.filter(|line| line.trim_ascii_start().starts_with(FUNCTION));
        let mut places = HashMap::new();
        for line in functions.filter_map(|line| std::str::from_utf8(line).ok()) {
            let Some((name, given)) = arguments(line) else { continue };
            let Some(right) = right.get(name).filter(|it| it.len() == given.len()) else {
                continue;
            };
            for (given, right) in given.iter().zip(right) {
                let right = expanded(right, &aliases, 0);
                places.insert(given.as_bytes().to_vec(), right.unwrap_or_default());
            }
        }
        places
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

/// How a function begins.
const FUNCTION: &[u8] = b"vm.func ";

/// Aliases of aliases are followed so far; inlined calls nest them.
const MAX_DEPTH: usize = 64;

/// A longer location is not put together.
const MAX_LOCATION: usize = 1 << 16;

/// The name of a function that a line begins, and the locations of its arguments.
fn arguments(line: &str) -> Option<(&str, Vec<&str>)> {
    let rest = line.trim_start().strip_prefix("vm.func ")?;
    let rest = &rest[rest.find('@')?..];
    let mut is_quoted = false;
    let open = rest.find(|it| {
        is_quoted ^= it == '"';
        it == '(' && !is_quoted
    })?;
    let mut list = group(&rest[open..])?;
    let mut locations = Vec::new();
    while let Some(at) = list.find(" loc(") {
        let location = group(&list[at + " loc".len()..])?;
        locations.push(location);
        list = &list[at + " loc()".len() + location.len()..];
    }
    Some((&rest[..open], locations))
}

/// What is between the bracket that begins a text and the one that closes it.
fn group(text: &str) -> Option<&str> {
    let (mut depth, mut is_quoted) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' => depth += 1,
            b')' if depth == 1 => return text.get(1..at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The aliases of locations: `#loc7 = loc(…)`.
fn aliases(text: &str) -> HashMap<&str, &str> {
    let lines = text.lines().filter(|line| line.starts_with("#loc"));
    let pairs = lines.filter_map(|line| line.split_once(" = loc"));
    pairs.filter_map(|(name, location)| Some((name, group(location)?))).collect()
}

/// A location without aliases.
fn expanded(text: &str, aliases: &HashMap<&str, &str>, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut made = String::new();
    let mut is_quoted = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        is_quoted ^= first == '"';
        let length = if first == '#' && !is_quoted {
            let name = rest[1..].find(|it: char| !it.is_ascii_alphanumeric());
            let length = name.map_or(rest.len(), |it| it + 1);
            made.push_str(&expanded(aliases.get(&rest[..length])?, aliases, depth + 1)?);
            length
        } else {
            made.push(first);
            first.len_utf8()
        };
        if made.len() > MAX_LOCATION {
            return None;
        }
        rest = &rest[length..];
    }
    Some(made)
}

/// Puts the right locations for the places in a file (`"file":1:2`), or `unknown`.
fn without_places(text: Vec<u8>, file: &[u8], right: &HashMap<Vec<u8>, String>) -> Vec<u8> {
    let mut made = Vec::new();
    let mut rest = &text[..];
    while let Some(at) = memmem::find(rest, file) {
        let length = place_length(&rest[at + file.len()..]);
        let place = &rest[at..at + file.len() + length];
        let known = right.get(place).filter(|it| !it.is_empty()).map(String::as_bytes);
        made.extend_from_slice(&rest[..at]);
        made.extend_from_slice(if length == 0 { place } else { known.unwrap_or(b"unknown") });
        rest = &rest[at + place.len()..];
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
            last: "#loc3 = loc(\"m.mlir\":5:6)\n#loc4 = loc(callsite(#loc3 at \"#loc3\":1:1))\n\
                   vm.func private @\"f (\"(%a: i32 loc(#loc4), %b: i32 loc(\"m(.mlir\":7:8)) {\n",
            listing: (Path::new("/tmp/l.mlir"), Some("my.vm.mlir")),
        };
        let nested = String::from_utf8(hexadecimal(b"fused[\"/tmp/l.mlir\":3:4]")).unwrap();
        let phase = "\"/tmp/a \\22b\\22/p.mlir\"";
        let text = format!(
            "vm.func private @\"f (\"(%a: i32 loc({phase}:12:3), %b: i32 loc({phase}:12:4)) {{\n\
             loc(fused[{phase}:12:3, {phase}:12:4]) loc({phase}:1:2) loc(\"m.mlir\":1:2)\n\
             \"/tmp/l.mlir\":3:4 \"0x{nested}\" {phase}"
        );
        let nested = String::from_utf8(hexadecimal(b"fused[\"my.vm.mlir\":3:4]")).unwrap();
        let (a, b) = ("callsite(\"m.mlir\":5:6 at \"#loc3\":1:1)", "\"m(.mlir\":7:8");
        let expected = format!(
            "vm.func private @\"f (\"(%a: i32 loc({a}), %b: i32 loc({b})) {{\n\
             loc(fused[{a}, {b}]) loc(unknown) loc(\"m.mlir\":1:2)\n\
             \"my.vm.mlir\":3:4 \"0x{nested}\" {phase}"
        );
        assert_eq!(String::from_utf8(repair.repaired(text.into())).unwrap(), expected);
    }
}
