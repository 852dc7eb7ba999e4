// A result that the compiler leaves where it has read an argument.
func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>, %start: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %sum = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x2xf32>) outs(%start : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %sum : tensor<3x2xf32>
}
