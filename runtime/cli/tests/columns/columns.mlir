// Several operations on each line.

func.func private @mix(%x: i32) -> i32 {
  %square = arith.muli %x, %x : i32 %mixed = arith.xori %square, %x : i32 return %mixed : i32
}

func.func @main(%a: i32, %b: i32) -> i32 {
  %s = arith.addi %a, %b : i32 %d = arith.subi %a, %b : i32 %p = arith.muli %s, %d : i32 // three
  %q = func.call @mix(%p) : (i32) -> i32 %r = func.call @mix(%q) : (i32) -> i32 // two calls
  %zero = arith.constant 0 : i32 %one = arith.constant 1 : i32
  %sum = scf.for %i = %zero to %b step %one iter_args(%x = %r) -> (i32) : i32 { %y = arith.xori %x, %a : i32 %z = arith.addi %y, %i : i32 scf.yield %z : i32 } // a loop
  return %sum : i32
}

// RUN-WITH: --function=main --input=7 --input=3
