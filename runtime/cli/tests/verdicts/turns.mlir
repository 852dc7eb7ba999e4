// A loop with a counter that is returned.
func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, i32) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %turns = util.optimization_barrier %n : index
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %end:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%a = %x, %k = %none)
      -> (tensor<8x8xf32>, i32) {
    %next = linalg.matmul ins(%a, %x : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %more = arith.addi %k, %one : i32
    scf.yield %next, %more : tensor<8x8xf32>, i32
  }
  return %end#0, %end#1 : tensor<8x8xf32>, i32
}
