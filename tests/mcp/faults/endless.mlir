// A loop that takes longer than anybody waits.
func.func @spin(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> i64 : i64 {
    %square = arith.muli %i, %i : i64
    %rest = arith.remsi %square, %c3 : i64
    %t = arith.addi %s, %rest : i64
    scf.yield %t : i64
  }
  return %sum : i64
}
