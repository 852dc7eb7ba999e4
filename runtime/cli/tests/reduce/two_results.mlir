// input 32xf32 floats
// input 32xf32 floats
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<32xf32>, %y: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %c = arith.constant 1.75 : f32
  %e = tensor.empty() : tensor<32xf32>
  %r:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<32xf32>, tensor<32xf32>)
      outs(%e, %e : tensor<32xf32>, tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.subf %2, %a : f32
    %4 = arith.fptosi %1 : f32 to i32
    %5 = arith.sitofp %4 : i32 to f32
    %6 = arith.subf %1, %5 : f32
    %7 = arith.mulf %6, %c : f32
    linalg.yield %3, %7 : f32, f32
  } -> (tensor<32xf32>, tensor<32xf32>)
  return %r#0, %r#1 : tensor<32xf32>, tensor<32xf32>
}
