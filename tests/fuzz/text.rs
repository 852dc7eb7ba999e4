//! `.vmasm` text: assembling any text must give a module or diagnostics, and the printed form of an
//! assembled module must give the same module.

use vmfb::Module;
use vmfb::assemble::{assemble, render};
use vmfb::print::{DisassemblyOptions, Rodata, disassemble};

use crate::random::Random;

/// Pieces with a meaning, to be put in wrong places.
const PIECES: &[&str] = &[
    "vm.module @m version 1\n",
    "vm.func @f(%i0: i32) -> (i64) {\n",
    "^bb0:\n",
    "}",
    "{",
    "^bb1(",
    "%i0:1",
    "%R3",
    "%i99999",
    "%r",
    "@",
    "@\"",
    ".rwdata[",
    "vm.br ^bb0\n",
    "vm.call ",
    "segments[",
    "65535",
    "4294967296",
    "-9223372036854775809",
    "nan",
    "0x",
    "1e999",
    "vm.export @",
    "vm.import optional @a.b cconv \"0CiD_r\"\n",
    "vm.type !vm.list<\n",
    "vm.rodata",
    "hex\"0",
    "\"",
    "\\",
    "//",
    "[00000001]",
    "->",
    "é",
    "\u{0}",
    "\r",
];

/// A damaged text.
pub(crate) fn mutate(text: &str, random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(4) {
        let (at, other) = (random.below(lines.len()), random.below(lines.len()));
        if lines.is_empty() {
            break;
        }
        match random.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            _ => lines[at] = mutated_line(&lines[at], random),
        }
    }
    let mut bytes = lines.join("\n").into_bytes();
    if random.chance(6) && !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] = random.below(256) as u8;
    }
    bytes
}

fn mutated_line(line: &str, random: &mut Random) -> String {
    let places: Vec<usize> =
        line.char_indices().map(|(index, _)| index).chain([line.len()]).collect();
    let (mut from, mut to) = (*random.choose(&places), *random.choose(&places));
    if from > to {
        std::mem::swap(&mut from, &mut to);
    }
    let piece = *random.choose(PIECES);
    match random.below(4) {
        0 => [&line[..from], &line[to..]].concat(),
        1 => [&line[..from], piece, &line[from..]].concat(),
        2 => [&line[..from], piece, &line[to..]].concat(),
        _ => match line[from..].find(|letter: char| letter.is_ascii_digit()) {
            Some(digit) => {
                let number = random.number().to_string();
                [&line[..from + digit], &number, &line[from + digit + 1..]].concat()
            }
            None => line.to_owned(),
        },
    }
}

/// Assembles a text and, if it is a module, prints and assembles it again. Returns whether it is
/// one.
///
/// # Panics
/// The second module differs.
pub(crate) fn exercise(text: &[u8]) -> bool {
    let assembly = match assemble(text) {
        Ok(assembly) => assembly,
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            assert!(!render(&diagnostics, text, "fuzz.vmasm").is_empty());
            return false;
        }
    };
    let Ok(bytes) = assembly.image.to_bytes() else { return false };
    let mut image = assembly.image.clone();
    image.exports.sort_by_key(|export| export.function);
    let module = Module::from_bytes(bytes).expect("what was assembled can be loaded");
    for bytecode_offsets in [false, true] {
        let options =
            DisassemblyOptions { bytecode_offsets, rodata: Rodata::Full, ..Default::default() };
        let printed = disassemble(&module, &options).text;
        let again = assemble(printed.as_bytes()).unwrap_or_else(|diagnostics| {
            panic!("{}\n{printed}", render(&diagnostics, printed.as_bytes(), "printed.vmasm"))
        });
        // Printed names can be ambiguous; a warning says so.
        if !again.warnings.is_empty() {
            continue;
        }
        let mut again = again.image;
        // Exports are printed with their functions.
        again.exports.sort_by_key(|export| export.function);
        assert_eq!(again, image, "what was printed gives another module:\n{printed}");
    }
    drop(assembly.verify(module));
    true
}
