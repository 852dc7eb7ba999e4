// A tensor whose parts are stored by different dispatches.
//
// input: 8x8xf32 1.0
// input: 8x4xf32 1.0
// fault part of %half: `arith.mulf %a, %c2` -> `arith.mulf %a, %c3`
// fault place of %both: `into %first[0, 8]` -> `into %first[0, 7]`
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x4xf32>) -> tensor<8x12xf32> {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2.0 : f32
  %c3 = arith.constant 3.0 : f32
  %ex = tensor.empty() : tensor<8x8xf32>
  %ey = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ex : tensor<8x8xf32>) -> tensor<8x8xf32>
  %square = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<8x4xf32>) -> tensor<8x4xf32>
  %narrow = linalg.matmul ins(%square, %y : tensor<8x8xf32>, tensor<8x4xf32>) outs(%fy : tensor<8x4xf32>) -> tensor<8x4xf32>
  %half = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%narrow : tensor<8x4xf32>) outs(%ey : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %c2 : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %all = arith.constant dense<0.0> : tensor<8x12xf32>
  %first = tensor.insert_slice %square into %all[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<8x12xf32>
  %both = tensor.insert_slice %half into %first[0, 8] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<8x12xf32>
  return %both : tensor<8x12xf32>
}
