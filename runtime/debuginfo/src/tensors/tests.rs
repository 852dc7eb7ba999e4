//! Reading the program of tensors, and aligning it.

use std::sync::Arc;

use vmfb::{BytecodeOffset, FunctionOrdinal};

use super::*;
use crate::dispatches::DispatchInterfaces;
use crate::mlir_text::NamedPosition;
use crate::source::SourceText;

fn read(flow: &str) -> TensorProgram {
    let dispatches = DispatchInterfaces::default();
    let none = |_: &str| -> Option<Arc<SourceText>> { None };
    TensorProgram::parse(&TensorSources { flow, input: None, dispatches: &dispatches, file: &none })
}

#[rustfmt::skip] // text as the compiler prints it
const FLOW: &str = r##"#loc1 = loc("a.mlir":3:5)
#loc2 = loc("a.mlir":4:7)
#loc9 = loc(callsite(#loc2 at #loc1))
module @m {
  util.global private @w = dense<0.5> : tensor<4x?xf32> loc(#loc1)
  util.initializer {
    %0 = flow.dispatch @e0::@"first one"() : () -> tensor<4xf32> loc(#loc1)
    util.return loc(#loc1)
  } loc(#loc1)
  flow.executable private @e0 {
    builtin.module {
      func.func @"first one"(%arg0: index loc(#loc1), %arg1: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x?xf32>> loc("a.mlir":9:1), %arg2: !iree_tensor_ext.dispatch.tensor<readwrite:tensor<8xf32>> loc(#loc1), %arg3: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4x?xf32>> loc(#loc1)) {
        return loc(#loc1)
      } loc(#loc1)
    } loc(#loc1)
  } loc(#loc1)
  util.func public @main(%arg0: !hal.buffer_view loc("a.mlir":1:1), %arg1: index loc("a.mlir":1:9)) -> !hal.buffer_view {
    %c0 = arith.constant 0 : index loc(#loc1)
    %0 = hal.tensor.import %arg0 "input0" : !hal.buffer_view -> tensor<4x?xf32>{%arg1} loc(#loc1)
    %w = util.global.load immutable @w : tensor<4x?xf32> loc(#loc2)
    %1 = flow.tensor.splat %c0 : tensor<8xf32> loc(#loc2)
    %2:2 = scf.for %i = %c0 to %arg1 step %c0 iter_args(%a = %0, %b = %1) -> (tensor<4x?xf32>, tensor<8xf32>) {
      %5:2 = flow.dispatch @e0::@"first one"[%arg1](%arg1, %a, %b) : (index, tensor<4x?xf32>{%arg1}, tensor<8xf32>) -> (%b, tensor<4x?xf32>{%arg1}) loc(#loc9)
      scf.yield %5#1, %5#0 : tensor<4x?xf32>, tensor<8xf32> loc("a.mlir":7:1)
    } loc(#loc2)
    %3 = flow.tensor.reshape %2#0 : tensor<4x?xf32>{%arg1} -> tensor<?x4xf32>{%arg1} loc(#loc2)
    %4 = hal.tensor.export %3 "output0" : tensor<?x4xf32>{%arg1} -> !hal.buffer_view loc(#loc1)
    util.return %4 : !hal.buffer_view loc(#loc1)
  } loc(#loc1)
} loc(#loc)
"##;

#[test]
fn operations_have_kinds_operands_results_and_places() {
    let program = read(FLOW);
    let names: Vec<&str> = program.functions().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["", "main"]);
    let main = &program.functions()[1];
    let kinds: Vec<&TensorOperationKind> = main.operations.iter().map(|it| &it.kind).collect();
    assert_eq!(kinds[1], &TensorOperationKind::Import { argument: 0 });
    assert_eq!(kinds[2], &TensorOperationKind::GlobalLoad { symbol: "w".to_owned() });
    assert_eq!(kinds[3], &TensorOperationKind::Splat);
    assert_eq!(kinds[5], &TensorOperationKind::Dispatch { export: "first one".to_owned() });
    assert_eq!(kinds[7], &TensorOperationKind::Alias);
    assert_eq!(kinds[8], &TensorOperationKind::Export);
    let dispatch = &main.operations[5];
    let types = |values: &[TensorValueId]| -> Vec<String> {
        values.iter().map(|it| main.value(*it).tensor_type.clone()).collect()
    };
    assert_eq!(types(&dispatch.operands), ["index", "4x?xf32", "8xf32"]);
    assert_eq!(types(&dispatch.results), ["8xf32", "4x?xf32"]);
    assert_eq!(dispatch.tied, [Some(dispatch.operands[2]), None]);
    let at = |line, column| NamedPosition { file: "a.mlir".to_owned(), line, column };
    assert_eq!(dispatch.chains, [vec![at(4, 7), at(3, 5)]]);
    let region = main.region(dispatch.region).unwrap();
    assert!(region.is_loop && region.parent == Some(RegionId(0)));
    assert_eq!(region.arguments.len(), 3);
    assert_eq!(main.value(dispatch.results[0]).made_by.map(|it| it.index), Some(5));
    assert_eq!(types(&main.operations[7].results), ["?x4xf32"]);
    assert!(read("").functions().is_empty() && read("module {").functions().is_empty());
}

#[test]
fn tensors_of_an_interface_are_operands_then_results() {
    let program = read(FLOW);
    let subspan = |access, shape| {
        format!(
            "%0 = hal.interface.binding.subspan layout(<x>) binding(0) : \
             !flow.dispatch.tensor<{access}:tensor<{shape}>>\n"
        )
    };
    let interface = |second| {
        let text =
            ["readonly", second, "writeonly"].into_iter().zip(["4x5xf32", "8xf32", "4x5xf32"]);
        let text: String = text.map(|(access, shape)| subspan(access, shape)).collect();
        DispatchInterfaces::parse(&format!("func.func @\"first one\"() {{\n{text}return\n}}"))
    };
    let id = TensorOperationId { function: 1, index: 5 };
    let dispatch = program.operation(id).unwrap();
    let values = |second| program.interface_values(id, interface(second).of("first one").unwrap());
    let (operands, results) = (&dispatch.operands, &dispatch.results);
    let expected = [operands[1], results[0], results[1]].map(Some);
    assert_eq!(values("readwrite"), expected);
    // What does not fit has no values.
    assert_eq!(values("readonly"), [None; 3]);
}

#[test]
fn recordings_are_aligned_in_order() {
    let program = read(FLOW);
    let at = |line, column| NamedPosition { file: "a.mlir".to_owned(), line, column };
    let recorded = |function, offset, chain: &[NamedPosition]| RecordedDispatch {
        function: FunctionOrdinal::from_index(function),
        offset: BytecodeOffset(offset),
        chain: chain.to_vec(),
        export: None,
    };
    let in_main = recorded(0, 8, &[at(4, 7), at(3, 5)]);
    let in_init = recorded(3, 4, &[at(3, 5)]);
    let aligned = program.align(&[in_main.clone(), in_init.clone()]).unwrap();
    let functions: Vec<usize> = aligned.values().map(|it| it.function).collect();
    assert_eq!(functions, [1, 0]);
    // Several variants of each.
    let second =
        |it: &RecordedDispatch| RecordedDispatch { offset: BytecodeOffset(90), ..it.clone() };
    let both = [&in_main, &second(&in_main), &second(&in_init), &in_init].map(Clone::clone);
    assert_eq!(program.align(&both).unwrap().len(), 4);
    assert!(program.align(&both[..3]).is_err());
    let other = recorded(0, 8, &[at(4, 8)]);
    let error = program.align(&[other, in_init]).unwrap_err();
    assert_eq!(error, UnalignedProgram::Place { function: 0, offset: 8 });
}

/// The compiler makes one of several initializers, whose dispatches it records in another order.
#[test]
fn dispatches_of_initializers_are_aligned_in_any_order() {
    let first = "  util.initializer {\n    %0 = flow.dispatch @e0::@\"first one\"() : () -> \
                 tensor<4xf32> loc(#loc1)\n    util.return loc(#loc1)\n  } loc(#loc1)\n";
    let second = first.replace("first one", "second").replace("#loc1", "#loc2");
    let program = read(&FLOW.replace(first, &format!("{first}{second}")));
    let at = |line, column| vec![NamedPosition { file: "a.mlir".to_owned(), line, column }];
    let recorded = |offset, chain, export: &str| RecordedDispatch {
        function: FunctionOrdinal::from_index(3),
        offset: BytecodeOffset(offset),
        chain,
        export: Some(export.to_owned()),
    };
    let in_main = RecordedDispatch {
        function: FunctionOrdinal::from_index(0),
        ..recorded(8, [at(4, 7), at(3, 5)].concat(), "first one")
    };
    let own = [recorded(4, at(4, 7), "second"), recorded(9, at(3, 5), "first one")];
    let aligned = program.align(&[&own[..], std::slice::from_ref(&in_main)].concat()).unwrap();
    let functions: Vec<usize> = aligned.values().map(|it| it.function).collect();
    assert_eq!(functions, [2, 1, 0]);
    // Of two that are alike, nothing tells which is which.
    let alike = first.repeat(2);
    let program = read(&FLOW.replace(first, &alike));
    let own = [recorded(4, at(3, 5), "first one"), recorded(9, at(3, 5), "first one")];
    assert!(program.align(&[&own[..], std::slice::from_ref(&in_main)].concat()).is_err());
}

#[test]
fn dispatches_of_the_compiler_are_left_out() {
    let program = read(FLOW);
    let at = |line, column| NamedPosition { file: "a.mlir".to_owned(), line, column };
    let recorded = |function, offset, chain: &[NamedPosition], export: &str| RecordedDispatch {
        function: FunctionOrdinal::from_index(function),
        offset: BytecodeOffset(offset),
        chain: chain.to_vec(),
        export: Some(export.to_owned()),
    };
    let own = [
        recorded(0, 8, &[at(4, 7), at(3, 5)], "first one"),
        recorded(3, 4, &[at(3, 5)], "first one"),
    ];
    // In the middle, with the place of the dispatch that it was added for.
    let encoding = recorded(0, 4, &[at(4, 7), at(3, 5)], "_encoding_0_encode_4xf32_to_4xf32");
    let [main, init] = own.clone();
    let aligned = program.align(&[encoding.clone(), main, init]).unwrap();
    assert_eq!(aligned, program.align(&own).unwrap());
    // What the bytecode does not name may be any of them.
    let unnamed = RecordedDispatch { export: None, ..encoding };
    let [main, init] = own;
    assert!(program.align(&[unnamed, main, init]).is_err());
}

/// Dispatches that do not depend on each other, two of them with the same place and export.
const INDEPENDENT: &str = r#"module @m {
  util.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = flow.dispatch @e::@a(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":1:1)
    %1 = flow.dispatch @e::@b(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":2:1)
    %2 = flow.dispatch @e::@b(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":3:1)
    %3 = flow.dispatch @e::@c(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":4:1)
    %4 = flow.dispatch @e::@d(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":5:1)
    %5 = flow.dispatch @e::@d(%3, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":5:1)
    util.return %5 : tensor<4xf32> loc("a.mlir":6:1)
  }
}
"#;

/// Recordings of `INDEPENDENT` in an order: each its export and its line.
fn recorded_as(order: &[(&str, u32)]) -> Vec<RecordedDispatch> {
    let recorded = |(offset, (export, line)): (u32, &(&str, u32))| RecordedDispatch {
        function: FunctionOrdinal::from_index(0),
        offset: BytecodeOffset(offset),
        chain: vec![NamedPosition { file: "a.mlir".to_owned(), line: *line, column: 1 }],
        export: Some((*export).to_owned()),
    };
    (0..).zip(order).map(recorded).collect()
}

#[test]
fn dispatches_take_the_order_in_which_they_are_recorded() {
    let mut program = read(INDEPENDENT);
    let results = |program: &TensorProgram| -> Vec<u32> {
        program.dispatches().map(|(_, it)| it.results[0].0).collect()
    };
    let before = results(&program);
    let moved = recorded_as(&[("a", 1), ("b", 3), ("c", 4), ("b", 2), ("d", 5), ("d", 5)]);
    assert!(program.align(&moved).is_err());
    assert!(program.arrange(&moved));
    let aligned = program.align(&moved).unwrap();
    let expected: Vec<u32> = [0, 2, 3, 1, 4, 5].iter().map(|it| before[*it]).collect();
    assert_eq!(results(&program), expected);
    for id in aligned.values() {
        let result = program.operation(*id).unwrap().results[0];
        assert_eq!(program.functions()[id.function].value(result).made_by, Some(*id));
    }
    assert!(!program.arrange(&moved));
    stand_where_they_were(&program, &read(INDEPENDENT));
}

/// By what they make, operations are found where the text has them.
fn stand_where_they_were(arranged: &TensorProgram, text: &TensorProgram) {
    let (after, before) = (arranged.makers(), text.makers());
    assert_eq!(after.len(), before.len());
    for (value, id) in &after {
        let (now, then) =
            (arranged.operation(*id).unwrap(), text.operation(before[value]).unwrap());
        assert_eq!((&now.results, now.export()), (&then.results, then.export()));
    }
    assert_ne!(after, before, "some have moved");
}

#[test]
fn equal_dispatches_that_may_have_moved_are_not_arranged() {
    let mut program = read(INDEPENDENT);
    let moved = recorded_as(&[("a", 1), ("b", 2), ("b", 3), ("d", 5), ("d", 5), ("c", 4)]);
    assert!(!program.arrange(&moved));
    assert!(program.align(&moved).is_err());
}

/// A dispatch after a loop, which may depend on it.
fn beside_a_loop(operand: &str) -> TensorProgram {
    read(&format!(
        r#"module @m {{
  util.func public @f(%arg0: tensor<4xf32>, %n: index) -> tensor<4xf32> {{
    %c0 = arith.constant 0 : index loc("a.mlir":9:1)
    %c1 = arith.constant 1 : index loc("a.mlir":9:1)
    %0 = flow.dispatch @e::@a(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":1:1)
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %0) -> (tensor<4xf32>) {{
      %5 = flow.dispatch @e::@b(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":2:1)
      scf.yield %5 : tensor<4xf32> loc("a.mlir":2:1)
    }} loc("a.mlir":2:1)
    %2 = flow.tensor.reshape {operand} : tensor<4xf32> -> tensor<2x2xf32> loc("a.mlir":3:1)
    %3 = flow.dispatch @e::@c(%2) : (tensor<2x2xf32>) -> tensor<4xf32> loc("a.mlir":3:1)
    %4 = flow.dispatch @e::@d(%1, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("a.mlir":4:1)
    util.return %4 : tensor<4xf32> loc("a.mlir":5:1)
  }}
}}
"#
    ))
}

#[test]
fn a_dispatch_is_recorded_before_a_loop_that_it_does_not_need() {
    let moved = recorded_as(&[("a", 1), ("c", 3), ("b", 2), ("d", 4)]);
    let mut program = beside_a_loop("%0");
    assert!(program.align(&moved).is_err());
    assert!(program.arrange(&moved));
    let aligned: Vec<TensorOperationId> = program.align(&moved).unwrap().into_values().collect();
    assert!(aligned.is_sorted(), "{aligned:?}");
    let function = &program.functions()[aligned[0].function];
    for id in &aligned {
        let operation = program.operation(*id).unwrap();
        assert_eq!(function.value(operation.results[0]).made_by, Some(*id));
        // What an operation uses comes before it; inside of the loop too.
        let makers = operation.operands.iter().filter_map(|it| function.value(*it).made_by);
        assert!(makers.into_iter().all(|it| it < *id));
    }
    let is_loop = |id: &TensorOperationId| {
        function.region(program.operation(*id).unwrap().region).unwrap().is_loop
    };
    assert_eq!(aligned.iter().map(is_loop).collect::<Vec<_>>(), [false, false, true, false]);
    let around = function.region(program.operation(aligned[2]).unwrap().region).unwrap();
    let around = program.operation(around.operation.unwrap()).unwrap();
    assert!(format!("{:?}", around.kind).contains("scf.for"), "{:?}", around.kind);
    stand_where_they_were(&program, &beside_a_loop("%0"));
    // One that needs the loop stays after it.
    let mut program = beside_a_loop("%1");
    assert!(!program.arrange(&moved));
    assert!(program.align(&moved).is_err());
}

/// A dispatch that does the operations of two lines, in a form that is not proven to be either.
#[rustfmt::skip] // text as the compiler prints it
const UNPROVEN: &str = r##"#loc1 = loc("a.mlir":2:8)
#loc2 = loc("a.mlir":3:8)
#loc3 = loc(fused[#loc1, #loc2])
#map = affine_map<(d0) -> (d0)>
module @m {
  flow.executable private @e {
    builtin.module {
      func.func @both(%arg0: !iree_tensor_ext.dispatch.tensor<readonly:tensor<32xf32>> loc(#loc1), %arg1: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<32xf32>> loc(#loc1)) {
        %0 = iree_tensor_ext.dispatch.tensor.load %arg0, offsets = [0], sizes = [32], strides = [1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<32xf32>> -> tensor<32xf32> loc(#loc1)
        %1 = tensor.empty() : tensor<32xf32> loc(#loc1)
        %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%0 : tensor<32xf32>) outs(%1 : tensor<32xf32>) {
        ^bb0(%in: f32 loc(#loc1), %out: f32 loc(#loc1)):
          %3 = math.tanh %in : f32 loc(#loc1)
          linalg.yield %3 : f32 loc(#loc1)
        } -> tensor<32xf32> loc(#loc3)
        iree_tensor_ext.dispatch.tensor.store %2, %arg1, offsets = [0], sizes = [32], strides = [1] : tensor<32xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<32xf32>> loc(#loc1)
        return loc(#loc1)
      } loc(#loc1)
    } loc(#loc1)
  } loc(#loc1)
  util.func public @main(%arg0: !hal.buffer_view) -> !hal.buffer_view {
    %0 = hal.tensor.import %arg0 "input0" : !hal.buffer_view -> tensor<32xf32> loc(#loc1)
    %1 = flow.dispatch @e::@both(%0) : (tensor<32xf32>) -> tensor<32xf32> loc(#loc3)
    %2 = hal.tensor.export %1 "output0" : tensor<32xf32> -> !hal.buffer_view loc(#loc1)
    util.return %2 : !hal.buffer_view loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
"##;

const SOURCE: &str = "\
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = math.exp %x : tensor<32xf32>
  %z = math.sqrt %y : tensor<32xf32>
  return %z : tensor<32xf32>
}
";

#[test]
fn a_tensor_at_the_place_of_a_dispatch_may_be_what_it_leaves() {
    let input = r#"module {
  util.func public @main(%arg0: tensor<32xf32>) -> tensor<32xf32> {
    %0 = math.exp %arg0 : tensor<32xf32> loc("a.mlir":2:8)
    %1 = math.sqrt %0 : tensor<32xf32> loc("a.mlir":3:8)
    util.return %1 : tensor<32xf32> loc("a.mlir":4:3)
  } loc("a.mlir":1:1)
}
"#;
    let source = Arc::new(SourceText::new(SOURCE.to_owned()));
    let dispatches = DispatchInterfaces::default();
    let program = TensorProgram::parse(&TensorSources {
        flow: UNPROVEN,
        input: Some(input),
        dispatches: &dispatches,
        file: &|name| (name == "a.mlir").then(|| Arc::clone(&source)),
    });
    let main = program.function("main").unwrap();
    // Only one of the two can be left; neither is said to be computed by itself.
    let perhaps = Unrecognised::Perhaps(vec![2]);
    for name in ["%y", "%z"] {
        let (calls, is_in_call, defined_at) = (&[], false, None);
        let asked = TensorName { function: main, name, calls, is_in_call, defined_at };
        let fate = program.named(&asked);
        assert_eq!(fate, Some(Fate::Unknown(perhaps.clone())), "{name}");
    }
}
