// A loop of a few operations, for stepping and for conditions.
func.func @main(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%so_far = %zero) -> (i32) : i32 {
    %product = arith.muli %i, %three : i32
    %mixed = arith.xori %product, %so_far : i32
    %next = arith.addi %mixed, %i : i32 // STEP
    scf.yield %next : i32
  }
  return %sum : i32
}
