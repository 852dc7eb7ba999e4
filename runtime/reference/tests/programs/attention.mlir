// Attention: short rows and rows of many blocks, masks, values in another order.

func.func @plain(%q: tensor<2x6x16xf32>, %k: tensor<2x7x16xf32>, %v: tensor<2x7x5xf32>) -> tensor<2x6x5xf32> {
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x6x5xf32>
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(b, m, n, k, s) -> (b, m, k)>, affine_map<(b, m, n, k, s) -> (b, s, k)>,
      affine_map<(b, m, n, k, s) -> (b, s, n)>, affine_map<(b, m, n, k, s) -> ()>,
      affine_map<(b, m, n, k, s) -> (b, m, n)>]>
      ins(%q, %k, %v, %scale : tensor<2x6x16xf32>, tensor<2x7x16xf32>, tensor<2x7x5xf32>, f32) outs(%e : tensor<2x6x5xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<2x6x5xf32>
  return %r : tensor<2x6x5xf32>
}

// A row has many blocks, whose maximum grows; the values are transposed.
func.func @long(%q: tensor<3x8xf32>, %k: tensor<777x8xf32>, %v: tensor<4x777xf32>) -> tensor<3x4xf32> {
  %scale = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(m, n, k, s) -> (m, k)>, affine_map<(m, n, k, s) -> (s, k)>,
      affine_map<(m, n, k, s) -> (n, s)>, affine_map<(m, n, k, s) -> ()>,
      affine_map<(m, n, k, s) -> (m, n)>]>
      ins(%q, %k, %v, %scale : tensor<3x8xf32>, tensor<777x8xf32>, tensor<4x777xf32>, f32) outs(%e : tensor<3x4xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

func.func @masked(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>, %mask: tensor<5x5xf32>) -> tensor<2x5x8xf32> {
  %scale = arith.constant 0.35355338 : f32
  %e = tensor.empty() : tensor<2x5x8xf32>
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(b, m, n, k, s) -> (b, m, k)>, affine_map<(b, m, n, k, s) -> (b, s, k)>,
      affine_map<(b, m, n, k, s) -> (b, s, n)>, affine_map<(b, m, n, k, s) -> ()>,
      affine_map<(b, m, n, k, s) -> (m, s)>, affine_map<(b, m, n, k, s) -> (b, m, n)>]>
      ins(%q, %k, %v, %scale, %mask : tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, f32, tensor<5x5xf32>) outs(%e : tensor<2x5x8xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<2x5x8xf32>
  return %r : tensor<2x5x8xf32>
}
