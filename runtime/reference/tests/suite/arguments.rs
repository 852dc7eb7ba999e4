//! Arguments that may be away, or are not rounded; and products that are added up, which are
//! evaluated in another way than all else.

use abi::tensor::Tensor;
use reference::{Argument, Dispatch, Elements, Output, Settings};

/// A matrix product, with something done to one operand before.
fn product(before: &str, operand: &str) -> Dispatch {
    let text = format!(
        "func.func @f(%x: tensor<3x5xf32>, %y: tensor<5x4xf32>, %z: tensor<3x4xf32>) -> tensor<3x4xf32> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}} ins(%x, %y : tensor<3x5xf32>, tensor<5x4xf32>) outs(%z : tensor<3x4xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
{before}    %p = arith.mulf {operand}, %b : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  }} -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}}
"
    );
    Dispatch::parse(&text, "f").expect("it is read")
}

fn tensor(ty: &str, values: &[f32]) -> Tensor {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    Tensor::parse(&format!("{ty}={}", texts.join(",")), 1 << 20).expect("a tensor")
}

/// Numbers without a pattern.
fn numbers(count: usize, scale: f32) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919 + 13) % 101) as f32 / 50.0 * scale - scale).collect()
}

fn evaluated(dispatch: &Dispatch, arguments: &[Argument]) -> Output {
    dispatch.evaluate(arguments, &Settings::default()).expect("a result").remove(0)
}

fn floats(output: &Output) -> &[f64] {
    match &output.values {
        Elements::Floats(values) => values,
        Elements::Integers(_) => panic!("floats"),
    }
}

#[test]
fn products_that_are_added_up_have_the_same_values_and_bounds_as_all_else() {
    let plain = product("", "%a");
    let twice = "    %n = arith.negf %a : f32\n    %m = arith.negf %n : f32\n";
    let other = product(twice, "%m");
    for (place, special) in [
        (0, 0.25),
        (0, 0.0),
        (7, f32::NAN),
        (7, f32::INFINITY),
        (3, 3e38),
        (3, 1e-38),
        (11, f32::NEG_INFINITY),
    ] {
        let mut x = numbers(15, 1.5);
        x[place] = special;
        let x = Argument::Tensor(tensor("3x5xf32", &x));
        let y = Argument::Tensor(tensor("5x4xf32", &numbers(20, 2.0)));
        let z = Argument::Tensor(tensor("3x4xf32", &numbers(12, 0.5)));
        let all = [x, y, z];
        let (plain, other) = (evaluated(&plain, &all), evaluated(&other, &all));
        assert_eq!(format!("{:?}", plain.values), format!("{:?}", other.values), "{special}");
        for (own, other) in plain.bounds.iter().zip(&other.bounds) {
            // What happens to be a number of the format is not rounded; that is seen only there.
            let is_near = own == other || *own >= *other && *own <= *other * 1.5;
            assert!(is_near, "{special}: {own:e} and {other:e}");
        }
    }
}

#[test]
fn what_an_argument_may_be_away_is_carried() {
    let dispatch = product("", "%a");
    let x = tensor("3x5xf32", &[1.0; 15]);
    let y = Argument::Tensor(tensor("5x4xf32", &[2.0; 20]));
    let z = Argument::Tensor(tensor("3x4xf32", &[0.0; 12]));
    let exact = evaluated(&dispatch, &[Argument::Tensor(x.clone()), y.clone(), z.clone()]);
    let mut bounds = vec![0.0; 15];
    bounds[6] = 0.125;
    let uncertain = Argument::Uncertain(x.clone(), bounds);
    let carried = evaluated(&dispatch, &[uncertain, y.clone(), z.clone()]);
    assert_eq!(carried.values, exact.values);
    for at in 0..12 {
        let more = carried.bounds[at] - exact.bounds[at];
        let wanted = if (4..8).contains(&at) { 0.25 } else { 0.0 };
        assert!((more - wanted).abs() < 1e-5, "{at}: {more}");
    }
    let unknown = Argument::Uncertain(x.clone(), vec![f64::NAN; 15]);
    assert_eq!(evaluated(&dispatch, &[unknown, y.clone(), z.clone()]).unstable(), 12);
    // What f32 cannot hold.
    let unrounded = Argument::Unrounded(x.clone(), vec![1.0 + 1e-12; 15]);
    let found = evaluated(&dispatch, &[unrounded, y.clone(), z.clone()]);
    assert!(floats(&found).iter().all(|it| (it - 10.0 - 1e-11).abs() < 1e-14), "{found:?}");
    let short = Argument::Uncertain(x, vec![0.0; 3]);
    let refused = dispatch.evaluate(&[short, y, z], &Settings::default());
    assert!(refused.unwrap_err().to_string().contains("3 numbers for 15 elements"));
}

#[test]
fn tests_of_floats_are_of_their_format_and_of_all_that_a_number_may_be() {
    let test = |name: &str, values: &[f32], bounds: &[f64]| {
        let count = values.len();
        let text = format!(
            "func.func @f(%x: tensor<{count}xf32>) -> tensor<{count}xi1> {{
  %r = {name} %x : tensor<{count}xf32>
  return %r : tensor<{count}xi1>
}}
"
        );
        let dispatch = Dispatch::parse(&text, "f").expect("it is read");
        let x = tensor(&format!("{count}xf32"), values);
        let output = evaluated(&dispatch, &[Argument::Uncertain(x, bounds.to_vec())]);
        let Elements::Integers(values) = output.values else { panic!("truths") };
        let certain = output.bounds.iter().map(|bound| *bound == 0.0);
        values.iter().map(|it| *it != 0).zip(certain).collect::<Vec<_>>()
    };
    let (yes, no) = ((true, true), (false, true));
    let normal = [1.0, 1e-39, 0.0, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE];
    assert_eq!(test("math.isnormal", &normal, &[0.0; 6]), [yes, no, no, no, no, yes]);
    let near = [2e-38, 2e-38, 1e-39];
    let expected = [yes, (true, false), (false, false)];
    assert_eq!(test("math.isnormal", &near, &[1e-39, 1e-38, 1e-37]), expected);
    let finite = [1.0, 3e38, 3e38, f32::INFINITY];
    let expected = [yes, yes, (true, false), no];
    assert_eq!(test("math.isfinite", &finite, &[0.0, 1e37, 1e38, 0.0]), expected);
}
