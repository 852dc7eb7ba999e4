// Rows of a table by their numbers, as the first layer of a language model does. Nothing checks the
// numbers: one that is too large reads outside of the table.
func.func @lookup(%table: tensor<32x8xf32>, %tokens: tensor<4xi64>) -> tensor<4x8xf32> {
  %empty = tensor.empty() : tensor<4x8xf32>
  %rows = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%tokens : tensor<4xi64>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%token: i64, %out: f32):
    %row = arith.index_cast %token : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%row, %column] : tensor<32x8xf32>
    linalg.yield %element : f32
  } -> tensor<4x8xf32>
  return %rows : tensor<4x8xf32>
}
