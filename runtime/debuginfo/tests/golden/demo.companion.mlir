vm.module public @demo {
  vm.func private @"odd name"(%arg0: i32 loc("demo.mlir":3:33), %arg1: i64 loc("demo.mlir":3:42)) -> (i32, i64) attributes {inlining_policy = #util.inline.never} {
    %0 = vm.add.i32 %arg0, %arg0 {block_defined = ["%0", "%1", "%arg0", "%arg1"], block_live = ["%0", "%1", "%arg0", "%arg1"], block_live_in = [], block_live_out = [], block_registers = ["i0", "i2+3"], live = ["%0", "%arg0", "%arg1"], operand_registers = ["i0", "i0"], result_registers = ["i0"]} : i32 loc("demo.mlir":4:10)
    %1 = vm.mul.i64 %arg1, %arg1 {live = ["%0", "%1", "%arg1"], operand_registers = ["i2+3", "i2+3"], result_registers = ["i2+3"]} : i64 loc("demo.mlir":5:10)
    vm.return {live = ["%0", "%1"], operand_registers = ["i0", "i2+3"]} %0, %1 : i32, i64 loc("demo.mlir":6:5)
  } loc("demo.mlir":3:3)
  vm.func private @sum(%arg0: i32 loc("demo.mlir":14:3), %arg1: i64 loc("demo.mlir":14:3)) -> (i32, i64) attributes {iree.reflection = {iree.abi.declaration = "sync func @sum(%input0: i32, %input1: i64) -> (%output0: i32, %output1: i64)"}} {
    %c2 = vm.const.i32 2 {block_defined = ["%0", "%arg0", "%arg1", "%c1", "%c2", "%zero", "%zero_0"], block_live = ["%arg0", "%zero", "%zero_0"], block_live_in = [], block_live_out = ["%0", "%arg1", "%c1", "%c2"], block_registers = ["i0", "i2+3"], live = ["%arg0", "%arg1", "%c2"], result_registers = ["i1"]} loc(callsite(unknown at "demo.mlir":14:3))
    %zero = vm.const.i32.zero {live = ["%arg0", "%arg1", "%c2", "%zero"], result_registers = ["i4"]} loc(callsite("demo.mlir":18:13 at "demo.mlir":14:3))
    %zero_0 = vm.const.i64.zero {live = ["%arg0", "%arg1", "%c2", "%zero", "%zero_0"], result_registers = ["i6+7"]} loc(callsite("demo.mlir":15:11 at "demo.mlir":14:3))
    %c1 = vm.const.i64 1 {live = ["%arg0", "%arg1", "%c1", "%c2", "%zero", "%zero_0"], result_registers = ["i8+9"]} loc(callsite("demo.mlir":16:11 at "demo.mlir":14:3))
    %0 = vm.ext.i32.i64.s %arg0 {live = ["%0", "%arg0", "%arg1", "%c1", "%c2", "%zero", "%zero_0"], operand_registers = ["i0"], result_registers = ["i10+11"]} : i32 -> i64 loc(callsite("demo.mlir":17:11 at "demo.mlir":14:3))
    vm.br ^bb1(%zero_0, %zero : i64, i32) {live = ["%0", "%arg1", "%c1", "%c2", "%zero", "%zero_0"], operand_registers = ["i6+7", "i4"], remap_registers = [["i4->i0", "i6+7->i4+5"]]} loc(callsite("demo.mlir":19:10 at "demo.mlir":14:3))
  ^bb1(%1: i64 loc(callsite("demo.mlir":19:18 at "demo.mlir":14:3)), %2: i32 loc(callsite("demo.mlir":19:53 at "demo.mlir":14:3))):  // 2 preds: ^bb0, ^bb2
    %slt = vm.cmp.lt.i64.s %1, %0 {block_defined = ["%bb1_arg0", "%bb1_arg1", "%slt"], block_live = ["%0", "%bb1_arg0", "%slt"], block_live_in = ["%0", "%arg1", "%c1", "%c2"], block_live_out = ["%0", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2"], block_registers = ["i4+5", "i0"], live = ["%0", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2", "%slt"], operand_registers = ["i4+5", "i10+11"], result_registers = ["i6"]} : i64 loc(callsite("demo.mlir":19:10 at "demo.mlir":14:3))
    vm.cond_br %slt, ^bb2, ^bb3 {live = ["%0", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2", "%slt"], operand_registers = ["i6"], remap_registers = [[], []]} loc(callsite("demo.mlir":19:10 at "demo.mlir":14:3))
  ^bb2:  // pred: ^bb1
    %3 = vm.trunc.i64.i32 %1 {block_defined = ["%3", "%4", "%5", "%6", "%7"], block_live = ["%3", "%4", "%5", "%6", "%7", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2"], block_live_in = ["%0", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2"], block_live_out = ["%0", "%arg1", "%c1", "%c2"], block_registers = [], live = ["%0", "%3", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2"], operand_registers = ["i4+5"], result_registers = ["i6"]} : i64 -> i32 loc(callsite("demo.mlir":20:13 at "demo.mlir":14:3))
    %4 = vm.mul.i32 %3, %c2 {live = ["%0", "%3", "%4", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2"], operand_registers = ["i6", "i1"], result_registers = ["i7"]} : i32 loc(callsite("demo.mlir":10:10 at callsite("demo.mlir":21:12 at "demo.mlir":14:3)))
    %5 = vm.xor.i32 %4, %3 {live = ["%0", "%3", "%4", "%5", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2"], operand_registers = ["i7", "i6"], result_registers = ["i6"]} : i32 loc(callsite("demo.mlir":11:10 at callsite("demo.mlir":21:12 at "demo.mlir":14:3)))
    %6 = vm.add.i32 %2, %5 {live = ["%0", "%5", "%6", "%arg1", "%bb1_arg0", "%bb1_arg1", "%c1", "%c2"], operand_registers = ["i0", "i6"], result_registers = ["i6"]} : i32 loc(callsite("demo.mlir":22:15 at "demo.mlir":14:3))
    %7 = vm.add.i64 %1, %c1 {live = ["%0", "%6", "%7", "%arg1", "%bb1_arg0", "%c1", "%c2"], operand_registers = ["i4+5", "i8+9"], result_registers = ["i4+5"]} : i64 loc(callsite("demo.mlir":19:10 at "demo.mlir":14:3))
    vm.br ^bb1(%7, %6 : i64, i32) {live = ["%0", "%6", "%7", "%arg1", "%c1", "%c2"], operand_registers = ["i4+5", "i6"], remap_registers = [["i6->i0"]]} loc(callsite("demo.mlir":19:10 at "demo.mlir":14:3))
  ^bb3:  // pred: ^bb1
    %8:2 = vm.call @"odd name"(%2, %arg1) {block_defined = ["%8:2", "%8:2"], block_live = ["%8:2", "%8:2", "%arg1", "%bb1_arg1"], block_live_in = ["%arg1", "%bb1_arg1"], block_live_out = [], block_registers = [], live = ["%8:2", "%8:2", "%arg1", "%bb1_arg1"], operand_registers = ["i0", "i2+3"], result_registers = ["i0", "i2+3"]} : (i32, i64) -> (i32, i64) loc(callsite("demo.mlir":25:12 at "demo.mlir":14:3))
    vm.return {live = ["%8:2", "%8:2"], operand_registers = ["i0", "i2+3"]} %8#0, %8#1 : i32, i64 loc("demo.mlir":14:3)
  } loc("demo.mlir":14:3)
  vm.export @sum attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @sum(%input0: i32, %input1: i64) -> (%output0: i32, %output1: i64)"}} loc("demo.mlir":14:3)
  vm.func private @choose(%arg0: i32 loc("demo.mlir":28:3), %arg1: f32 loc("demo.mlir":28:3)) -> f32 attributes {iree.reflection = {iree.abi.declaration = "sync func @choose(%input0: i1, %input1: f32) -> (%output0: f32)"}} {
    vm.cond_br %arg0, ^bb1, ^bb2 {block_defined = ["%arg0", "%arg1"], block_live = ["%arg0"], block_live_in = [], block_live_out = ["%arg1"], block_registers = ["i0", "i1"], live = ["%arg0", "%arg1"], operand_registers = ["i0"], remap_registers = [[], []]} loc(callsite("demo.mlir":29:10 at "demo.mlir":28:3))
  ^bb1:  // pred: ^bb0
    %0 = vm.add.f32 %arg1, %arg1 {block_defined = ["%0", "%1"], block_live = ["%0", "%1", "%arg1"], block_live_in = ["%arg1"], block_live_out = ["%arg1"], block_registers = [], live = ["%0", "%arg1"], operand_registers = ["i1", "i1"], result_registers = ["i0"]} : f32 loc(callsite("demo.mlir":30:17 at "demo.mlir":28:3))
    %1 = vm.mul.f32 %0, %arg1 {live = ["%0", "%1", "%arg1"], operand_registers = ["i0", "i1"], result_registers = ["i0"]} : f32 loc(callsite("demo.mlir":31:15 at "demo.mlir":28:3))
    vm.br ^bb3(%1 : f32) {live = ["%1", "%arg1"], operand_registers = ["i0"], remap_registers = [[]]} loc(callsite("demo.mlir":29:10 at "demo.mlir":28:3))
  ^bb2:  // pred: ^bb0
    %2 = vm.neg.f32 %arg1 {block_defined = ["%2"], block_live = ["%2", "%arg1"], block_live_in = ["%arg1"], block_live_out = ["%arg1"], block_registers = [], live = ["%2", "%arg1"], operand_registers = ["i1"], result_registers = ["i0"]} : f32 loc(callsite("demo.mlir":34:19 at "demo.mlir":28:3))
    vm.br ^bb3(%2 : f32) {live = ["%2", "%arg1"], operand_registers = ["i0"], remap_registers = [[]]} loc(callsite("demo.mlir":29:10 at "demo.mlir":28:3))
  ^bb3(%3: f32 loc(callsite("demo.mlir":29:10 at "demo.mlir":28:3))):  // 2 preds: ^bb1, ^bb2
    %4 = vm.mul.f32 %3, %arg1 {block_defined = ["%4", "%bb3_arg0"], block_live = ["%4", "%arg1", "%bb3_arg0"], block_live_in = ["%arg1"], block_live_out = [], block_registers = ["i0"], live = ["%4", "%arg1", "%bb3_arg0"], operand_registers = ["i0", "i1"], result_registers = ["i1"]} : f32 loc(callsite("demo.mlir":37:12 at "demo.mlir":28:3))
    vm.return {live = ["%4"], operand_registers = ["i1"]} %4 : f32 loc("demo.mlir":28:3)
  } loc("demo.mlir":28:3)
  vm.export @choose attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @choose(%input0: i1, %input1: f32) -> (%output0: f32)"}} loc("demo.mlir":28:3)
} loc("demo.mlir":2:1)
