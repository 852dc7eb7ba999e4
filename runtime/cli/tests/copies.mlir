// What a dispatch has left is copied, and a dispatch reads the copy.
//
// input: 4x8xf32 4.0
// input: 4x8xf32 1.0
func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %c = math.exp %a : tensor<4x8xf32>
  %joined = tensor.concat dim(0) %b, %c
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %thousand = arith.constant dense<1000.0> : tensor<8x8xf32>
  %scaled = arith.mulf %joined, %thousand : tensor<8x8xf32>
  return %joined, %scaled, %c : tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}
