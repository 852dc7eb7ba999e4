// The least common multiple of two numbers, by way of Euclid's algorithm for their greatest common divisor.
// Everything here is scalar: the module needs no device, so every step is one of the virtual machine's.

func.func private @gcd(%a: i32, %b: i32) -> i32 attributes {noinline} {
  %zero = arith.constant 0 : i32
  %result:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %y, %zero : i32
    scf.condition(%more) %x, %y : i32, i32
  } do {
  ^bb0(%x: i32, %y: i32):
    %rest = arith.remui %x, %y : i32
    scf.yield %y, %rest : i32, i32
  }
  return %result#0 : i32
}

func.func @lcm(%a: i32, %b: i32) -> i32 {
  %divisor = call @gcd(%a, %b) : (i32, i32) -> i32
  %quotient = arith.divui %a, %divisor : i32
  %multiple = arith.muli %quotient, %b : i32
  return %multiple : i32
}
