// input 4x8x8xf32 floats
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%x: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x8xf32>
  %r = linalg.generic {indexing_maps = [#map, #map],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x8x8xf32>) outs(%e : tensor<4x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.mulf %a, %3 : f32
    %5 = arith.fptosi %4 : f32 to i32
    %6 = arith.sitofp %5 : i32 to f32
    %7 = arith.subf %4, %6 : f32
    %8 = arith.cmpf olt, %7, %zero : f32
    %9 = arith.negf %7 : f32
    %10 = arith.select %8, %9, %7 : f32
    %11 = arith.mulf %10, %3 : f32
    linalg.yield %11 : f32
  } -> tensor<4x8x8xf32>
  return %r : tensor<4x8x8xf32>
}
