// Several operations on a line, and some that become several instructions.
func.func private @mix(%a: i32, %b: i32) -> i32 attributes {noinline} {
  %s = arith.addi %a, %b : i32 %d = arith.muli %s, %a : i32
  return %d : i32
}
func.func @main(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c1) -> (i32) : i32 {
    %m = func.call @mix(%acc, %i) : (i32, i32) -> i32 %m2 = arith.addi %m, %c1 : i32
    scf.yield %m2 : i32
  }
  %q = arith.muli %r, %r : i32 %z = arith.subi %q, %r : i32
  return %z : i32
}

// RUN-WITH: --function=main --input=3
