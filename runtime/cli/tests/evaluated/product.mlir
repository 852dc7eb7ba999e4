// A product of matrices, whose operands lie in tiles with `--iree-opt-data-tiling`. No size is a
// multiple of a tile's.
//
// input: 33x65xf32 2
// input: 65x17xf32 1
// input: 17xf32 1
// planted: 0.731 0.7311
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<33x65xf32>, %b: tensor<65x17xf32>, %bias: tensor<17xf32>) -> tensor<33x17xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.731 : f32
  %e = tensor.empty() : tensor<33x17xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33x17xf32>) -> tensor<33x17xf32>
  %product = linalg.matmul ins(%a, %b : tensor<33x65xf32>, tensor<65x17xf32>) outs(%f : tensor<33x17xf32>) -> tensor<33x17xf32>
  %scaled = linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> (d1)>, #map], iterator_types = ["parallel", "parallel"]} ins(%product, %bias : tensor<33x17xf32>, tensor<17xf32>) outs(%e : tensor<33x17xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.mulf %x, %scale : f32
    %t = arith.addf %s, %y : f32
    linalg.yield %t : f32
  } -> tensor<33x17xf32>
  return %scaled : tensor<33x17xf32>
}
