//! Which elements an element is made of, against brute force: an element of an argument is changed,
//! and the result changes where it was said to be a part of it, and nowhere else.

use abi::tensor::{Tensor, TensorType};
use reference::{Argument, Dispatch, Elements, Settings};

/// The types of the arguments, the type of the result, and what makes it of `%0`, `%1` ….
const FUNCTIONS: &[(&str, &[&str], &str, &str)] = &[
    (
        "a product of matrices, added to a tensor",
        &["3x5xf32", "5x4xf32", "3x4xf32"],
        "3x4xf32",
        "%r = linalg.matmul ins(%0, %1 : tensor<3x5xf32>, tensor<5x4xf32>) \
         outs(%2 : tensor<3x4xf32>) -> tensor<3x4xf32>",
    ),
    (
        "a convolution with strides",
        &["1x2x7x7xf32", "3x2x3x3xf32", "1x3x3x3xf32"],
        "1x3x3x3xf32",
        "%r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} \
         ins(%0, %1 : tensor<1x2x7x7xf32>, tensor<3x2x3x3xf32>) \
         outs(%2 : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>",
    ),
    (
        "a bias for each row, of a transposed tensor",
        &["4x3xf32", "3xf32", "3x4xf32"],
        "3x4xf32",
        "%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, \
         affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], \
         iterator_types = [\"parallel\", \"parallel\"]} \
         ins(%0, %1 : tensor<4x3xf32>, tensor<3xf32>) outs(%2 : tensor<3x4xf32>) {\n\
         ^bb0(%a: f32, %b: f32, %o: f32):\n%s = arith.addf %a, %b : f32\n\
         %e = math.exp %s : f32\nlinalg.yield %e : f32\n} -> tensor<3x4xf32>",
    ),
    (
        "a sum along the second axis",
        &["3x5x2xf32", "3x2xf32"],
        "3x2xf32",
        "%r = linalg.reduce ins(%0 : tensor<3x5x2xf32>) outs(%1 : tensor<3x2xf32>) \
         dimensions = [1] (%a: f32, %o: f32) {\n%s = arith.addf %a, %o : f32\n\
         linalg.yield %s : f32\n}",
    ),
    (
        "scalar operations on tensors",
        &["6xf32", "6xf32"],
        "6xf32",
        "%r = arith.divf %0, %1 : tensor<6xf32>",
    ),
    (
        "a part of a tensor, with steps",
        &["5x6xf32"],
        "2x3xf32",
        "%r = tensor.extract_slice %0[1, 0] [2, 3] [2, 2] : tensor<5x6xf32> to tensor<2x3xf32>",
    ),
    (
        "a part that is put into a tensor",
        &["2x2xf32", "4x4xf32"],
        "4x4xf32",
        "%r = tensor.insert_slice %0 into %1[1, 2] [2, 2] [1, 1] \
         : tensor<2x2xf32> into tensor<4x4xf32>",
    ),
    (
        "tensors side by side",
        &["2x3xf32", "2x1xf32"],
        "2x4xf32",
        "%r = tensor.concat dim(1) %0, %1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>",
    ),
    (
        "padding around a tensor",
        &["2x3xf32"],
        "4x4xf32",
        "%c = arith.constant 0.5 : f32\n%r = tensor.pad %0 low[1, 0] high[1, 1] {\n\
         ^bb0(%i: index, %j: index):\ntensor.yield %c : f32\n} \
         : tensor<2x3xf32> to tensor<4x4xf32>",
    ),
    (
        "another shape",
        &["2x6xf32"],
        "12xf32",
        "%r = tensor.collapse_shape %0 [[0, 1]] : tensor<2x6xf32> into tensor<12xf32>",
    ),
    (
        "a softmax of rows",
        &["3x4xf32", "3x4xf32"],
        "3x4xf32",
        "%r = linalg.softmax dimension(1) ins(%0 : tensor<3x4xf32>) outs(%1 : tensor<3x4xf32>) \
         -> tensor<3x4xf32>",
    ),
];

fn function(arguments: &[&str], result: &str, body: &str) -> Dispatch {
    let heads = arguments.iter().enumerate().map(|(at, it)| format!("%{at}: tensor<{it}>"));
    let heads = heads.collect::<Vec<_>>().join(", ");
    let text = format!(
        "func.func @f({heads}) -> tensor<{result}> {{\n{body}\nreturn %r : tensor<{result}>\n}}\n"
    );
    Dispatch::parse(&text, "f").unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Numbers without a pattern, none of which is another's.
fn numbers(tensor_type: &str, seed: usize) -> Tensor {
    let TensorType { shape, element_type } = TensorType::parse(tensor_type).unwrap();
    let count = shape.iter().product::<u64>() as usize;
    let number = |at: usize| ((at + seed) * 7919 % 997) as f32 / 400.0 - 1.2;
    let bytes = (0..count).flat_map(|at| number(at).to_le_bytes()).collect();
    Tensor { shape, element_type, bytes }
}

fn evaluated(function: &Dispatch, arguments: &[Tensor]) -> Vec<f64> {
    let arguments: Vec<_> = arguments.iter().cloned().map(Argument::Tensor).collect();
    let output = function.evaluate(&arguments, &Settings::default()).unwrap().remove(0);
    match output.values {
        Elements::Floats(values) => values,
        Elements::Integers(_) => panic!("floats"),
    }
}

#[test]
fn an_element_changes_with_those_that_it_is_made_of() {
    let settings = Settings { with_bounds: false, ..Settings::default() };
    for (what, types, result, body) in FUNCTIONS {
        let function = function(types, result, body);
        let arguments: Vec<_> =
            types.iter().enumerate().map(|(at, it)| numbers(it, 31 * at)).collect();
        let before = evaluated(&function, &arguments);
        let given: Vec<_> = arguments.iter().cloned().map(Argument::Tensor).collect();
        let made: Vec<_> = (0..before.len())
            .map(|element| function.origins(&given, &settings, 0, element).unwrap())
            .collect();
        for (argument, tensor) in arguments.iter().enumerate() {
            for at in 0..tensor.bytes.len() / 4 {
                let mut changed = arguments.clone();
                changed[argument].bytes[4 * at..4 * at + 4]
                    .copy_from_slice(&3.25_f32.to_le_bytes());
                let after = evaluated(&function, &changed);
                for (element, terms) in made.iter().enumerate() {
                    let is_part = terms.iter().any(|it| it.reads.contains(&(argument, at)));
                    assert_eq!(
                        after[element] != before[element],
                        is_part,
                        "{what}: element {at} of argument {argument} in element {element}"
                    );
                }
            }
        }
        for (element, terms) in made.iter().enumerate() {
            let values: Option<Vec<f64>> = terms.iter().map(|it| it.value).collect();
            let Some(values) = values.filter(|it| !it.is_empty()) else { continue };
            let sum: f64 = values.iter().sum();
            assert!((sum - before[element]).abs() < 1e-9, "{what}: {sum} {}", before[element]);
        }
    }
}

#[test]
fn the_terms_of_a_sum_are_told() {
    let (_, types, result, body) = FUNCTIONS[0];
    let function = function(types, result, body);
    let arguments = types.iter().map(|it| Argument::Tensor(numbers(it, 5))).collect::<Vec<_>>();
    let terms = function.origins(&arguments, &Settings::default(), 0, 6).unwrap();
    // The tensor that it is added to, and the products.
    assert_eq!(terms.len(), 6);
    assert_eq!(terms[0].reads, [(2, 6)]);
    assert_eq!(terms[3].reads, [(0, 5 + 2), (1, 2 * 4 + 2)]);
    assert!(terms.iter().all(|it| it.value.is_some()));
}

#[test]
fn a_square_is_made_of_one_element() {
    let body = "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, \
                affine_map<(i) -> ()>], iterator_types = [\"reduction\"]} \
                ins(%0, %0 : tensor<4xf32>, tensor<4xf32>) outs(%1 : tensor<f32>) {\n\
                ^bb0(%a: f32, %b: f32, %o: f32):\n%p = arith.mulf %a, %b : f32\n\
                %s = arith.addf %p, %o : f32\nlinalg.yield %s : f32\n} -> tensor<f32>";
    let function = function(&["4xf32", "f32"], "f32", body);
    let arguments = ["4xf32", "f32"].map(|it| Argument::Tensor(numbers(it, 5)));
    let terms = function.origins(&arguments, &Settings::default(), 0, 0).unwrap();
    let reads: Vec<_> = terms.iter().map(|it| it.reads.as_slice()).collect();
    assert_eq!(reads, [&[(1, 0)][..], &[(0, 0)], &[(0, 1)], &[(0, 2)], &[(0, 3)]]);
}

#[test]
fn what_is_not_followed_is_refused() {
    let body = "%r = tensor.generate {\n^bb0(%i: index):\n%e = tensor.extract %0[%i] : tensor<4xf32>\n\
                tensor.yield %e : f32\n} : tensor<4xf32>";
    let function = function(&["4xf32"], "4xf32", body);
    let arguments = [Argument::Tensor(numbers("4xf32", 5))];
    let error = function.origins(&arguments, &Settings::default(), 0, 1).unwrap_err();
    assert!(error.to_string().contains("not followed"), "{error}");
    assert!(function.origins(&arguments, &Settings::default(), 1, 1).is_err());
}
