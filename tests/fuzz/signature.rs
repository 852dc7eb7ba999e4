//! Signatures of every convention, and values as text: damaged golden cases. Each must be read or
//! refused at a place, and the printed form of what was read must read as the same.

use abi::convention::Convention;
use abi::explain::{argument_names, explain};
use abi::json::{Json, Value, write_string};
use abi::native_values::{Memory, show};
use abi::npy;
use abi::tensor::Tensor;
use conformance::tools::repository;

use crate::random::Random;

/// Pieces with a meaning in one convention or another.
const PIECES: &[&str] = &[
    "0",
    "C",
    "D",
    "_",
    "v",
    "[",
    "]",
    ".",
    "r",
    "iIfF", // calling conventions
    "I",
    "R",
    "B3!d1",
    "S3!t6",
    "O1!",
    "U1!",
    "!",
    "-1",
    "d",
    "t12",
    "k0_0",
    "K2!a",
    "D6!K2!a_0",
    "99999999999", // raw, sip
    "{\"a\":[",
    "\"r\":[]",
    "\"ndarray\"",
    "[\"slist\",",
    "[\"sdict\",[\"k\",",
    "[\"named\",\"x\",",
    "null",
    "\"i32\"",
    "\\u00e9",
    "\\ud800",
    "1e9",
    "\\22", // JSON
    "{\"type\":\"ffi.Function\",",
    "\"args\":[",
    "\"type_schema\"",
    "Callable[[",
    "Optional[",
    " | ",
    "-> ",
    "Tuple[", // TVM FFI
    "func.func @f",
    "(",
    ")",
    "memref<",
    "?x",
    "*x",
    "strided<[",
    ", offset: ?",
    ">",
    "affine_map<(d0) -> (d0)>",
    "tensor<4xf32>",
    "vector<[4]x",
    "complex<",
    "!llvm.ptr",
    "attributes {",
    "%a: ",
    "...",
    "loc(", // MLIR
    "4x",
    "f32",
    "=1,2",
    "nan",
    "0x",
    "é",
    "\u{0}",
    "\n",
    "\"",
    "\\",
    "18446744073709551616",
];

/// The inputs of the targets: golden cases of each convention, and texts of values.
pub(crate) struct Cases {
    signatures: Vec<(Convention, Vec<String>)>,
    all: Vec<String>,
}

/// Texts of tensors, of JSON, and of headers of NumPy files.
const VALUES: &[&str] = &[
    "4xf32=1,2,3,4",
    "2x2xi8=[[1 2][3 -4]]",
    "2xbf16=1e-3 nan",
    "1x*16=ABCD",
    "2xcf64=0000803F00000040 0000803F00000040",
    "0x3xi64",
    "8xf8E4M3FN=448",
    "3xi1=01 00 01",
    "[1, [2.5, \"x\\n\"], {\"k\": [null, true, -0]}]",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
];

impl Cases {
    pub(crate) fn read() -> Result<Self, String> {
        let folder = repository().join("runtime/abi/tests/golden");
        let mut cases = Self {
            signatures: Vec::new(),
            all: VALUES.iter().map(|it| (*it).to_owned()).collect(),
        };
        for convention in Convention::ALL {
            let path = folder.join(format!("{}.txt", convention.name()));
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("{path:?}: {error}"))?;
            let is_case = |line: &&str| !line.starts_with("  ") && !line.starts_with('#');
            let lines: Vec<String> = text.lines().filter(is_case).map(str::to_owned).collect();
            cases.all.extend(lines.iter().cloned());
            cases.signatures.push((convention, lines));
        }
        Ok(cases)
    }

    /// A damaged text for a target.
    pub(crate) fn damaged(&self, target: &str, random: &mut Random) -> String {
        let own = self.signatures.iter().find(|(convention, _)| convention.name() == target);
        let text = match own {
            Some((_, lines)) => random.choose::<String>(lines).clone(),
            None => (*random.choose(VALUES)).to_owned(),
        };
        (0..=random.below(4)).fold(text, |text, _| self.damage(&text, random))
    }

    fn damage(&self, text: &str, random: &mut Random) -> String {
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (mut from, mut to) = (*random.choose(&places), *random.choose(&places));
        if from > to {
            std::mem::swap(&mut from, &mut to);
        }
        let piece = *random.choose(PIECES);
        match random.below(8) {
            0 => [&text[..from], &text[to..]].concat(),
            1 => [&text[..to], &text[from..]].concat(),
            2 => text[..to].to_owned(),
            3 => match text[from..].find(|c: char| c.is_ascii_digit()) {
                Some(digit) => {
                    let number = random.number().to_string();
                    [&text[..from + digit], &number, &text[from + digit + 1..]].concat()
                }
                None => [text, piece].concat(),
            },
            4 => {
                let other: &String = random.choose(&self.all);
                let at = other
                    .char_indices()
                    .map(|(at, _)| at)
                    .nth(random.below(other.len()))
                    .unwrap_or(0);
                [&text[..from], &other[at..], &text[to..]].concat()
            }
            _ => [&text[..from], piece, &text[from..]].concat(),
        }
    }
}

/// Reads a text as `target` does. Returns whether it was valid.
///
/// # Panics
/// An error lies outside the text, or the printed form reads as something else.
pub(crate) fn exercise(target: &str, text: &str) -> bool {
    let Ok(convention) = target.parse::<Convention>() else { return exercise_value(text) };
    let attributes =
        [("iree.abi", text), ("iree.abi.declaration", text), ("f", text), ("sip", text)];
    let _ = explain(Some(text), &attributes);
    let _ = argument_names(Some(text), &attributes);
    let function = match convention.parse(text) {
        Ok(function) => function,
        Err(error) => {
            assert!(text.is_char_boundary(error.position), "{error}: outside of {text:?}");
            return false;
        }
    };
    for other in Convention::ALL {
        let Ok(printed) = other.print(&function) else { continue };
        let again = other.parse(&printed.text).unwrap_or_else(|error| {
            panic!("{text:?} is printed for {} as {:?}, where {error}", other.name(), printed.text)
        });
        let settled = other.print(&again).map(|printed| printed.text);
        assert_eq!(settled, Ok(printed.text), "{text:?} by {}", other.name());
    }
    let _ = abi::mlir::lowering::lower(&function);
    true
}

fn exercise_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes();
    let _ = npy::read(&[b"\x93NUMPY\x01\x00", &length[..], bytes, &[0; 64]].concat());
    for ty in ["any", "memref<?x?xf32>", "memref<*xi8>", text] {
        let _ = show(bytes, ty, &Text(bytes));
    }
    if let Ok(json) = Json::parse(text)
        && let Value::String(inner) = &json.value
    {
        let mut printed = String::new();
        write_string(&mut printed, inner);
        assert_eq!(
            Json::parse(&printed).ok().as_ref().and_then(Json::as_str),
            Some(inner.as_str())
        );
    }
    let Ok(tensor) = Tensor::parse(text, 1 << 20) else { return false };
    // Printing a float may lose digits; printing it again does not.
    let printed = tensor.format(usize::MAX);
    let again = Tensor::parse(&printed, 1 << 20).map(|tensor| tensor.format(usize::MAX));
    assert!(again.is_err() || again == Ok(printed.clone()), "{text:?} is printed as {printed:?}");
    true
}

/// A text as memory at small addresses.
struct Text<'a>(&'a [u8]);

impl Memory for Text<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let from = usize::try_from(address).ok()?;
        self.0.get(from..from.checked_add(length)?).map(<[u8]>::to_vec)
    }
}
