// input 6x10xi8 bytes
// input 6x10xi8 bytes
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<6x10xi8>, %y: tensor<6x10xi8>) -> tensor<6x10xi8> {
  %three = arith.constant 3 : i8
  %e = tensor.empty() : tensor<6x10xi8>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<6x10xi8>, tensor<6x10xi8>) outs(%e : tensor<6x10xi8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %0 = arith.maxsi %a, %b : i8
    %1 = arith.subi %0, %three : i8
    %2 = arith.muli %1, %b : i8
    %3 = arith.divsi %2, %three : i8
    %4 = arith.addi %3, %a : i8
    %5 = arith.xori %4, %b : i8
    %6 = arith.minsi %5, %a : i8
    %7 = arith.subi %6, %3 : i8
    linalg.yield %7 : i8
  } -> tensor<6x10xi8>
  return %r : tensor<6x10xi8>
}
