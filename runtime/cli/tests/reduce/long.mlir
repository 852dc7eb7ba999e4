// input 96xi8 bytes
// input 96xi8 bytes
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<96xi8>, %y: tensor<96xi8>) -> tensor<96xi8> {
  %one = arith.constant 1 : i8
  %five = arith.constant 5 : i8
  %e = tensor.empty() : tensor<96xi8>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<96xi8>, tensor<96xi8>) outs(%e : tensor<96xi8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %0 = arith.xori %b, %a : i8
    %1 = arith.andi %0, %b : i8
    %2 = arith.ori %1, %five : i8
    %3 = arith.maxsi %2, %1 : i8
    %4 = arith.minsi %3, %a : i8
    %5 = arith.addi %4, %b : i8
    %6 = arith.xori %5, %five : i8
    %7 = arith.ori %6, %5 : i8
    %8 = arith.xori %7, %a : i8
    %9 = arith.andi %8, %b : i8
    %10 = arith.ori %9, %five : i8
    %11 = arith.maxsi %10, %9 : i8
    %12 = arith.minsi %11, %a : i8
    %13 = arith.addi %12, %b : i8
    %14 = arith.xori %13, %five : i8
    %15 = arith.ori %14, %13 : i8
    %16 = arith.xori %15, %a : i8
    %17 = arith.andi %16, %b : i8
    %18 = arith.ori %17, %five : i8
    %19 = arith.maxsi %18, %17 : i8
    %20 = arith.shrsi %19, %one : i8
    %21 = arith.addi %20, %b : i8
    %22 = arith.xori %21, %five : i8
    %23 = arith.ori %22, %21 : i8
    %24 = arith.xori %23, %a : i8
    %25 = arith.andi %24, %b : i8
    %26 = arith.ori %25, %five : i8
    %27 = arith.maxsi %26, %25 : i8
    %28 = arith.minsi %27, %a : i8
    %29 = arith.addi %28, %b : i8
    %30 = arith.xori %29, %five : i8
    %31 = arith.ori %30, %29 : i8
    %32 = arith.xori %31, %a : i8
    %33 = arith.andi %32, %b : i8
    linalg.yield %33 : i8
  } -> tensor<96xi8>
  return %r : tensor<96xi8>
}
