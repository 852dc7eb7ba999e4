// A product of matrices and a softmax of its rows: a few dispatches with long loops.
// INPUT: 64x64xf32=0.25
// INPUT: 64x64xf32=0.5
#rows = affine_map<(i, j) -> (i)>
#whole = affine_map<(i, j) -> (i, j)>
func.func @main(%queries: tensor<64x64xf32>, %keys: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %empty_row = tensor.empty() : tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %zero_row = linalg.fill ins(%zero : f32) outs(%empty_row : tensor<64xf32>) -> tensor<64xf32>
  %low_row = linalg.fill ins(%lowest : f32) outs(%empty_row : tensor<64xf32>) -> tensor<64xf32>
  %scores = linalg.matmul ins(%queries, %keys : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%zeros : tensor<64x64xf32>) -> tensor<64x64xf32>
  %largest = linalg.generic {indexing_maps = [#whole, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%scores : tensor<64x64xf32>) outs(%low_row : tensor<64xf32>) {
    ^bb0(%score: f32, %most: f32):
      %more = arith.maximumf %score, %most : f32
      linalg.yield %more : f32
  } -> tensor<64xf32>
  %powers = linalg.generic {indexing_maps = [#whole, #rows, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%scores, %largest : tensor<64x64xf32>, tensor<64xf32>) outs(%empty : tensor<64x64xf32>) {
    ^bb0(%score: f32, %most: f32, %unused: f32):
      %below = arith.subf %score, %most : f32
      %power = math.exp %below : f32
      linalg.yield %power : f32
  } -> tensor<64x64xf32>
  %sums = linalg.generic {indexing_maps = [#whole, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%powers : tensor<64x64xf32>) outs(%zero_row : tensor<64xf32>) {
    ^bb0(%power: f32, %sum: f32):
      %more = arith.addf %power, %sum : f32
      linalg.yield %more : f32
  } -> tensor<64xf32>
  %shares = linalg.generic {indexing_maps = [#whole, #rows, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%powers, %sums : tensor<64x64xf32>, tensor<64xf32>) outs(%empty : tensor<64x64xf32>) {
    ^bb0(%power: f32, %sum: f32, %unused: f32):
      %share = arith.divf %power, %sum : f32
      linalg.yield %share : f32
  } -> tensor<64x64xf32>
  return %shares : tensor<64x64xf32>
}
