// A number that is a sum, of a softmax, of a part of a tensor, of an input.
func.func @made_of(%x: tensor<2x6xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %w = arith.constant dense<[[0.5, -0.25, 1.0], [2.0, 0.125, -1.0], [0.75, 0.5, 0.25], [-0.5, 1.5, 2.0]]> : tensor<4x3xf32>
  %zero = arith.constant 0.0 : f32
  %left = tensor.extract_slice %x[0, 1] [2, 4] [1, 1] : tensor<2x6xf32> to tensor<2x4xf32>
  %squares = arith.mulf %left, %left : tensor<2x4xf32>
  %empty = tensor.empty() : tensor<2x4xf32>
  %shares = linalg.softmax dimension(1) ins(%squares : tensor<2x4xf32>) outs(%empty : tensor<2x4xf32>) -> tensor<2x4xf32>
  %sums.empty = tensor.empty() : tensor<2x3xf32>
  %sums.init = linalg.fill ins(%zero : f32) outs(%sums.empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %sums = linalg.matmul ins(%shares, %w : tensor<2x4xf32>, tensor<4x3xf32>) outs(%sums.init : tensor<2x3xf32>) -> tensor<2x3xf32>
  %bias = linalg.broadcast ins(%b : tensor<3xf32>) outs(%sums.empty : tensor<2x3xf32>) dimensions = [0]
  %y = arith.addf %sums, %bias : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
