//! Dispatches as functions: what becomes of loads, stores and numbers.

use super::function::{ArgumentOrigin, DispatchFunction, Shapes};
use super::no_function::NoFunction;

#[rustfmt::skip] // text as the compiler prints it
const SOURCES: &str = r#"
#map = affine_map<(d0) -> (d0)>
#other = affine_map<(d0) -> (d0)>
#loc1 = loc("a.mlir":1:2)
#loc2 = loc(callsite(#loc1 at #loc1))
module {
  hal.executable private @e {
    hal.executable.variant public @v target(<"vmvx", "vmvx-bytecode-fb">) {
      hal.executable.export public @"a-b" ordinal(0)
      builtin.module {
        func.func @"a-b"() {
          %c32_i64 = arith.constant 32 : i64
          %cst = arith.constant dense<[1, 2]> : tensor<2xi32> loc(#loc2)
          %c0 = arith.constant 0 : index
          %0 = hal.interface.constant.load layout(<x>) ordinal(0) : i32
          %1 = hal.interface.constant.load layout(<x>) ordinal(1) : i32
          %2 = arith.extui %0 : i32 to i64
          %3 = arith.extui %1 : i32 to i64
          %4 = arith.shli %3, %c32_i64 : i64
          %5 = arith.ori %2, %4 : i64
          %6 = arith.index_castui %5 : i64 to index
          %7 = util.assume.int
              %6<umin = 0>
            : index
          %8 = iree_tensor_ext.dispatch.workload.ordinal %7, 0 : index
          %9 = hal.interface.binding.subspan layout(<x>) binding(0) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?xi32>>{%8}
          %10 = hal.interface.binding.subspan layout(<x>) binding(1) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xi32>>
          %11 = iree_tensor_ext.dispatch.tensor.load %9, offsets = [1], sizes = [2], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?xi32>>{%8} -> tensor<2xi32>
          %12 = iree_tensor_ext.dispatch.tensor.load %10, offsets = [0], sizes = [4], strides = [1] : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xi32>> -> tensor<4xi32>
          %13 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%12 : tensor<4xi32>) {
          ^bb0(%out: i32 loc("a.mlir":3:1)):
            linalg.yield %out : i32 loc(#loc1)
          } -> tensor<4xi32> loc(#loc2)
          iree_tensor_ext.dispatch.tensor.store %11, %10, offsets = [2], sizes = [2], strides = [1] : tensor<2xi32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xi32>>
          return
        }
      }
    }
  }
}
"#;

fn of(shapes: Shapes) -> DispatchFunction {
    DispatchFunction::of(SOURCES, "a-b", &[5, 0], shapes).expect("a function")
}

#[test]
fn numbers_become_constants() {
    let function = of(Shapes::Filled);
    let expected = "\
func.func @a_b(%operand0: tensor<5xi32>, %operand1: tensor<4xi32>) -> (tensor<4xi32>) {
  %all = flow.dispatch.region -> (tensor<4xi32>) {
    %cst = arith.constant dense<[1, 2]> : tensor<2xi32> loc(#loc2)
    %operand0_sized = tensor.cast %operand0 : tensor<5xi32> to tensor<?xi32>
    %11 = tensor.extract_slice %operand0_sized[1] [2] [1] : tensor<?xi32> to tensor<2xi32>
    %13 = linalg.generic {indexing_maps = [#map], iterator_types = [\"parallel\"]} \
outs(%operand1 : tensor<4xi32>) {
    ^bb0(%out: i32):
      linalg.yield %out : i32 loc(#loc1)
    } -> tensor<4xi32> loc(#loc2)
    %stored6 = tensor.insert_slice %11 into %operand1[2] [2] [1] : tensor<2xi32> into tensor<4xi32>
    flow.return %stored6 : tensor<4xi32>
  }
  return %all : tensor<4xi32>
}
";
    let numbered = |text: &str| {
        let parts: Vec<&str> = text.split("%stored").collect();
        let rest = parts.iter().map(|it| it.trim_start_matches(|it: char| it.is_ascii_digit()));
        rest.collect::<Vec<_>>().join("%stored")
    };
    assert_eq!(numbered(&function.text()), numbered(expected));
    // Those that it uses, with those that these use, and no others.
    let names: Vec<&str> = function.aliases.iter().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(names, ["#map", "#loc1", "#loc2"]);
}

#[test]
fn numbers_become_arguments() {
    let function = of(Shapes::Kept);
    let origins: Vec<ArgumentOrigin> = function.arguments.iter().map(|it| it.origin).collect();
    let (operand, number) = (ArgumentOrigin::Operand, ArgumentOrigin::Number);
    assert_eq!(origins, [operand(0), operand(1), number(0), number(1)]);
    let text = function.text();
    assert!(text.contains("%operand0: tensor<?xi32>"), "{text}");
    assert!(text.contains("    %11 = tensor.extract_slice %operand0[1] [2] [1]"), "{text}");
    // Nothing uses the size, so that nothing computes it.
    assert!(function.before.is_empty(), "{text}");
}

#[test]
fn what_cannot_be_written_says_why() {
    let error = |from: &str, to: &str| {
        let sources = SOURCES.replace(from, to);
        let made = DispatchFunction::of(&sources, "a-b", &[5, 0], Shapes::Filled);
        made.expect_err("a reason").to_string()
    };
    assert!(error("tensor<?xi32>>{%8}", "tensor<?xi32, #e>>{%8}").contains("has an encoding"));
    assert!(error("@\"a-b\"", "@\"b\"").contains("do not have @a-b"));
    assert!(error("dense<[1, 2]>", "dense_resource<__elided__>").contains("left out"));
    assert!(error("arith.constant dense", "hal.interface.x dense").contains("hal.interface.x"));
    let few = DispatchFunction::of(SOURCES, "a-b", &[], Shapes::Filled).expect_err("a reason");
    assert!(matches!(few, NoFunction::TooFewNumbers | NoFunction::ShapeNotKnown { .. }), "{few}");
}
