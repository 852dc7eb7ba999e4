// Integers: exact, at every width.

func.func @words(%a: tensor<40xi32>, %b: tensor<40xi32>) -> (tensor<40xi64>, tensor<40xi32>) {
  %e64 = tensor.empty() : tensor<40xi64>
  %e32 = tensor.empty() : tensor<40xi32>
  %one = arith.constant 1 : i32
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a, %b : tensor<40xi32>, tensor<40xi32>) outs(%e64, %e32 : tensor<40xi64>, tensor<40xi32>) {
  ^bb0(%x: i32, %y: i32, %o0: i64, %o1: i32):
    %u = arith.extui %x : i32 to i64
    %s = arith.extsi %y : i32 to i64
    %p = arith.muli %u, %s : i64
    %odd = arith.ori %y, %one : i32
    %q = arith.divsi %x, %odd : i32
    %m = arith.remsi %x, %odd : i32
    %f = arith.floordivsi %x, %odd : i32
    %v = arith.subi %q, %m : i32
    %w = arith.maxsi %v, %f : i32
    linalg.yield %p, %w : i64, i32
  } -> (tensor<40xi64>, tensor<40xi32>)
  return %r#0, %r#1 : tensor<40xi64>, tensor<40xi32>
}

func.func @truth(%a: tensor<20xf32>, %b: tensor<20xf32>) -> tensor<20xi8> {
  %e = tensor.empty() : tensor<20xi8>
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a, %b : tensor<20xf32>, tensor<20xf32>) outs(%e : tensor<20xi8>) {
  ^bb0(%x: f32, %y: f32, %o: i8):
    %p = arith.cmpf ogt, %x, %y : f32
    %q = arith.cmpf ult, %x, %zero : f32
    %both = arith.andi %p, %q : i1
    %either = arith.xori %both, %p : i1
    %v = arith.extui %either : i1 to i8
    linalg.yield %v : i8
  } -> tensor<20xi8>
  return %r : tensor<20xi8>
}

func.func @sum(%a: tensor<9x11xi32>) -> tensor<9xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<9xi32>
  %clear = linalg.fill ins(%zero : i32) outs(%empty : tensor<9xi32>) -> tensor<9xi32>
  %r = linalg.reduce { arith.addi } ins(%a : tensor<9x11xi32>) outs(%clear : tensor<9xi32>) dimensions = [1]
  return %r : tensor<9xi32>
}
