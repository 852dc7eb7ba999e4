// Rows of any number: before a run, only the bias has a known size.
func.func @sized(%rows: tensor<?x4xf32>, %bias: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %rows, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%count) : tensor<?x4xf32>
  %sum = linalg.generic {
    indexing_maps = [
      affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>
    ],
    iterator_types = ["parallel", "parallel"]
  } ins(%rows, %bias : tensor<?x4xf32>, tensor<4xf32>) outs(%empty : tensor<?x4xf32>) {
  ^bb0(%row: f32, %add: f32, %out: f32):
    %s = arith.addf %row, %add : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %sum : tensor<?x4xf32>
}
