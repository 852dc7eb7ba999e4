// input 6x24xf32 floats
// input 6x24xf32 floats
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<6x24xf32>, %y: tensor<6x24xf32>) -> tensor<6xi32> {
  %zero = arith.constant 0 : i32
  %scale = arith.constant 3.25 : f32
  %e = tensor.empty() : tensor<6xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<6xi32>) -> tensor<6xi32>
  %r = linalg.generic {indexing_maps = [#map, #map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<6x24xf32>, tensor<6x24xf32>) outs(%f : tensor<6xi32>) {
  ^bb0(%a: f32, %b: f32, %o: i32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %scale : f32
    %2 = arith.mulf %1, %a : f32
    %3 = arith.subf %2, %b : f32
    %4 = arith.fptosi %3 : f32 to i32
    %5 = arith.muli %4, %4 : i32
    %6 = arith.addi %5, %4 : i32
    %7 = arith.addi %6, %o : i32
    linalg.yield %7 : i32
  } -> tensor<6xi32>
  return %r : tensor<6xi32>
}
