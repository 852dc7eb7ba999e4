//! Random functions: bodies of loop nests with random scalar operations on floats and integers of
//! 32 bits, as both back ends compute them.

use abi::tensor::Tensor;
use reference::{Argument, Module, Settings};

use super::tools::{BACK_ENDS, Compiled, Random, check};

/// How many functions a module has.
const FUNCTIONS: usize = 12;
const SEEDS: u64 = 4;

/// Operations of floats. Divisions and logarithms are guarded, so that most elements are finite.
const FLOATS: [&str; 14] = [
    "arith.addf %A, %B : f32",
    "arith.subf %A, %B : f32",
    "arith.mulf %A, %B : f32",
    "arith.maximumf %A, %B : f32",
    "arith.minimumf %A, %B : f32",
    "arith.negf %A : f32",
    "math.absf %A : f32",
    "math.floor %A : f32",
    "math.ceil %A : f32",
    "math.roundeven %A : f32",
    "math.tanh %A : f32",
    "math.erf %A : f32",
    "math.fma %A, %B, %A : f32",
    "arith.select %P, %A, %B : f32",
];

/// Operations of integers.
const INTEGERS: [&str; 12] = [
    "arith.addi %I, %J : i32",
    "arith.subi %I, %J : i32",
    "arith.muli %I, %J : i32",
    "arith.andi %I, %J : i32",
    "arith.ori %I, %J : i32",
    "arith.xori %I, %J : i32",
    "arith.maxsi %I, %J : i32",
    "arith.minui %I, %J : i32",
    "arith.shrsi %I, %three : i32",
    "arith.shli %I, %three : i32",
    "arith.shrui %I, %three : i32",
    "arith.select %P, %I, %J : i32",
];

/// Comparisons, and integers as floats.
const OTHERS: [(&str, char); 6] = [
    ("arith.cmpf olt, %A, %B : f32", 'p'),
    ("arith.cmpf uge, %A, %B : f32", 'p'),
    ("arith.cmpi sgt, %I, %J : i32", 'p'),
    ("arith.cmpi ule, %I, %J : i32", 'p'),
    ("arith.sitofp %I : i32 to f32", 'f'),
    ("arith.extui %P : i1 to i32", 'i'),
];

#[test]
fn random_functions_lie_within_their_bounds() {
    let mut opinions = 0;
    for seed in 1..=SEEDS {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let text: String = (0..FUNCTIONS).map(|at| function(at, &mut random)).collect();
        let module = Module::new(&text);
        let inputs: Vec<Tensor> =
            ["6x20xf32", "20xf32", "6x20xi32", "6xi32"].map(|it| random.tensor(it)).into();
        let arguments: Vec<_> = inputs.iter().cloned().map(Argument::Tensor).collect();
        for end in BACK_ENDS {
            let compiled = Compiled::new(&text, end).unwrap_or_else(|it| panic!("{it}\n{text}"));
            for name in module.names() {
                let function = module.dispatch(name).unwrap();
                let outputs = function.evaluate(&arguments, &Settings::default()).unwrap();
                let results = compiled.run(name, &inputs, outputs.len());
                for (output, bytes) in outputs.iter().zip(&results) {
                    let found = check(output, bytes);
                    let (_, unstable) = found.unwrap_or_else(|it| {
                        panic!("seed {seed}, @{name} on {}: {it}\n{text}", end.0)
                    });
                    opinions += output.values.len() - unstable;
                }
            }
        }
    }
    // Few are near a step.
    let all = SEEDS as usize * FUNCTIONS * 2 * (120 + 6);
    assert!(opinions * 10 > all * 8, "{opinions} opinions of {all} elements");
}

/// A function with a loop nest whose first result keeps its shape and whose second one reduces.
fn function(at: usize, random: &mut Random) -> String {
    let mut floats = vec!["%a".to_owned(), "%b".to_owned()];
    let mut integers = vec!["%i".to_owned(), "%j".to_owned()];
    let mut truths = vec!["%p".to_owned()];
    let mut body = String::from("    %p = arith.cmpf ogt, %a, %b : f32\n");
    for step in 0..4 + random.below(8) {
        let (operation, kind) = match random.below(5) {
            0 | 1 => (FLOATS[random.below(FLOATS.len())], 'f'),
            2 | 3 => (INTEGERS[random.below(INTEGERS.len())], 'i'),
            _ => OTHERS[random.below(OTHERS.len())],
        };
        let mut text = operation.to_owned();
        for (place, values) in [
            ("%A", &floats),
            ("%B", &floats),
            ("%I", &integers),
            ("%J", &integers),
            ("%P", &truths),
        ] {
            // The latest values are taken more often, so that chains are long.
            let from = values.len().saturating_sub(1 + random.below(3));
            text = text.replace(place, &values[from]);
        }
        let name = format!("%x{step}");
        body += &format!("    {name} = {text}\n");
        match kind {
            'f' => floats.push(name),
            'i' => integers.push(name),
            _ => truths.push(name),
        }
    }
    let (float, integer) = (&floats[floats.len() - 1], &integers[integers.len() - 1]);
    format!(
        "func.func @f{at}(%x: tensor<6x20xf32>, %y: tensor<20xf32>, %m: tensor<6x20xi32>, \
         %n: tensor<6xi32>) -> (tensor<6x20xf32>, tensor<6xi32>) {{
  %three = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6x20xf32>
  %s = tensor.empty() : tensor<6xi32>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, \
         affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, \
         affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], \
         iterator_types = [\"parallel\", \"parallel\"]}} ins(%x, %y, %m, %n : tensor<6x20xf32>, \
         tensor<20xf32>, tensor<6x20xi32>, tensor<6xi32>) outs(%e : tensor<6x20xf32>) {{
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %o: f32):
{body}    linalg.yield {float} : f32
  }} -> tensor<6x20xf32>
  %c = linalg.fill ins(%zero : i32) outs(%s : tensor<6xi32>) -> tensor<6xi32>
  %t = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, \
         affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, \
         affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], \
         iterator_types = [\"parallel\", \"reduction\"]}} ins(%x, %y, %m, %n : tensor<6x20xf32>, \
         tensor<20xf32>, tensor<6x20xi32>, tensor<6xi32>) outs(%c : tensor<6xi32>) {{
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %o: i32):
{body}    %last = arith.addi %o, {integer} : i32
    linalg.yield %last : i32
  }} -> tensor<6xi32>
  return %r, %t : tensor<6x20xf32>, tensor<6xi32>
}}
"
    )
}
