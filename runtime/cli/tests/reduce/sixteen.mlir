// input 40xi16 words
// input 40xi16 words
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<40xi16>, %y: tensor<40xi16>) -> tensor<40xi16> {
  %three = arith.constant 3 : i16
  %nine = arith.constant 9 : i16
  %e = tensor.empty() : tensor<40xi16>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<40xi16>, tensor<40xi16>) outs(%e : tensor<40xi16>) {
  ^bb0(%a: i16, %b: i16, %o: i16):
    %0 = arith.muli %a, %nine : i16
    %1 = arith.addi %0, %b : i16
    %2 = arith.shrsi %1, %three : i16
    %3 = arith.xori %2, %b : i16
    %4 = arith.cmpi slt, %3, %a : i16
    %5 = arith.select %4, %3, %b : i16
    %6 = arith.subi %5, %nine : i16
    %7 = arith.ori %6, %three : i16
    linalg.yield %7 : i16
  } -> tensor<40xi16>
  return %r : tensor<40xi16>
}
