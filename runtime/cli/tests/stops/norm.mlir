func.func @norm(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %difference = arith.subf %x, %y : tensor<4x8xf32>
  %logarithm = math.log %difference : tensor<4x8xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x4xf32>
  %swapped = linalg.transpose ins(%logarithm : tensor<4x8xf32>) outs(%empty : tensor<8x4xf32>) permutation = [1, 0]
  %result = tensor.empty() : tensor<4x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%result : tensor<4x4xf32>) -> tensor<4x4xf32>
  %product = linalg.matmul ins(%logarithm, %swapped : tensor<4x8xf32>, tensor<8x4xf32>)
                           outs(%filled : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %product : tensor<4x4xf32>
}
