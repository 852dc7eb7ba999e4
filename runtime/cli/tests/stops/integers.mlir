// Integers that overflow, in VM code and in dispatches.

func.func @scalars(%a: i32, %b: i64) -> (i32, i64) {
  %c7 = arith.constant 7 : i32
  %c3 = arith.constant 3 : i64
  %p = arith.muli %a, %c7 : i32
  %s = arith.addi %p, %a : i32
  %m = arith.muli %b, %b : i64
  %n = arith.addi %m, %c3 : i64
  %shifted = arith.shli %a, %a : i32
  %absolute = math.absi %a : i32
  %x = arith.xori %shifted, %absolute : i32
  %z = arith.subi %x, %s : i32
  return %z, %n : i32, i64
}

func.func @quotient(%a: i32, %b: i32) -> i32 {
  %q = arith.divsi %a, %b : i32
  return %q : i32
}

// Wraps where a byte does, although the VM computes it with 32 bits.
func.func @bytes(%x: tensor<8xi8>) -> tensor<8xi8> {
  %empty = tensor.empty() : tensor<8xi8>
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi8>) outs(%empty : tensor<8xi8>) {
  ^bb0(%i: i8, %o: i8):
    %sum = arith.addi %i, %i : i8
    linalg.yield %sum : i8
  } -> tensor<8xi8>
  return %r : tensor<8xi8>
}

// A product and a sum that become one instruction.
func.func @squares(%x: tensor<8xi32>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<i32>
  %filled = linalg.fill ins(%zero : i32) outs(%empty : tensor<i32>) -> tensor<i32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xi32>) outs(%filled : tensor<i32>) {
  ^bb0(%i: i32, %sum: i32):
    %square = arith.muli %i, %i : i32
    %more = arith.addi %sum, %square : i32
    linalg.yield %more : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}
