// A transformer's block: a projection, layer norm, softmax, a residual.
//
// input: 16x64xf32 1.0
// input: 64x64xf32 0.125
// input: 64xf32 1.0
// fault epsilon of %norm: `1.0e-5 : f32` -> `1.0e-3 : f32`
// fault count of %norm: `%v = arith.divf %t, %n` -> `%v = arith.divf %t, %zero63`
// fault axis of %soft: `dimension(1)` -> `dimension(0)`
// fault sign of %centred: `arith.subf %a, %m` -> `arith.addf %a, %m`
// fault transposed of %biased: `linalg.matmul ins(%x, %w` -> `linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w`
// fault residual of %out: `%s9 = arith.addf %a, %b` -> `%s9 = arith.subf %a, %b`
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>, %bias: tensor<64xf32>) -> tensor<16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %zero63 = arith.constant 63.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e2 = tensor.empty() : tensor<16x64xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %proj = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%f2 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %biased = linalg.generic {indexing_maps = [#map2, #col, #map2], iterator_types = ["parallel", "parallel"]} ins(%proj, %bias : tensor<16x64xf32>, tensor<64xf32>) outs(%e2 : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %sum = linalg.generic {indexing_maps = [#map2, #row], iterator_types = ["parallel", "reduction"]} ins(%biased : tensor<16x64xf32>) outs(%f1 : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %centred = linalg.generic {indexing_maps = [#map2, #row, #map2], iterator_types = ["parallel", "parallel"]} ins(%biased, %sum : tensor<16x64xf32>, tensor<16xf32>) outs(%e2 : tensor<16x64xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %m = arith.divf %t, %n : f32
    %s = arith.subf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %square = linalg.generic {indexing_maps = [#map2, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<16x64xf32>) outs(%f1 : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %norm = linalg.generic {indexing_maps = [#map2, #row, #map2], iterator_types = ["parallel", "parallel"]} ins(%centred, %square : tensor<16x64xf32>, tensor<16xf32>) outs(%e2 : tensor<16x64xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %v = arith.divf %t, %n : f32
    %ve = arith.addf %v, %eps : f32
    %r = math.rsqrt %ve : f32
    %s = arith.mulf %a, %r : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %soft = linalg.softmax dimension(1) ins(%norm : tensor<16x64xf32>) outs(%e2 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %again = linalg.matmul ins(%soft, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%f2 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %out = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%again, %x : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e2 : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s9 = arith.addf %a, %b : f32
    linalg.yield %s9 : f32
  } -> tensor<16x64xf32>
  return %out : tensor<16x64xf32>
}
