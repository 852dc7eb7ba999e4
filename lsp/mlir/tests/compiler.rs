//! The table against the installed compiler: it knows each function of numbers with these operands
//! and results, and what it folds constants to is what [`Scalar::apply`] gives, for NaN,
//! infinities, zeros of both signs, denormals, the extremes, and shifts at the width.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use mlir::{Cast, Element, Format, Meaning, Numbers, Scalar};

const F32: Element = Element::Float(Format::F32);
const F64: Element = Element::Float(Format::F64);
const INTEGERS: [Element; 4] =
    [Element::Integer(8), Element::Integer(32), Element::Integer(64), Element::Index];

/// Predicates in the order of MLIR's enumerations, which the generic notation counts.
const OF_FLOATS: [&str; 16] = [
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
    "une", "uno", "true",
];
const OF_INTEGERS: [&str; 10] =
    ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// One operation on constants.
struct Case {
    name: &'static str,
    scalar: Scalar,
    operands: Vec<u64>,
    to: Element,
}

/// A tool of IREE, in the virtual environment of the tests or on the PATH.
fn tool(name: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin").join(name);
    if repository.is_file() { repository } else { PathBuf::from(name) }
}

fn samples(element: Element) -> Vec<u64> {
    match element {
        F32 => [0.0, -0.0, 1.0, -1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX]
            .into_iter()
            .chain([f32::from_bits(1), 0.5, -0.5, 2.5])
            .map(|it| u64::from(it.to_bits()))
            .collect(),
        F64 => [0.0, -0.0, 1.0, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX]
            .into_iter()
            .chain([f64::from_bits(1), 0.5, -0.5, 2.5])
            .map(f64::to_bits)
            .collect(),
        _ => {
            let width = element.width();
            let top = 1_u64 << (width - 1);
            let all = [0, 1, 2, 7, u64::from(width), top, top - 1, u64::MAX, u64::MAX - 6];
            all.map(|it| mlir::bits::cut(width, it)).into()
        }
    }
}

/// The types of operands and results that a function is tried with.
fn types(numbers: Numbers) -> Vec<(Element, Element)> {
    let floats = [(F32, F32), (F64, F64)];
    let same = |all: [Element; 4]| all.map(|it| (it, it)).to_vec();
    let byte = Element::Integer(8);
    let word = Element::Integer(32);
    match numbers {
        Numbers::FloatUnary(_) | Numbers::FloatBinary(_) | Numbers::FusedMultiplyAdd => {
            floats.to_vec()
        }
        Numbers::FloatTest(_) | Numbers::CompareFloats => {
            vec![(F32, Element::TRUTH), (F64, Element::TRUTH)]
        }
        Numbers::IntegerUnary(_) | Numbers::IntegerBinary(_) => same(INTEGERS),
        Numbers::CompareIntegers => INTEGERS.map(|it| (it, Element::TRUTH)).to_vec(),
        Numbers::Select => vec![(F32, F32), (byte, byte)],
        // A power of integers has a type of its own.
        Numbers::PowerOfInteger => Vec::new(),
        Numbers::Cast(cast) => match cast {
            Cast::Float => vec![(F32, F64), (F64, F32)],
            Cast::Signed | Cast::Unsigned => {
                vec![(byte, word), (word, byte), (word, Element::Index), (Element::Index, word)]
            }
            Cast::FromSigned | Cast::FromUnsigned => vec![(byte, F32), (word, F64)],
            Cast::ToSigned | Cast::ToUnsigned => vec![(F32, byte), (F64, word)],
            Cast::Bits => vec![(word, F32), (F32, word)],
        },
    }
}

/// Whether an operation of this name is one between these types: the table says what it does, and
/// the compiler's names say in which direction.
fn is_named(name: &str, from: Element, to: Element) -> bool {
    let has_index = from == Element::Index || to == Element::Index;
    match name {
        "arith.index_cast" | "arith.index_castui" | "index.casts" | "index.castu" => has_index,
        "arith.extf" => from == F32,
        "arith.truncf" => from == F64,
        "arith.extsi" | "arith.extui" => !has_index && from.width() < to.width(),
        "arith.trunci" => !has_index && from.width() > to.width(),
        _ if name.starts_with("index.") => from == Element::Index,
        // The compiler has no absolute value of an index, and so on.
        _ if name.starts_with("math.") => !has_index,
        _ => true,
    }
}

fn cases() -> Vec<Case> {
    // Before LLVM 18.
    let old = ["arith.maxf", "arith.minf"];
    let mut cases = Vec::new();
    for name in mlir::table::names().filter(|name| !old.contains(name)) {
        let Some(Meaning::Numbers(numbers)) = mlir::meaning(name) else { continue };
        let predicates: &[&str] = match numbers {
            Numbers::CompareFloats => &OF_FLOATS,
            Numbers::CompareIntegers if name == "arith.cmpi" => &OF_INTEGERS,
            _ => &[""],
        };
        for (from, to) in types(numbers) {
            if !is_named(name, from, to) {
                continue;
            }
            for predicate in predicates {
                let Some(scalar) = numbers.of(from, to, predicate) else { continue };
                let all = samples(from);
                let lists: Vec<Vec<u64>> = match numbers.operands() {
                    1 => all.iter().map(|a| vec![*a]).collect(),
                    2 => {
                        let pairs = all.iter().flat_map(|a| all.iter().map(|b| vec![*a, *b]));
                        pairs.collect()
                    }
                    _ if numbers == Numbers::Select => {
                        vec![vec![0, all[0], all[1]], vec![1, all[0], all[1]]]
                    }
                    _ => all.iter().map(|a| vec![*a, all[2], all[3]]).collect(),
                };
                let new = lists.into_iter().map(|operands| Case { name, scalar, operands, to });
                cases.extend(new);
            }
        }
    }
    cases
}

/// The operation of a case, in the generic notation.
fn function(number: usize, case: &Case) -> String {
    let mut text = format!("  func.func @f{number}() -> {} {{\n", case.to);
    let mut types = Vec::new();
    for (at, bits) in case.operands.iter().enumerate() {
        let element = operand_type(&case.scalar, at);
        let value = match element {
            Element::Float(Format::F32) => format!("0x{:08X}", *bits as u32),
            Element::Float(_) => format!("0x{bits:016X}"),
            _ => mlir::bits::signed(element.width(), *bits).to_string(),
        };
        let value = if element == Element::TRUTH { format!("{}", bits & 1) } else { value };
        writeln!(text, "    %o{at} = arith.constant {value} : {element}").unwrap();
        types.push(element.to_string());
    }
    let operands: Vec<String> = (0..types.len()).map(|at| format!("%o{at}")).collect();
    let predicate = match &case.scalar {
        Scalar::CompareFloats { order, unordered, .. } => {
            OF_FLOATS.iter().position(|it| mlir::Order::of_floats(it) == Some((*order, *unordered)))
        }
        Scalar::CompareIntegers { order, is_signed, .. } => OF_INTEGERS
            .iter()
            .position(|it| mlir::Order::of_integers(it) == Some((*order, *is_signed))),
        _ => None,
    };
    let predicate = match predicate {
        Some(number) => format!(" <{{predicate = {number} : i64}}>"),
        None => String::new(),
    };
    writeln!(
        text,
        "    %r = \"{}\"({}){predicate} : ({}) -> {}\n    return %r : {}\n  }}",
        case.name,
        operands.join(", "),
        types.join(", "),
        case.to,
        case.to
    )
    .unwrap();
    text
}

fn operand_type(scalar: &Scalar, operand: usize) -> Element {
    match *scalar {
        Scalar::FloatUnary(_, of)
        | Scalar::FloatBinary(_, of)
        | Scalar::FusedMultiplyAdd(of)
        | Scalar::FloatTest(_, of)
        | Scalar::CompareFloats { element: of, .. } => of,
        Scalar::IntegerUnary(_, width)
        | Scalar::IntegerBinary(_, width)
        | Scalar::CompareIntegers { width, .. } => Element::Integer(width),
        Scalar::SelectFloat | Scalar::SelectInteger if operand == 0 => Element::TRUTH,
        Scalar::SelectFloat => F32,
        Scalar::SelectInteger => Element::Integer(8),
        Scalar::Convert { from, .. }
        | Scalar::ToSigned { from, .. }
        | Scalar::ToUnsigned { from, .. }
        | Scalar::Bitcast { from, .. } => from,
        Scalar::SignExtend { from, .. }
        | Scalar::ZeroExtend { from, .. }
        | Scalar::FromSigned { from, .. }
        | Scalar::FromUnsigned { from, .. } => Element::Integer(from),
        Scalar::Narrow { .. } | Scalar::PowerOfInteger(_) => Element::Integer(32),
    }
}

/// The constants that functions return after folding, by number.
fn folded(text: &str) -> HashMap<usize, String> {
    let mut found = HashMap::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("func.func @f") else { continue };
        let number = head.split('(').next().and_then(|it| it.parse().ok());
        let body: Vec<&str> = lines.by_ref().take_while(|it| *it != "}").collect();
        let [constant, _] = body.as_slice() else { continue };
        let Some((_, value)) = constant.split_once("arith.constant ") else { continue };
        let value = value.split(" : ").next().unwrap_or_default();
        found.extend(number.map(|number: usize| (number, value.to_owned())));
    }
    found
}

/// The bits of a printed constant.
fn bits(value: &str, element: Element) -> Option<u64> {
    match (value, element) {
        ("true", _) => Some(1),
        ("false", _) => Some(0),
        (_, Element::Float(format)) => match (value.strip_prefix("0x"), format) {
            (Some(digits), _) => u64::from_str_radix(digits, 16).ok(),
            (None, Format::F32) => value.parse::<f32>().ok().map(|it| u64::from(it.to_bits())),
            (None, _) => value.parse::<f64>().ok().map(f64::to_bits),
        },
        _ => Some(mlir::bits::cut(element.width(), value.parse::<i64>().ok()? as u64)),
    }
}

fn is_nan(bits: u64, element: Element) -> bool {
    match element {
        F32 => f32::from_bits(bits as u32).is_nan(),
        F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

#[test]
fn the_compiler_folds_constants_to_the_same_results() {
    let cases = cases();
    // A case whose operands are indices in the table has integers of 64 bits here.
    let index = |case: &Case| case.name.starts_with("index.") || case.name.contains("index_cast");
    let cases: Vec<Case> = cases.into_iter().filter(|it| !index(it)).collect();
    let cases: Vec<Case> = cases.into_iter().filter(|it| it.to != Element::Index).collect();
    let mut text = String::from("module {\n");
    for (number, case) in cases.iter().enumerate() {
        text += &function(number, case);
    }
    text += "}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.mlir");
    std::fs::write(&file, text).unwrap();
    let run = Command::new(tool("iree-opt"))
        .args(["--canonicalize", "--mlir-print-local-scope"])
        .arg(&file)
        .output()
        .expect("IREE's tools are installed: pip install -r tests/requirements.txt");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{}", errors.lines().take(5).collect::<Vec<_>>().join("\n"));
    let folded = folded(&String::from_utf8_lossy(&run.stdout));
    let mut compared: HashMap<&str, usize> = HashMap::new();
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let Some(value) = folded.get(&number).and_then(|it| bits(it, case.to)) else { continue };
        let Some(own) = case.scalar.apply(&case.operands) else { continue };
        *compared.entry(case.name).or_default() += 1;
        if own != value && !(is_nan(own, case.to) && is_nan(value, case.to)) {
            wrong.push(format!(
                "{} {:x?} : the compiler gives {value:x}, we {own:x}",
                case.name, case.operands
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    let all: usize = compared.values().sum();
    println!("{all} results of {} operations, of {} cases", compared.len(), cases.len());
    assert!(all > 3_000 && compared.len() > 40, "{all} results of {}", compared.len());
}

/// Names of earlier compilers, without a dialect, and of dialects that the package has no list of.
fn is_listed(name: &str, all: &HashSet<String>) -> bool {
    const EARLIER: [&str; 5] = [
        "arith.maxf",
        "arith.minf",
        "flow.dispatch.tensor.load",
        "flow.dispatch.tensor.store",
        "flow.dispatch.workload.ordinal",
    ];
    // linalg's functions of each element are made from another description.
    let is_elementwise = matches!(
        mlir::meaning(name),
        Some(Meaning::Loops(mlir::linalg::Loops::Elementwise { .. } | mlir::linalg::Loops::Square))
    );
    let Some((dialect, _)) = name.split_once('.') else { return true };
    let has_list = all.iter().any(|it| it.split('.').next() == Some(dialect));
    all.contains(name)
        || !has_list
        || EARLIER.contains(&name)
        || is_elementwise
        || name.starts_with("linalg.") && name.contains("matmul_transpose_")
}

#[test]
fn the_compiler_has_the_operations_of_the_table() {
    let environment = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let pythons = std::fs::read_dir(environment).expect(".venv is there: see tests/run");
    let folders = pythons.map(|it| it.unwrap().path().join("site-packages/iree/compiler/dialects"));
    let folder = folders.into_iter().find(|it| it.is_dir()).expect("iree-base-compiler");
    let mut all = HashSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with("_ops_gen.py") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let names = text.lines().filter_map(|it| it.trim().strip_prefix("OPERATION_NAME = \""));
        all.extend(names.map(|it| it.trim_end_matches('"').to_owned()));
    }
    assert!(all.len() > 1_000, "only {} operations are listed", all.len());
    let unknown: Vec<&str> = mlir::table::names().filter(|it| !is_listed(it, &all)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
