// Greatest common divisors of pairs, as iree-compile writes them: 64-bit remainders in a `while` loop.
// INPUT: 40000
func.func @main(%count: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %zero_64 = arith.constant 0 : i64
  %factor = arith.constant 2654435761 : i64
  %modulus = arith.constant 1000003 : i64
  %sum = scf.for %number = %zero to %count step %one iter_args(%sum = %zero_64) -> (i64) : i32 {
    %wide = arith.extui %number : i32 to i64
    %product = arith.muli %wide, %factor : i64
    %other = arith.remui %product, %modulus : i64
    %pair:2 = scf.while (%a = %wide, %b = %other) : (i64, i64) -> (i64, i64) {
      %goes_on = arith.cmpi ne, %b, %zero_64 : i64
      scf.condition(%goes_on) %a, %b : i64, i64
    } do {
    ^bb0(%a: i64, %b: i64):
      %rest = arith.remui %a, %b : i64
      scf.yield %b, %rest : i64, i64
    }
    %more = arith.addi %sum, %pair#0 : i64
    scf.yield %more : i64
  }
  %result = arith.trunci %sum : i64 to i32
  return %result : i32
}
