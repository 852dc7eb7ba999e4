// input 48xi8 bytes
// input 48xi8 bytes
// input 48xf32 floats
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<48xi8>, %y: tensor<48xi8>, %z: tensor<48xf32>) -> tensor<48xf32> {
  %ten = arith.constant 10 : i8
  %scale = arith.constant 0.375 : f32
  %e = tensor.empty() : tensor<48xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<48xi8>, tensor<48xi8>, tensor<48xf32>)
      outs(%e : tensor<48xf32>) {
  ^bb0(%a: i8, %b: i8, %c: f32, %o: f32):
    %0 = arith.xori %a, %ten : i8
    %1 = arith.addi %0, %b : i8
    %2 = arith.cmpi sgt, %1, %ten : i8
    %3 = arith.mulf %c, %scale : f32
    %4 = math.exp %3 : f32
    %5 = arith.divf %c, %4 : f32
    %6 = arith.select %2, %5, %3 : f32
    %7 = arith.addf %6, %c : f32
    %8 = math.tanh %7 : f32
    linalg.yield %8 : f32
  } -> tensor<48xf32>
  return %r : tensor<48xf32>
}
