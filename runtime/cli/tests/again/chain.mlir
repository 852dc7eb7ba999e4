// Three dispatches, each with inputs of its own. The second works in place on what the first leaves.

func.func @chain(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %c: tensor<4x8xf32>,
                 %d: tensor<8x8xf32>, %e: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x8xf32>)
                     outs(%fill : tensor<4x8xf32>) -> tensor<4x8xf32>
  %first = util.optimization_barrier %y : tensor<4x8xf32>
  %z = linalg.matmul ins(%c, %d : tensor<4x8xf32>, tensor<8x8xf32>)
                     outs(%first : tensor<4x8xf32>) -> tensor<4x8xf32>
  %second = util.optimization_barrier %z : tensor<4x8xf32>
  %u = linalg.matmul ins(%second, %e : tensor<4x8xf32>, tensor<8x8xf32>)
                     outs(%fill : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %u : tensor<4x8xf32>
}
