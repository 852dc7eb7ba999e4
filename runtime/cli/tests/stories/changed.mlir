// The first dispatch computes everything up to %r, the second one %z of it.

func.func @changed(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>)
                     outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = math.log %y : tensor<4x8xf32>
  %q = arith.mulf %l, %l : tensor<4x8xf32>
  %r = arith.addf %q, %y : tensor<4x8xf32>
  %z = linalg.matmul ins(%r, %w : tensor<4x8xf32>, tensor<8x8xf32>)
                     outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
