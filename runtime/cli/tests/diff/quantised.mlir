// A layer of i8, as quantised models have it: products in i32, scaled and rounded back.
//
// input: 8x32xi8 100
// input: 32x16xi8 100
// fault scale of %scaled: `2.5e-4 : f32` -> `2.6e-4 : f32`
// fault zero_point of %scaled: `3.0 : f32` -> `4.0 : f32`
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<8x32xi8>, %w: tensor<32x16xi8>) -> tensor<8x16xi8> {
  %zero = arith.constant 0 : i32
  %scale = arith.constant 2.5e-4 : f32
  %point = arith.constant 3.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<8x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<8x16xi32>) -> tensor<8x16xi32>
  %product = linalg.matmul ins(%x, %w : tensor<8x32xi8>, tensor<32x16xi8>) outs(%f : tensor<8x16xi32>) -> tensor<8x16xi32>
  %e8 = tensor.empty() : tensor<8x16xi8>
  %scaled = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<8x16xi32>) outs(%e8 : tensor<8x16xi8>) {
  ^bb0(%a: i32, %o: i8):
    %r = arith.sitofp %a : i32 to f32
    %s = arith.mulf %r, %scale : f32
    %t = math.roundeven %s : f32
    %u = arith.addf %t, %point : f32
    %v = arith.maximumf %u, %low : f32
    %y = arith.minimumf %v, %high : f32
    %q = arith.fptosi %y : f32 to i8
    linalg.yield %q : i8
  } -> tensor<8x16xi8>
  return %scaled : tensor<8x16xi8>
}
