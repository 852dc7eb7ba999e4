//! Results and bounds are the same bits, however many threads compute them, and sums are those of
//! plain loops.

use abi::tensor::Tensor;

use crate::dispatch::{Argument, Dispatch, Elements, Output, Settings};
use crate::refusal::Result;

const MATMUL: &str = "
func.func @it(%a: tensor<65x96xf32>, %b: tensor<96x150xf32>, %c: tensor<65x150xf32>)
    -> tensor<65x150xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<65x96xf32>, tensor<96x150xf32>)
      outs(%c : tensor<65x150xf32>) -> tensor<65x150xf32>
  return %0 : tensor<65x150xf32>
}
";

const CONVOLUTION: &str = "
func.func @it(%a: tensor<1x7x21x23xf32>, %b: tensor<13x7x3x3xf32>, %c: tensor<1x13x10x11xf32>)
    -> tensor<1x13x10x11xf32> {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>,
      strides = dense<2> : tensor<2xi64>}
      ins(%a, %b : tensor<1x7x21x23xf32>, tensor<13x7x3x3xf32>)
      outs(%c : tensor<1x13x10x11xf32>) -> tensor<1x13x10x11xf32>
  return %0 : tensor<1x13x10x11xf32>
}
";

/// The loop of the lanes is the one that is shared.
const ELEMENTS: &str = "
func.func @it(%a: tensor<70001xf32>, %b: tensor<70001xf32>) -> tensor<70001xf32> {
  %e = tensor.empty() : tensor<70001xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]}
      ins(%a, %b : tensor<70001xf32>, tensor<70001xf32>) outs(%e : tensor<70001xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = math.exp %x : f32
    %2 = arith.divf %1, %y : f32
    %3 = linalg.index 0 : index
    %4 = arith.index_cast %3 : index to i32
    %5 = arith.sitofp %4 : i32 to f32
    %6 = arith.addf %2, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<70001xf32>
  return %0 : tensor<70001xf32>
}
";

/// Only some threads come to what is not defined.
const DIVIDED: &str = "
func.func @it(%a: tensor<300x300xi32>, %b: tensor<300x300xi32>) -> tensor<300x300xi32> {
  %e = tensor.empty() : tensor<300x300xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
      affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = [\"parallel\", \"parallel\"]}
      ins(%a, %b : tensor<300x300xi32>, tensor<300x300xi32>) outs(%e : tensor<300x300xi32>) {
  ^bb0(%x: i32, %y: i32, %z: i32):
    %1 = arith.divsi %x, %y : i32
    %2 = arith.addi %1, %x : i32
    %3 = arith.muli %2, %x : i32
    linalg.yield %3 : i32
  } -> tensor<300x300xi32>
  return %0 : tensor<300x300xi32>
}
";

/// Numbers that look random; some of them are special if there are any.
fn floats(shape: &[u64], mut seed: u64, specials: &[f32]) -> Argument {
    let count: u64 = shape.iter().product();
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 40
    };
    let numbers = (0..count).map(|_| match specials.get(next() as usize % 4000) {
        Some(special) => *special,
        None => next() as f32 / 8_388_608.0 - 1.0,
    });
    let bytes = numbers.flat_map(f32::to_le_bytes).collect();
    Argument::Tensor(Tensor { shape: shape.to_vec(), element_type: "f32".parse().unwrap(), bytes })
}

fn integers(shape: &[u64], of: impl Fn(u64) -> i32) -> Argument {
    let bytes = (0..shape.iter().product()).flat_map(|at| of(at).to_le_bytes()).collect();
    Argument::Tensor(Tensor { shape: shape.to_vec(), element_type: "i32".parse().unwrap(), bytes })
}

fn evaluate(
    text: &str,
    arguments: &[Argument],
    with_bounds: bool,
    threads: usize,
) -> Result<Vec<Output>> {
    let dispatch = Dispatch::parse(text, "it").unwrap();
    let settings = Settings { with_bounds, ..Settings::default() };
    let mut evaluator = dispatch.given(arguments, &settings)?;
    evaluator.threads = threads;
    let returned = evaluator.run()?;
    dispatch.outputs(&mut evaluator, returned)
}

type Bits = (Vec<u64>, Vec<u64>);

fn bits(found: Result<Vec<Output>>) -> std::result::Result<Vec<Bits>, String> {
    let of = |it: &Output| {
        let values = match &it.values {
            Elements::Floats(values) => values.iter().map(|it| it.to_bits()).collect(),
            Elements::Integers(values) => values.iter().map(|it| it.cast_unsigned()).collect(),
        };
        (values, it.bounds.iter().map(|it| it.to_bits()).collect())
    };
    found.map(|it| it.iter().map(of).collect()).map_err(|it| format!("{it:?}"))
}

/// The bits, which do not depend on the number of threads.
fn same_bits(
    text: &str,
    arguments: &[Argument],
    with_bounds: bool,
) -> std::result::Result<Vec<Bits>, String> {
    let alone = bits(evaluate(text, arguments, with_bounds, 1));
    for threads in [2, 3, 7, 64] {
        let shared = bits(evaluate(text, arguments, with_bounds, threads));
        assert!(shared == alone, "{threads} threads, bounds {with_bounds}");
    }
    alone
}

const SPECIALS: &[f32] = &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 3e38, 1e-45];

#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    for specials in [&[], SPECIALS] {
        let of = |shapes: &[&[u64]]| -> Vec<Argument> {
            let seeded = shapes.iter().zip(1..);
            seeded.map(|(shape, seed)| floats(shape, seed, specials)).collect()
        };
        for with_bounds in [true, false] {
            let matmul = of(&[&[65, 96], &[96, 150], &[65, 150]]);
            same_bits(MATMUL, &matmul, with_bounds).unwrap();
            let convolution = of(&[&[1, 7, 21, 23], &[13, 7, 3, 3], &[1, 13, 10, 11]]);
            same_bits(CONVOLUTION, &convolution, with_bounds).unwrap();
            same_bits(ELEMENTS, &of(&[&[70001], &[70001]]), with_bounds).unwrap();
        }
    }
}

#[test]
fn the_first_that_is_undefined_is_said() {
    let a = integers(&[300, 300], |at| at as i32);
    let divisors = |zero: u64| integers(&[300, 300], move |at| i32::from(at < zero) * 3);
    same_bits(DIVIDED, &[a.clone(), divisors(90_000)], true).unwrap();
    same_bits(DIVIDED, &[a, divisors(80_000)], true).unwrap_err();
}

/// What is added up in one go is added in the order of the loops.
#[test]
fn sums_are_those_of_plain_loops() {
    let numbers = |argument: &Argument| -> Vec<f64> {
        let Argument::Tensor(tensor) = argument else { panic!("a tensor") };
        tensor.element_type.float_values(&tensor.bytes).unwrap()
    };
    let all = [
        floats(&[1, 7, 21, 23], 5, &[]),
        floats(&[13, 7, 3, 3], 6, &[]),
        floats(&[1, 13, 10, 11], 7, &[]),
    ];
    let [image, filter, mut sums] = all.each_ref().map(numbers);
    let mut magnitudes: Vec<f64> = sums.iter().map(|it| it.abs()).collect();
    for (at, (sum, magnitude)) in sums.iter_mut().zip(&mut magnitudes).enumerate() {
        let (f, y, x) = (at / 110, at / 11 % 10, at % 11);
        for (c, (i, j)) in (0..7).flat_map(|c| (0..9).map(move |k| (c, (k / 3, k % 3)))) {
            let pixel = image[(c * 21 + 2 * y + i) * 23 + 2 * x + j];
            let product = pixel * filter[((f * 7 + c) * 3 + i) * 3 + j];
            *sum += product;
            *magnitude += product.abs();
        }
    }
    let found = evaluate(CONVOLUTION, &all, true, 2).unwrap();
    let Elements::Floats(values) = &found[0].values else { panic!("floats") };
    assert!(*values == sums);
    for ((bound, magnitude), sum) in found[0].bounds.iter().zip(&magnitudes).zip(&sums) {
        // An addition for each of the 63 products, and their own roundings.
        let least = magnitude * 63.0 * f64::from(f32::EPSILON) / 2.0;
        assert!((least..least * 1.1).contains(bound), "{sum} ± {bound}");
    }
}
