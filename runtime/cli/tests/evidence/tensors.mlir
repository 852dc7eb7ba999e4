// Tensors: one that a dispatch leaves, one that is fused, and one with a framework's name.
func.func private @layer(%h: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%h, %w : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
  %res = arith.addf %m, %h : tensor<2x2xf32>
  return %res : tensor<2x2xf32>
}
func.func @model(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %v: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %first = call @layer(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %empty = tensor.empty() : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %last = linalg.matmul ins(%first, %v : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32> loc("head/MatMul")
  return %last : tensor<2x2xf32>
}
