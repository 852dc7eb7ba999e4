// input 1x10x10x4xf32 floats
// input 3x3x4x4xf32 floats
func.func @main(%x: tensor<1x10x10x4xf32>, %w: tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xi32> {
  %z = arith.constant 0.0 : f32
  %c = arith.constant dense<0.75> : tensor<1x8x8x4xf32>
  %i = arith.constant dense<3> : tensor<1x8x8x4xi32>
  %e = tensor.empty() : tensor<1x8x8x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %m = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x4xf32>)
      outs(%f : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %a = arith.mulf %m, %c : tensor<1x8x8x4xf32>
  %b = arith.maximumf %a, %c : tensor<1x8x8x4xf32>
  %q = arith.fptosi %b : tensor<1x8x8x4xf32> to tensor<1x8x8x4xi32>
  %s = arith.muli %q, %i : tensor<1x8x8x4xi32>
  %t = arith.addi %s, %q : tensor<1x8x8x4xi32>
  return %t : tensor<1x8x8x4xi32>
}
