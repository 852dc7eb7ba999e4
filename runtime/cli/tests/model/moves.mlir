// A copy is an operation of the model, too: joining two tensors takes no dispatch.
func.func @moves(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %c = math.exp %a : tensor<4x8xf32>
  %joined = tensor.concat dim(0) %c, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %seven = arith.constant dense<7.0> : tensor<16xf32>
  return %joined, %seven : tensor<8x8xf32>, tensor<16xf32>
}
