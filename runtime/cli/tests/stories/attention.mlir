// Attention with a mask: a row that is masked whole has no weights.
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @attention(%x: tensor<4x8xf32>, %mask: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %turned.init = tensor.empty() : tensor<8x4xf32>
  %turned = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%turned.init : tensor<8x4xf32>) permutation = [1, 0]
  %square = tensor.empty() : tensor<4x4xf32>
  %column = tensor.empty() : tensor<4xf32>
  %scores.init = linalg.fill ins(%zero : f32) outs(%square : tensor<4x4xf32>) -> tensor<4x4xf32>
  %scores = linalg.matmul ins(%x, %turned : tensor<4x8xf32>, tensor<8x4xf32>) outs(%scores.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %masked = arith.addf %scores, %mask : tensor<4x4xf32>
  %max.init = linalg.fill ins(%lowest : f32) outs(%column : tensor<4xf32>) -> tensor<4xf32>
  %max = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%masked : tensor<4x4xf32>) outs(%max.init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  %shifted = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%masked, %max : tensor<4x4xf32>, tensor<4xf32>) outs(%square : tensor<4x4xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    linalg.yield %d : f32
  } -> tensor<4x4xf32>
  %exponentials = math.exp %shifted : tensor<4x4xf32>
  %sum.init = linalg.fill ins(%zero : f32) outs(%column : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%exponentials : tensor<4x4xf32>) outs(%sum.init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %weights = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%exponentials, %sum : tensor<4x4xf32>, tensor<4xf32>) outs(%square : tensor<4x4xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %q = arith.divf %in, %s : f32
    linalg.yield %q : f32
  } -> tensor<4x4xf32>
  %mixed.empty = tensor.empty() : tensor<4x8xf32>
  %mixed.init = linalg.fill ins(%zero : f32) outs(%mixed.empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %mixed = linalg.matmul ins(%weights, %x : tensor<4x4xf32>, tensor<4x8xf32>) outs(%mixed.init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %mixed : tensor<4x8xf32>
}
