// Operations that make NaN or an infinity of numbers, each in its own dispatch.
#row = affine_map<(d0, d1) -> (d0)>
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @numbers(%x: tensor<2x4xf32>, %d: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %log = math.log %x : tensor<2x4xf32>
  %quotient = arith.divf %x, %d : tensor<2x4xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %squares = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x4xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %sum = arith.addf %square, %out : f32
    linalg.yield %sum : f32
  } -> tensor<2xf32>
  %turned.empty = tensor.empty() : tensor<4x2xf32>
  %turned = linalg.transpose ins(%d : tensor<2x4xf32>) outs(%turned.empty : tensor<4x2xf32>) permutation = [1, 0]
  %product.empty = tensor.empty() : tensor<2x2xf32>
  %product.init = linalg.fill ins(%zero : f32) outs(%product.empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %product = linalg.matmul ins(%quotient, %turned : tensor<2x4xf32>, tensor<4x2xf32>) outs(%product.init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %log, %quotient, %squares, %product : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x2xf32>
}
