//! Reading dispatches from text as iree-compile prints it.

use super::{
    AxisRange, DispatchInterface, DispatchInterfaces, DispatchOperand, OperandAccess, OperandReads,
};
use crate::mlir_text::NamedPosition;

#[rustfmt::skip] // text as the compiler prints it
const TEXT: &str = r#"
hal.executable private @e {
  hal.executable.variant public @v target(<"vmvx", "vmvx-bytecode-fb">) {
    builtin.module {
      func.func @static() {
        %0 = hal.interface.constant.load layout(<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>) ordinal(1) : i32
        %2 = arith.index_castui %0 : i32 to index
        %4:2 = util.assume.int
            %2[<umin = 64, umax = 128, udiv = 64>, <umin = 64, umax = 64>],
            %2<umin = 0>
          : index, index
        %5 = hal.interface.binding.subspan layout(<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>) binding(0) alignment(64) offset(%4#1) flags("ReadOnly|Indirect") : !iree_tensor_ext.dispatch.tensor<readonly:tensor<12x64xf32>>
        %6 = hal.interface.binding.subspan layout(<bindings = []>) binding(3) alignment(64) flags(Indirect) : !iree_tensor_ext.dispatch.tensor<writeonly:tensor<complex<f32>>>
        %7 = hal.interface.binding.subspan layout(<bindings = []>) binding(1) : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<8x8xf32, #encoding>>
        %8 = linalg.generic {iterator_types = ["parallel"]} ins(%5 : tensor<12x64xf32>) outs(%5 : tensor<12x64xf32>) {
        ^bb0(%in: f32 loc("a.mlir":90:1), %out: f32 loc("a.mlir":91:1)):
          %9 = arith.addf %in, %in : f32 loc(callsite("a.mlir":8:10 at "a.mlir":20:3))
          linalg.yield %9 : f32 loc("a.mlir":9:5)
        } -> tensor<12x64xf32> loc(fused["a.mlir":7:8, "b.mlir":1:1])
        iree_tensor_ext.dispatch.tensor.store %8, %6, offsets = [0] : tensor<12x64xf32> -> x loc("a.mlir":30:1)
        return loc("a.mlir":31:1)
      } loc("a.mlir":32:1)
      func.func @dynamic() attributes {x} {
        %c32_i64 = arith.constant 32 : i64
        %0 = hal.interface.constant.load[0] : i32
        %1 = hal.interface.constant.load[1] : i32
        %2 = arith.extui %0 : i32 to i64
        %3 = arith.extui %1 : i32 to i64
        %4 = arith.shli %3, %c32_i64 : i64
        %5 = arith.ori %2, %4 : i64
        %6 = arith.index_castui %5 {stream.values = [1 : i64]} : i64 to index
        %7 = flow.dispatch.workload.ordinal %6, 0 : index
        %8 = hal.interface.binding.subspan set(0) binding(1) type(storage_buffer) alignment(64) offset(%unknown) : !flow.dispatch.tensor<readonly:tensor<4xf32>>
        %9 = hal.interface.binding.subspan set(0) binding(2) type(storage_buffer) alignment(64) : !flow.dispatch.tensor<readwrite:tensor<?x3xbf16>>{%7}
        return
      }
    }
  }
}
"#;

fn operand(
    binding: usize,
    offset: u64,
    tensor_type: &str,
    access: OperandAccess,
) -> DispatchOperand {
    DispatchOperand { binding, offset, tensor_type: tensor_type.to_owned(), access }
}

#[test]
fn tensors_are_placed_by_the_numbers_that_a_dispatch_is_given() {
    let interfaces = DispatchInterfaces::parse(TEXT);
    let of = |name: &str, constants: &[u32]| {
        interfaces.of(name).map(|it| it.operands(constants)).unwrap_or_default()
    };
    let (read, write) = (OperandAccess::Read, OperandAccess::Write);
    assert_eq!(
        of("static", &[7, 128]),
        [operand(0, 128, "12x64xf32", read), operand(3, 0, "complex<f32>", write)]
    );
    // Tensors at unknown offsets are left out, the others are not.
    assert_eq!(of("static", &[]), [operand(3, 0, "complex<f32>", write)]);
    assert_eq!(
        of("dynamic", &[5, 1]),
        [operand(2, 0, "4294967301x3xbf16", OperandAccess::ReadWrite)]
    );
    assert!(of("other", &[]).is_empty());
}

#[test]
fn lines_are_those_that_a_dispatch_computes() {
    let interfaces = DispatchInterfaces::parse(TEXT);
    let on = |file, line| interfaces.on_line(file, line).count();
    assert_eq!([7, 8, 9].map(|line| on("a.mlir", line)), [1; 3]);
    assert_eq!([20, 30, 31, 32, 90, 91].map(|line| on("a.mlir", line)), [0; 6]);
    assert_eq!(on("b.mlir", 7), 0);
    let position = interfaces.of("static").and_then(DispatchInterface::position);
    let expected = NamedPosition { file: "a.mlir".to_owned(), line: 7, column: 8 };
    assert_eq!(position, Some(&expected));
}

#[test]
fn names_may_be_quoted() {
    for (symbol, name) in [
        ("@my_model", "my_model"),
        ("@\"my-model\"", "my-model"),
        (
            "@\"Model from PaddlePaddle.$async_dispatch_0\"",
            "Model from PaddlePaddle.$async_dispatch_0",
        ),
        ("@\"a \\\"b\\\\\"", "a \"b\\"),
        ("private @\"x(y\"", "x(y"),
    ] {
        let text = format!(
            "func.func {symbol}() {{\n%0 = hal.interface.binding.subspan layout(<x>) binding(0) : \
             !flow.dispatch.tensor<readonly:tensor<4xf32>> loc(\"a.mlir\":1:2)\n\
             %1 = math.exp %0 : f32 loc(\"a.mlir\":3:4)\nreturn\n}}\n"
        );
        let interfaces = DispatchInterfaces::parse(&text);
        assert_eq!(interfaces.names().collect::<Vec<_>>(), [name], "{symbol}");
        assert_eq!(interfaces.of(name).map(|it| it.operands(&[]).len()), Some(1));
        assert_eq!(interfaces.on_line("a.mlir", 3).collect::<Vec<_>>(), [name]);
    }
}

#[test]
fn what_others_share_is_no_work() {
    let text = |stored| {
        format!(
            "func.func @f() {{\n%0 = hal.interface.binding.subspan layout(<x>) binding(0) : \
             !flow.dispatch.tensor<readonly:tensor<4xf32>>\n\
             %1 = tensor.empty() : tensor<4xf32> loc(\"a.mlir\":1:1)\n\
             %2 = linalg.fill ins(%x : f32) outs(%1 : x) -> x loc(\"a.mlir\":2:1)\n\
             %3 = linalg.matmul ins(%0 : x) outs(%2 : x) -> x loc(\"a.mlir\":3:1)\n\
             %4 = linalg.generic {{k}} ins(%3 : x) outs(%1 : x) {{\n^bb0(%in: f32):\n\
             linalg.yield %in : f32 loc(\"a.mlir\":5:1)\n}} -> x loc(\"a.mlir\":4:1)\n\
             iree_tensor_ext.dispatch.tensor.store %{stored}, %0 : x -> y loc(\"a.mlir\":9:1)\n\
             return\n}}\n"
        )
    };
    let on = |stored| -> (Vec<u32>, Option<u32>) {
        let interfaces = DispatchInterfaces::parse(&text(stored));
        let lines = (1..10).filter(|line| interfaces.on_line("a.mlir", *line).count() > 0);
        let result = interfaces.of("f").and_then(|it| it.position()).map(|at| at.line);
        (lines.collect(), result)
    };
    assert_eq!(on(4), (vec![3, 4, 5], Some(4)));
    // The fill is work if the dispatch stores its result.
    assert_eq!(on(2), (vec![2, 3, 4, 5], Some(2)));
}

#[test]
fn what_only_fetches_a_buffer_is_at_no_place_of_the_dispatch() {
    let text = "func.func @f() {\n\
        %c64 = arith.constant 64 : index loc(\"a.mlir\":1:1)\n\
        %cst = arith.constant 0.0 : f32 loc(\"a.mlir\":2:1)\n\
        %0 = hal.interface.binding.subspan layout(<x>) binding(0) offset(%c64) : \
        !flow.dispatch.tensor<readonly:tensor<4xf32>> loc(\"a.mlir\":1:1)\n\
        %1 = tensor.empty() : tensor<4xf32> loc(\"a.mlir\":3:1)\n\
        %2 = linalg.fill ins(%cst : f32) outs(%1 : x) -> x loc(\"a.mlir\":4:1)\n\
        return loc(\"a.mlir\":4:1)\n}\n";
    let interfaces = DispatchInterfaces::parse(text);
    let has = |line| {
        let at = NamedPosition { file: "a.mlir".to_owned(), line, column: 1 };
        interfaces.of("f").is_some_and(|it| it.has_place(&at))
    };
    assert_eq!([1, 2, 3, 4].map(has), [false, true, false, true]);
}

#[test]
fn other_text_is_passed_over() {
    for text in ["", "%", "%4:99999999999 = x", "func.func", "func.func @", "%a = b\n%c\n: d"] {
        assert!(DispatchInterfaces::parse(text).is_empty(), "{text}");
    }
}

#[rustfmt::skip] // text as the compiler prints it
const SLICES: &str = r#"
func.func @slices() {
  %c0 = arith.constant 0 : index
  %0 = hal.interface.constant.load layout(<constants = 1>) ordinal(0) : i32
  %1 = arith.index_castui %0 : i32 to index
  %2 = hal.interface.binding.subspan layout(<bindings = []>) binding(0) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x8xf32>>
  %3 = hal.interface.binding.subspan layout(<bindings = []>) binding(1) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4x7x8xf32>>
  %4 = hal.interface.binding.subspan layout(<bindings = []>) binding(2) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>>
  %5 = hal.interface.binding.subspan layout(<bindings = []>) binding(3) offset(%c0) : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>>
  %6 = iree_tensor_ext.dispatch.tensor.load %2, offsets = [0, %1], sizes = [4, 2], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x8xf32>> -> tensor<4x2xf32>
  %7 = iree_tensor_ext.dispatch.tensor.load %4, offsets = [%9], sizes = [1], strides = [1] : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>> -> tensor<1xf32>
  %8 = some.cast %5 : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>> to memref<4xf32>
  iree_tensor_ext.dispatch.tensor.store %6, %3, offsets = [0, 6, 0], sizes = [4, 1, 8], strides = [1, 1, 1] : tensor<4x8xf32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4x7x8xf32>>
  return
}
"#;

#[test]
fn a_dispatch_reads_what_its_text_loads() {
    let interfaces = DispatchInterfaces::parse(SLICES);
    let interface = interfaces.of("slices").expect("is there");
    let axis = |start, count| AxisRange { start, count, step: 1 };
    let nothing = OperandReads::Parts(Vec::new());
    let loaded = OperandReads::Parts(vec![vec![axis(0, 4), axis(3, 2)]]);
    assert_eq!(interface.reads(&[3]), [loaded, nothing.clone(), nothing, OperandReads::Any]);
    assert!(!interface.indexes_by_data());
}
