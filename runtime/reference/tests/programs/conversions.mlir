// ONLY: llvm-cpu. VMVX of IREE 3.13 rounds `arith.fptosi` to the nearest integer: 2.6 is 3 there.

func.func @to_integer(%a: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xi32>) {
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
    %i = arith.fptosi %x : f32 to i32
    linalg.yield %u, %i : f32, i32
  } -> (tensor<40xf32>, tensor<40xi32>)
  return %r#0, %r#1 : tensor<40xf32>, tensor<40xi32>
}
