// A function that needs a device: dispatches, command buffers, constants, fences.

func.func @layer(%input: tensor<4x8xf32>, %weights: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %bias = arith.constant dense<[0.5, -0.5]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<4x2xf32>
  %cleared = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x2xf32>) -> tensor<4x2xf32>
  %product = linalg.matmul ins(%input, %weights : tensor<4x8xf32>, tensor<8x2xf32>) outs(%cleared : tensor<4x2xf32>) -> tensor<4x2xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%product, %bias : tensor<4x2xf32>, tensor<2xf32>) outs(%empty : tensor<4x2xf32>) {
  ^bb0(%p: f32, %b: f32, %out: f32):
    %sum = arith.addf %p, %b : f32
    linalg.yield %sum : f32
  } -> tensor<4x2xf32>
  return %result : tensor<4x2xf32>
}
