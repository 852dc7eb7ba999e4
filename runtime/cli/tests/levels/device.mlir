// A small program for a device: two dispatches.
func.func @main(%x: tensor<3x2xf32>, %y: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %m = linalg.matmul ins(%x, %y : tensor<3x2xf32>, tensor<2x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  %n = linalg.matmul ins(%m, %y : tensor<3x2xf32>, tensor<2x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %n : tensor<3x2xf32>
}

// RUN-WITH: --function=main --input=3x2xf32=1,2,3,4,5,6 --input=2x2xf32=1,2,3,4
