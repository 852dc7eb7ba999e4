// Scalar operations of every kind, on floats.

func.func @basic(%a: tensor<40xf32>, %b: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>, tensor<40xf32>) {
  %e = tensor.empty() : tensor<40xf32>
  %r:3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a, %b : tensor<40xf32>, tensor<40xf32>) outs(%e, %e, %e : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>) {
  ^bb0(%x: f32, %y: f32, %o0: f32, %o1: f32, %o2: f32):
    %sum = arith.addf %x, %y : f32
    %difference = arith.subf %x, %y : f32
    %quotient = arith.divf %sum, %difference : f32
    %negative = arith.negf %quotient : f32
    %absolute = math.absf %negative : f32
    %root = math.sqrt %absolute : f32
    %greater = arith.maximumf %x, %y : f32
    %lesser = arith.minimumf %x, %root : f32
    %mixed = arith.subf %greater, %lesser : f32
    linalg.yield %root, %lesser, %mixed : f32, f32, f32
  } -> (tensor<40xf32>, tensor<40xf32>, tensor<40xf32>)
  return %r#0, %r#1, %r#2 : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>
}

func.func @rounding(%a: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xi32>) {
  %e = tensor.empty() : tensor<40xf32>
  %ei = tensor.empty() : tensor<40xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a : tensor<40xf32>) outs(%e, %ei : tensor<40xf32>, tensor<40xi32>) {
  ^bb0(%x: f32, %o0: f32, %o1: i32):
    %floor = math.floor %x : f32
    %ceil = math.ceil %x : f32
    %near = math.roundeven %x : f32
    %away = math.round %x : f32
    %s = arith.addf %floor, %ceil : f32
    %t = arith.addf %near, %away : f32
    %u = arith.mulf %s, %t : f32
    %i = arith.constant 7 : i32
    linalg.yield %u, %i : f32, i32
  } -> (tensor<40xf32>, tensor<40xi32>)
  return %r#0, %r#1 : tensor<40xf32>, tensor<40xi32>
}

// @specials: 8xf32=inf,-inf,nan,1,0,-0.0,3e38,1e-30 8xf32=1,inf,2,nan,inf,5,3e38,1e-30
func.func @specials(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi8>) {
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8xi8>
  %r:3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e, %e, %eb : tensor<8xf32>, tensor<8xf32>, tensor<8xi8>) {
  ^bb0(%x: f32, %y: f32, %o0: f32, %o1: f32, %o2: i8):
    %sum = arith.addf %x, %y : f32
    %product = arith.mulf %x, %y : f32
    %unordered = arith.cmpf uno, %x, %y : f32
    %i = arith.extui %unordered : i1 to i8
    linalg.yield %sum, %product, %i : f32, f32, i8
  } -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi8>)
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xi8>
}
