// A bit of everything that the grammar tells apart.
#map = affine_map<(d0, d1)[s0] -> (d0 floordiv 2, d1 + s0)>
#set = affine_set<(d0) : (d0 - 10 >= 0)>
!matrix = tensor<4x?xf32>
module @model attributes {hal.device.targets = [#hal.device.target<"local", {ukernels = "none"}>]} {
  util.global private mutable @state = dense<[1.0, -2.5e-3]> : tensor<2xf32>
  func.func private @scale(%value: f32) -> f32 attributes {noinline}
  func.func public @"odd name"(%a: i64, %b: !vm.list<i32>) -> (tensor<4x?xf32>, memref<*xf8E4M3FN>) {
    %c0 = arith.constant 0x1F : index
    %sum, %rest:2 = "test.op"(%a, %b) {flag, width = 32 : i64} : (i64, !vm.list<i32>) -> (i64, i32, i32)
    %r = scf.for %i = %c0 to %n step %one iter_args(%x = %rest#1) -> (i32) {
      %y = arith.addi %x, %x : i32
      scf.yield %y : i32
    }
    %less = arith.cmpi slt, %r, %rest#0 : i32
    cf.cond_br %less, ^bb1(%r : i32), ^bb2
  ^bb1(%arg-0: i32):
    %v = vector.broadcast %arg-0 : i32 to vector<[4]x2xi32>
    %t = linalg.matmul ins(%l, %m : tensor<2x3xbf16>, !matrix) outs(%o : tensor<2x?xf32, #enc>) -> tensor<2x?xf32>
    %f = call @scale(%t) : (f32) -> f32 loc(callsite("a.mlir":8:10 at fused["b.mlir":6:1, unknown]))
    return %f, "a \"quoted\" \0A end" : f32, i1
  }
}
// -----
{-# dialect_resources: { builtin: { weights: "0x04000000AABB" } } #-}
