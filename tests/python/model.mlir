// The model of runtime/python/README.md.
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>, %k: tensor<f32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#map, affine_map<(d0) -> ()>, #map], iterator_types = ["parallel"]} ins(%x, %k : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
