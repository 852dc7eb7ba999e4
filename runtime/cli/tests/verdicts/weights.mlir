// A second argument that is too small to matter.
func.func @main(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %sum = arith.addf %x, %w : tensor<8xf32>
  return %sum : tensor<8xf32>
}
