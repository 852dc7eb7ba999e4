// Attention whose mask leaves nothing in one row: the softmax of that row is NaN.
func.func @attend(%scores: tensor<4x4xf32>, %mask: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %row = tensor.empty() : tensor<4xf32>
  %masked = arith.addf %scores, %mask : tensor<4x4xf32>
  %least = linalg.fill ins(%low : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %greatest = linalg.reduce { arith.maximumf } ins(%masked : tensor<4x4xf32>)
      outs(%least : tensor<4xf32>) dimensions = [1]
  %e = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%masked, %greatest : tensor<4x4xf32>, tensor<4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %exp = math.exp %d : f32
    linalg.yield %exp : f32
  } -> tensor<4x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %total = linalg.reduce { arith.addf } ins(%e : tensor<4x4xf32>)
      outs(%none : tensor<4xf32>) dimensions = [1]
  %weights = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%e, %total : tensor<4x4xf32>, tensor<4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%x: f32, %t: f32, %out: f32):
    %w = arith.divf %x, %t : f32
    linalg.yield %w : f32
  } -> tensor<4x4xf32>
  return %weights : tensor<4x4xf32>
}
