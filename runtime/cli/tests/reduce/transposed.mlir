// input 6x10xf32 floats
// input 10x6xf32 floats
// input 6xf32 floats
#map = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<6x10xf32>, %y: tensor<10x6xf32>, %z: tensor<6xf32>)
    -> tensor<6x10xi8> {
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %scale = arith.constant 11.5 : f32
  %e = tensor.empty() : tensor<6x10xi8>
  %r = linalg.generic {indexing_maps = [#map, #turned, #row, #map],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %z : tensor<6x10xf32>, tensor<10x6xf32>, tensor<6xf32>)
      outs(%e : tensor<6x10xi8>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: i8):
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %0, %c : f32
    %2 = arith.mulf %1, %scale : f32
    %3 = arith.addf %2, %c : f32
    %4 = arith.cmpf olt, %3, %low : f32
    %5 = arith.select %4, %low, %3 : f32
    %6 = arith.cmpf ogt, %5, %high : f32
    %7 = arith.select %6, %high, %5 : f32
    %8 = arith.fptosi %7 : f32 to i8
    linalg.yield %8 : i8
  } -> tensor<6x10xi8>
  return %r : tensor<6x10xi8>
}
