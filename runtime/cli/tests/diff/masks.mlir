// Attention with a mask of large negative numbers, which says nothing of how far
// other elements may be apart.
//
// input: 4x16x32xf32 1.5
// input: 4x16x32xf32 1.5
// input: 4x16x32xf32 1.0
// input: 16x16xf32 1.0
// fault offset of %m: `%p = arith.mulf %a, %sc : f32` -> `%p0 = arith.mulf %a, %sc : f32 %off = arith.constant 0.03 : f32 %p = arith.addf %p0, %off : f32`
func.func @main(%q: tensor<4x16x32xf32>, %k: tensor<4x16x32xf32>, %v: tensor<4x16x32xf32>, %mask: tensor<16x16xf32>) -> tensor<4x16x32xf32> {
  %c0 = arith.constant 0.0 : f32
  %sc = arith.constant 0.1767578125 : f32
  %neg = arith.constant -1.0e+04 : f32
  %e = tensor.empty() : tensor<4x16x16xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x16x32xf32>, tensor<4x16x32xf32>) outs(%f : tensor<4x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x16x16xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<4x16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<4x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %sc : f32
    %is = arith.cmpf ogt, %b, %c0 : f32
    %r = arith.select %is, %p, %neg : f32
    linalg.yield %r : f32
  } -> tensor<4x16x16xf32>
  %pr = linalg.softmax dimension(2) ins(%m : tensor<4x16x16xf32>) outs(%e : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %e2 = tensor.empty() : tensor<4x16x32xf32>
  %f2 = linalg.fill ins(%c0 : f32) outs(%e2 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  %y = linalg.batch_matmul ins(%pr, %v : tensor<4x16x16xf32>, tensor<4x16x32xf32>) outs(%f2 : tensor<4x16x32xf32>) -> tensor<4x16x32xf32>
  return %y : tensor<4x16x32xf32>
}
