// input 8x16xf32 floats
// input 8x16xf32 floats
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c2 = arith.constant 2.5 : f32
  %c3 = arith.constant 0.5 : f32
  %i7 = arith.constant 7 : i32
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %0, %c2 : f32
    %2 = arith.subf %1, %a : f32
    %3 = arith.maximumf %2, %b : f32
    %4 = math.absf %3 : f32
    %5 = math.sqrt %4 : f32
    %6 = arith.addf %5, %2 : f32
    %7 = arith.fptosi %6 : f32 to i32
    %8 = arith.addi %7, %i7 : i32
    %9 = arith.muli %8, %7 : i32
    %10 = arith.sitofp %9 : i32 to f32
    %11 = arith.mulf %10, %c3 : f32
    %12 = arith.addf %11, %a : f32
    %13 = arith.negf %12 : f32
    %14 = arith.minimumf %13, %b : f32
    %15 = arith.addf %14, %13 : f32
    linalg.yield %15 : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
