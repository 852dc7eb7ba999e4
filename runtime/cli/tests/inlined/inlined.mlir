// Functions that the compiler inlines: one into another, and both into the exported one.

func.func private @mix(%x: i32) -> i32 {
  %square = arith.muli %x, %x : i32
  %mixed = arith.xori %square, %x : i32
  return %mixed : i32
}

func.func private @twice(%x: i32) -> i32 {
  %once = func.call @mix(%x) : (i32) -> i32
  %again = func.call @mix(%once) : (i32) -> i32
  return %again : i32
}

func.func @main(%a: i32, %b: i32) -> i32 {
  %left = func.call @twice(%a) : (i32) -> i32
  %right = func.call @mix(%b) : (i32) -> i32
  %result = arith.subi %left, %right : i32
  return %result : i32
}

// RUN-WITH: --function=main --input=7 --input=3
