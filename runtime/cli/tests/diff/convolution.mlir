// A convolution with weights of its own, a rectifier, a cut-out, pooling. The compiler cuts before
// it rectifies: %hidden is never a tensor in memory.
//
// input: 1x12x12x3xf32 1.0
// fault stale of %cut: `[0.05, 0.1, -0.25, 0.3]` -> `[0.05, 0.1, -0.25, 0.35]`
// fault threshold of %cut: `arith.maximumf %a, %zero` -> `arith.maximumf %a, %small`
// fault off_by_one of %cut: `%hidden[0, 1, 1, 0]` -> `%hidden[0, 0, 1, 0]`
// fault pooling of %pooled: `pooling_nhwc_max` -> `pooling_nhwc_sum`
#map = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
func.func @main(%image: tensor<1x12x12x3xf32>) -> tensor<1x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 0.01 : f32
  %filter = arith.constant dense<0.125> : tensor<3x3x3x4xf32>
  %bias = arith.constant dense<[0.05, 0.1, -0.25, 0.3]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x10x10x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x4xf32>) -> tensor<1x10x10x4xf32>
  %conv = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x12x12x3xf32>, tensor<3x3x3x4xf32>) outs(%f : tensor<1x10x10x4xf32>) -> tensor<1x10x10x4xf32>
  %hidden = linalg.generic {indexing_maps = [#map, #channel, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv, %bias : tensor<1x10x10x4xf32>, tensor<4xf32>) outs(%e : tensor<1x10x10x4xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %a = arith.addf %x, %b : f32
    %s = arith.maximumf %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x10x10x4xf32>
  %cut = tensor.extract_slice %hidden[0, 1, 1, 0] [1, 8, 8, 4] [1, 1, 1, 1] : tensor<1x10x10x4xf32> to tensor<1x8x8x4xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %pe = tensor.empty() : tensor<1x4x4x4xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %pooled = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%cut, %window : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%pf : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %pooled : tensor<1x4x4x4xf32>
}
