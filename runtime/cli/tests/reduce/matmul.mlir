// input 8x16xf32 floats
// input 16x8xf32 floats
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %half = arith.constant dense<0.5> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x8xf32>)
      outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = arith.mulf %m, %half : tensor<8x8xf32>
  %b = math.tanh %a : tensor<8x8xf32>
  %c = arith.addf %b, %m : tensor<8x8xf32>
  %q = arith.fptosi %c : tensor<8x8xf32> to tensor<8x8xi32>
  %d = arith.sitofp %q : tensor<8x8xi32> to tensor<8x8xf32>
  %s = arith.subf %m, %d : tensor<8x8xf32>
  %t = math.exp %s : tensor<8x8xf32>
  %u = arith.mulf %t, %half : tensor<8x8xf32>
  return %u : tensor<8x8xf32>
}
