// A constant that the compiler computes from others: what is computed with it is only proven if it
// is what the source has there, and so is what comes after that.
func.func @constants(%x: tensor<2x2xf32>, %v: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %weights = arith.constant dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>
  %scales = arith.constant dense<[[2.0, 3.0], [5.0, 7.0]]> : tensor<2x2xf32>
  %scaled = arith.mulf %weights, %scales : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %first = linalg.matmul ins(%x, %scaled : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
  %last = linalg.matmul ins(%first, %v : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
  %other = linalg.matmul ins(%x, %v : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %last, %other : tensor<2x2xf32>, tensor<2x2xf32>
}
