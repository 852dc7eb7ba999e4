// ONLY: llvm-cpu. VMVX of IREE 3.13 computes narrow integers in 32 bits and does not cut the results:
// for i8, 96 + 96 is 192 there when it is compared or shifted, and -48 >> 3 is 26.

func.func @bytes(%a: tensor<64xi8>, %b: tensor<64xi8>) -> (tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>) {
  %three = arith.constant 3 : i8
  %e = tensor.empty() : tensor<64xi8>
  %r:4 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a, %b : tensor<64xi8>, tensor<64xi8>) outs(%e, %e, %e, %e : tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>) {
  ^bb0(%x: i8, %y: i8, %o0: i8, %o1: i8, %o2: i8, %o3: i8):
    %sum = arith.addi %x, %y : i8
    %product = arith.muli %x, %y : i8
    %shifted = arith.shrsi %product, %three : i8
    %logical = arith.shrui %sum, %three : i8
    %less = arith.cmpi ult, %x, %y : i8
    %chosen = arith.select %less, %x, %y : i8
    %wide = arith.extsi %x : i8 to i32
    %narrow = arith.trunci %wide : i32 to i8
    %mixed = arith.xori %narrow, %chosen : i8
    linalg.yield %sum, %shifted, %logical, %mixed : i8, i8, i8, i8
  } -> (tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>
}
