// input 64xi8 bytes
// input 64xi8 bytes
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<64xi8>, %y: tensor<64xi8>) -> tensor<64xi32> {
  %two = arith.constant 2 : i8
  %five = arith.constant 5 : i8
  %e = tensor.empty() : tensor<64xi32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<64xi8>, tensor<64xi8>) outs(%e : tensor<64xi32>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %0 = arith.xori %a, %five : i8
    %1 = arith.andi %0, %b : i8
    %2 = arith.ori %1, %two : i8
    %3 = arith.addi %2, %a : i8
    %4 = arith.addi %3, %b : i8
    %5 = arith.shrsi %4, %two : i8
    %6 = arith.extsi %5 : i8 to i32
    %7 = arith.muli %6, %6 : i32
    %8 = arith.subi %7, %6 : i32
    %9 = arith.extsi %a : i8 to i32
    %10 = arith.addi %8, %9 : i32
    linalg.yield %10 : i32
  } -> tensor<64xi32>
  return %r : tensor<64xi32>
}
