//! `why nan`: where a NaN or an infinity began. The programs and scripts are those of `stories`;
//! that what is said to be enough is enough, iree-run-module says, on inputs in which all else is
//! an ordinary number.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use support::text;

use crate::device::{check_on, compile_to};
use crate::program::{IREE_DBG, data, scratch};

const MACHINE_CODE: [&str; 2] =
    ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];

/// The script of a program says what is expected of bytecode, and the same of machine code.
fn told(program: &str, inputs: &[&str]) {
    let module = scratch(&format!("{program}.vmvx.vmfb"));
    compile_to(&module, &data("stories"), program, &[]);
    check_on(&module, &data("stories"), &data("stories"), inputs, &[program]);
    let module = scratch(&format!("{program}.llvm.vmfb"));
    compile_to(&module, &data("stories"), program, &MACHINE_CODE);
    let script = data("stories").join(format!("{program}.script"));
    let output = IREE_DBG
        .command()
        .args(["debug", "--batch"])
        .args(inputs.iter().map(|it| format!("--input={it}")))
        .arg("-x")
        .args([script, module])
        .output()
        .expect("the debugger starts");
    let stories = |printed: &str| {
        let lines = printed.lines().filter(|it| it.starts_with('%') || it.starts_with("error: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = std::fs::read_to_string(data("stories").join(format!("{program}.expected")));
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(stories(&printed), stories(&expected.expect("what is expected")), "{printed}");
}

#[test]
fn a_masked_row_is_the_cause_of_its_softmax() {
    let mut mask = [0.0; 16];
    mask[8..12].fill(f32::NEG_INFINITY);
    let x: Vec<f32> = (0..32_u8).map(|it| f32::from(it % 7) / 4.0).collect();
    told("attention", &[&tensor("4x8", &x), &tensor("4x4", &mask)]);
}

#[test]
fn what_was_set_by_hand_is_where_a_story_ends() {
    told("changed", &["4x8xf32=0.5", "8x8xf32=0.25"]);
}

#[test]
fn numbers_of_which_nan_is_made_are_named() {
    let x = "2x4xf32=[1 -1 0 2][3e19 0.25 0 1]";
    told("numbers", &[x, "2x4xf32=[1 2 0 0][1 2 3 4]"]);
}

#[test]
fn a_number_is_told_back_to_inputs_and_weights() {
    told("made_of", &["2x6xf32=1 0.5 -1 0.25 2 3 0.1 0.2 0.3 1.5 -0.5 1", "3xf32=1 2 3"]);
}

#[test]
fn what_a_loop_carries_ends_the_tree() {
    told("carried", &["4xf32=1 2 3 4", "3"]);
}

/// Each input that a number of the result is told to be made of changes it: IREE says so.
#[test]
fn what_a_number_is_made_of_changes_it() {
    let module = scratch("changes.vmfb");
    compile_to(&module, &data("stories"), "attention", &[]);
    for seed in 0..10 {
        let mut random = Random(seed + 77);
        let mut numbers = |count: usize| -> Vec<f32> {
            (0..count).map(|_| random.below(100) as f32 / 40.0 - 1.25).collect()
        };
        let inputs = [numbers(32), numbers(16)];
        let at = random.below(32) as usize;
        let left = results(&module, &inputs);
        let made =
            told_of(&module, &inputs, &format!("why %mixed[{}, {}]", at / 8, at % 8), "madeOf");
        let value = made["value"].as_f64().expect("a float");
        assert!((value - f64::from(left[at])).abs() < 1e-5, "{value} for {}", left[at]);
        let mut leaves = Vec::new();
        leaves_of(&made, &mut leaves);
        assert!(leaves.len() >= 3, "seed {seed}: {made}");
        for (argument, element) in leaves {
            let mut changed = inputs.clone();
            changed[argument][element] += 0.75;
            let left_so = results(&module, &changed);
            assert_ne!(left[at], left_so[at], "seed {seed}: {argument} {element} of {made}");
        }
    }
}

/// The inputs that a tree ends at: the argument, and the number of the element.
fn leaves_of(node: &Value, leaves: &mut Vec<(usize, usize)>) {
    let origin = &node["origin"];
    assert_ne!(origin["kind"], "notKnown", "{node}");
    let number = |it: &Value| it.as_u64().expect("a number") as usize;
    if origin["kind"] == "input" {
        let argument = number(&origin["argument"]);
        let (row, column) = (number(&node["element"][0]), number(&node["element"][1]));
        leaves.push((argument, row * [8, 4][argument] + column));
    }
    for part in origin["largest"].as_array().into_iter().flatten() {
        match part["of"].as_array() {
            Some(nodes) => nodes.iter().for_each(|it| leaves_of(it, leaves)),
            None => leaves_of(part, leaves),
        }
    }
}

fn tensor(shape: &str, elements: &[f32]) -> String {
    let elements: Vec<String> = elements.iter().map(ToString::to_string).collect();
    format!("{shape}xf32={}", elements.join(" "))
}

/// What a NaN of the result comes from is enough for it: with all other NaN and infinities of the
/// inputs replaced, IREE still computes NaN there.
#[test]
fn what_is_said_to_be_enough_is_enough() {
    let module = scratch("enough.vmfb");
    compile_to(&module, &data("stories"), "attention", &[]);
    let mut found = 0;
    for seed in 0..24 {
        let mut random = Random(seed + 1);
        let mut special = |elements: &mut [f32], rarity: u64| {
            for element in elements {
                *element = random.below(9) as f32 / 4.0 - 1.0;
                match random.below(rarity) {
                    0 => *element = f32::NEG_INFINITY,
                    1 => *element = f32::INFINITY,
                    2 => *element = f32::NAN,
                    _ => {}
                }
            }
        };
        let (mut x, mut mask) = ([0.0; 32], [0.0; 16]);
        special(&mut x, 64);
        special(&mut mask, 12);
        let inputs = [x.to_vec(), mask.to_vec()];
        let left = results(&module, &inputs);
        let Some(at) = left.iter().position(|it| it.is_nan()) else { continue };
        let needed = needed(&module, &inputs, at);
        let replaced = |argument: usize, element: usize, value: f32| {
            let is_kept = needed.contains(&(argument, element));
            if value.is_finite() || is_kept { value } else { 0.5 }
        };
        let changed = inputs.iter().enumerate().map(|(argument, values)| {
            let values = values.iter().enumerate();
            values.map(|(element, value)| replaced(argument, element, *value)).collect()
        });
        let left = results(&module, &changed.collect::<Vec<Vec<f32>>>());
        assert!(left[at].is_nan(), "seed {seed}: {needed:?} of {inputs:?} for {at}");
        found += 1;
    }
    assert!(found >= 12, "{found} had a NaN");
}

/// Numbers that follow from a seed: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        for (left, by) in [(false, 12), (true, 25), (false, 27)] {
            self.0 ^= if left { self.0 << by } else { self.0 >> by };
        }
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }
}

/// The elements of inputs that the story of an element of the result ends at.
fn needed(module: &Path, inputs: &[Vec<f32>], element: usize) -> Vec<(usize, usize)> {
    let (row, column) = (element / 8, element % 8);
    let links = told_of(module, inputs, &format!("why nan %mixed[{row}, {column}]"), "links");
    let mut needed = Vec::new();
    for link in links.as_array().expect("links") {
        assert_ne!(link["origin"], "notKnown", "{link}");
        assert_ne!(link["origin"], "notMade", "{link}");
        let Some(argument) = link["details"]["argument"].as_u64() else { continue };
        let width = [8, 4][argument as usize];
        let axis = |at: usize| {
            let axis = link["region"][at].as_array().expect("an axis");
            axis.iter().map(|it| it.as_u64().expect("a coordinate") as usize).collect::<Vec<_>>()
        };
        for row in axis(0) {
            needed.extend(axis(1).iter().map(|column| (argument as usize, row * width + column)));
        }
    }
    needed
}

/// What the debugger answers to a question at the end, by its key.
fn told_of(module: &Path, inputs: &[Vec<f32>], why: &str, key: &str) -> Value {
    let mut arguments = vec!["debug".to_owned(), "--batch".to_owned(), "--json-lines".to_owned()];
    arguments.extend(flags(inputs));
    for command in ["break dispatch * after", "run", "continue", "continue", why] {
        arguments.extend(["-ex".to_owned(), command.to_owned()]);
    }
    let output = IREE_DBG.command().args(&arguments).arg(module).output().expect("it starts");
    let printed = text(&output.stdout);
    let answers = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let told = answers.filter_map(|it| it.get(key).cloned()).next();
    told.unwrap_or_else(|| panic!("{printed}{}", text(&output.stderr)))
}

fn flags(inputs: &[Vec<f32>]) -> [String; 2] {
    let shapes = ["4x8", "4x4"];
    [0, 1].map(|at| format!("--input={}", tensor(shapes[at], &inputs[at])))
}

/// What IREE computes.
fn results(module: &Path, inputs: &[Vec<f32>]) -> Vec<f32> {
    let output = Command::new("iree-run-module")
        .arg(format!("--module={}", module.display()))
        .arg("--device=local-sync")
        .arg("--function=attention")
        .args(flags(inputs))
        .output()
        .expect("iree-run-module starts");
    let printed = text(&output.stdout);
    let (_, elements) = printed.split_once("4x8xf32=").unwrap_or_else(|| panic!("{printed}"));
    let words = elements.split(['[', ']', ' ', '\n']).filter(|it| !it.is_empty());
    words.map(|it| it.parse().unwrap_or_else(|_| panic!("{it}"))).collect()
}
