// The joined tensor is written slice by slice.
func.func @joined(%past: tensor<4x6x8xf32>, %new: tensor<4x1x8xf32>) -> tensor<4x7x8xf32> {
  %joined = tensor.concat dim(1) %past, %new : (tensor<4x6x8xf32>, tensor<4x1x8xf32>) -> tensor<4x7x8xf32>
  %twice = arith.addf %joined, %joined : tensor<4x7x8xf32>
  return %twice : tensor<4x7x8xf32>
}

// Both tables are constants, which lie side by side.
func.func @looked_up(%row: tensor<2xi64>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %first = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<4x4xf32>
  %second = arith.constant dense<[[2.0, 2.5, 3.5, 4.5], [5.5, 6.5, 7.5, 8.5], [9.5, 0.5, 1.5, 2.5], [3.5, 4.5, 5.0, 6.0]]> : tensor<4x4xf32>
  %empty = tensor.empty() : tensor<2x4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%row : tensor<2xi64>) outs(%empty : tensor<2x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %at = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %value = tensor.extract %first[%at, %j] : tensor<4x4xf32>
    linalg.yield %value : f32
  } -> tensor<2x4xf32>
  %kept = util.optimization_barrier %row : tensor<2xi64>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%kept : tensor<2xi64>) outs(%empty : tensor<2x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %at = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %value = tensor.extract %second[%at, %j] : tensor<4x4xf32>
    %twice = arith.addf %value, %value : f32
    linalg.yield %twice : f32
  } -> tensor<2x4xf32>
  return %a, %b : tensor<2x4xf32>, tensor<2x4xf32>
}
