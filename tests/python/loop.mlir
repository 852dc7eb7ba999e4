func.func private @host.twice(i32) -> i32
func.func private @inner(%n: i32, %d: i32) -> i32 attributes {noinline} {
  %q = arith.divsi %n, %d : i32
  return %q : i32
}
func.func @main(%n: i32, %d: i32) -> i32 {
  %r = func.call @inner(%n, %d) : (i32, i32) -> i32
  return %r : i32
}
func.func @spin(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.while (%i = %c0) : (i64) -> i64 {
    %go = arith.cmpi slt, %i, %n : i64
    scf.condition(%go) %i : i64
  } do {
  ^bb0(%i: i64):
    %next = arith.addi %i, %c1 : i64
    scf.yield %next : i64
  }
  return %r : i64
}
func.func @twice(%n: i32) -> i32 {
  %r = func.call @host.twice(%n) : (i32) -> i32
  return %r : i32
}
