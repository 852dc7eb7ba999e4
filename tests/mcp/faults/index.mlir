// Rows of a table by their numbers, read through another table of numbers; one of these is wrong.
func.func @lookup(%table: tensor<32x8xf32>, %tokens: tensor<4xi64>) -> tensor<4x8xf32> {
  %order = arith.constant dense<[3, 1, 47, 0, 2, 5, 4, 7]> : tensor<8xi64>
  %empty = tensor.empty() : tensor<4x8xf32>
  %rows = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%tokens : tensor<4xi64>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%token: i64, %out: f32):
    %at = arith.index_cast %token : i64 to index
    %number = tensor.extract %order[%at] : tensor<8xi64>
    %row = arith.index_cast %number : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%row, %column] : tensor<32x8xf32>
    linalg.yield %element : f32
  } -> tensor<4x8xf32>
  return %rows : tensor<4x8xf32>
}
