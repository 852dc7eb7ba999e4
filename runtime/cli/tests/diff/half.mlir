// Sums of f16 in f32: in f16 itself they overflow at 65504.
//
// no bytecode: VMVX does not extend f16
// input: 16x512xf16 +400
// fault overflow of %mean: `%w = arith.extf %t : f16 to f32` -> `%w16 = arith.mulf %t, %n16 : f16 %w = arith.extf %w16 : f16 to f32`
// fault narrow of %scaled: `arith.constant 2.0 : f16` -> `arith.constant 2.1 : f16`
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<16x512xf16>) -> tensor<16x512xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 512.0 : f32
  %n16 = arith.constant 512.0 : f16
  %two = arith.constant 2.0 : f16
  %e1 = tensor.empty() : tensor<16xf32>
  %eh = tensor.empty() : tensor<16xf16>
  %e2 = tensor.empty() : tensor<16x512xf16>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x512xf16>) outs(%f : tensor<16xf32>) {
  ^bb0(%t: f16, %o: f32):
    %w = arith.extf %t : f16 to f32
    %s = arith.addf %w, %o : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%sum : tensor<16xf32>) outs(%eh : tensor<16xf16>) {
  ^bb0(%t: f32, %o: f16):
    %m = arith.divf %t, %n : f32
    %h = arith.truncf %m : f32 to f16
    linalg.yield %h : f16
  } -> tensor<16xf16>
  %scaled = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<16x512xf16>, tensor<16xf16>) outs(%e2 : tensor<16x512xf16>) {
  ^bb0(%t: f16, %m: f16, %o: f16):
    %d = arith.subf %t, %m : f16
    %s = arith.mulf %d, %two : f16
    linalg.yield %s : f16
  } -> tensor<16x512xf16>
  return %scaled : tensor<16x512xf16>
}
