// Two calls of a layer: the compiler inlines them, and both run the same dispatch. %h and %res are
// other tensors outside of the layer than in it.
func.func private @layer(%h: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%h, %w : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
  %res = arith.addf %m, %h : tensor<2x2xf32>
  return %res : tensor<2x2xf32>
}
func.func @model(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %h: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %resa = call @layer(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %res = call @layer(%resa, %h) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %res : tensor<2x2xf32>
}
