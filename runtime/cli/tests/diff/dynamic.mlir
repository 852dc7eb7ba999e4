// Sizes that only a call knows. %curved is fused into %total.
//
// input: 5x32xf32 1.0
// input: 32x8xf32 1.0
// fault function of %total: `math.tanh` -> `math.erf`
// fault order of %total: `arith.addf %a, %o` -> `arith.maximumf %a, %o`
#map = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<?x32xf32>, %w: tensor<32x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %product = linalg.matmul ins(%x, %w : tensor<?x32xf32>, tensor<32x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %curved = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.tanh %a : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %total = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #col], iterator_types = ["parallel", "reduction"]} ins(%curved : tensor<?x8xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %total : tensor<8xf32>
}
