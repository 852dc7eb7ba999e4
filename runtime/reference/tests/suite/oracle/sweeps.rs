//! Functions of `math` over their whole range, in each float type that a back end has: what is
//! promised in `lanes::accuracy` holds for IREE's code.

use abi::element_type::ElementType;
use abi::tensor::Tensor;
use reference::{Argument, Module, Settings};

use super::tools::{BACK_ENDS, Compiled, check};

/// How many numbers of its range each function is checked with.
const COUNT: usize = 1200;

/// Functions, and the numbers that they take.
const FUNCTIONS: [(&str, f64, f64); 20] = [
    ("exp", -90.0, 88.0),
    ("exp2", -120.0, 120.0),
    ("expm1", -20.0, 20.0),
    ("log", 1e-6, 1e6),
    ("log2", 0.3, 3.0),
    ("log10", 1e-3, 1e3),
    ("log1p", -0.9, 10.0),
    ("sqrt", 0.0, 1e6),
    ("rsqrt", 1e-6, 1e6),
    ("cbrt", -100.0, 100.0),
    ("sin", -100.0, 100.0),
    ("cos", -100.0, 100.0),
    ("tan", -1.5, 1.5),
    ("asin", -1.0, 1.0),
    ("acos", -1.0, 1.0),
    ("atan", -30.0, 30.0),
    ("sinh", -10.0, 10.0),
    ("cosh", -10.0, 10.0),
    ("tanh", -12.0, 12.0),
    ("erf", -5.0, 5.0),
];

#[test]
fn single_floats() {
    functions_are_as_exact_as_promised("f32", BACK_ENDS[0], 17);
}

#[test]
fn single_floats_in_bytecode() {
    functions_are_as_exact_as_promised("f32", BACK_ENDS[1], 14);
}

#[test]
fn double_floats() {
    functions_are_as_exact_as_promised("f64", BACK_ENDS[0], 8);
}

#[test]
fn half_floats() {
    functions_are_as_exact_as_promised("f16", BACK_ENDS[0], 17);
}

#[test]
fn brain_floats() {
    functions_are_as_exact_as_promised("bf16", BACK_ENDS[0], 17);
}

/// Checks all functions for which a back end has code: at least this many.
fn functions_are_as_exact_as_promised(type_: &str, end: (&str, &str), least: usize) {
    let mut findings = Vec::new();
    let mut compared = 0;
    for row in FUNCTIONS {
        match sweep(row, type_, end) {
            Ok(Some((most, unstable))) => {
                println!("{} of {type_} on {}: {most:.3}, {unstable} unstable", row.0, end.0);
                compared += 1;
            }
            Ok(None) => {}
            Err(finding) => findings.push(finding),
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(compared >= least, "only {compared} have been compared");
}

/// The greatest share of the bound; `None` if this back end has no code for the function.
fn sweep(
    (name, low, high): (&str, f64, f64),
    type_: &str,
    end: (&str, &str),
) -> Result<Option<(f64, usize)>, String> {
    let text = format!(
        "func.func @f(%a: tensor<{COUNT}x{type_}>) -> tensor<{COUNT}x{type_}> {{\n  \
         %r = math.{name} %a : tensor<{COUNT}x{type_}>\n  \
         return %r : tensor<{COUNT}x{type_}>\n}}\n"
    );
    let element: ElementType = type_.parse().unwrap();
    let numbers = (0..COUNT).map(|at| low + (high - low) * (at as f64 + 0.37) / COUNT as f64);
    let bytes = numbers.flat_map(|it| match type_ {
        "f64" => it.to_le_bytes().to_vec(),
        "f16" => half::f16::from_f64(it.clamp(-6e4, 6e4)).to_le_bytes().to_vec(),
        "bf16" => half::bf16::from_f64(it).to_le_bytes().to_vec(),
        _ => (it as f32).to_le_bytes().to_vec(),
    });
    let input = Tensor { shape: vec![COUNT as u64], element_type: element, bytes: bytes.collect() };
    let Ok(module) = Compiled::new(&text, end) else { return Ok(None) };
    let function = Module::new(&text).dispatch("f").unwrap();
    let outputs = function.evaluate(&[Argument::Tensor(input.clone())], &Settings::default());
    let results = module.run("f", &[input], 1);
    let found = check(&outputs.unwrap()[0], &results[0]);
    found.map(Some).map_err(|it| format!("{name} of {type_} on {}: {it}", end.0))
}
