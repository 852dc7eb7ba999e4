// Calls that are inlined, in functions whose values have the same names.
func.func private @mix(%0: i32, %1: i32) -> i32 {
  %2 = arith.muli %0, %1 : i32
  %3 = arith.xori %2, %0 : i32
  %4 = arith.subi %3, %1 : i32
  return %4 : i32
}
func.func private @twice(%0: i32, %1: i32) -> i32 {
  %2 = call @mix(%1, %0) : (i32, i32) -> i32
  %3 = call @mix(%2, %1) : (i32, i32) -> i32
  %4 = arith.divsi %3, %2 : i32
  return %4 : i32
}
func.func @main(%0: i32, %1: i32) -> i32 {
  %2 = call @twice(%0, %1) : (i32, i32) -> i32
  %3 = call @mix(%2, %0) : (i32, i32) -> i32
  %4 = arith.remsi %3, %1 : i32
  %5 = arith.xori %4, %2 : i32
  return %5 : i32
}

// RUN-WITH: --function=main --input=13 --input=5
