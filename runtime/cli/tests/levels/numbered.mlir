// Values whose names are those of others in the VM program, as tools write them.
func.func private @mix(%0: i32, %1: i32) -> i32 attributes {noinline} {
  %2 = arith.muli %0, %1 : i32
  %3 = arith.xori %2, %0 : i32
  %4 = arith.subi %3, %1 : i32
  return %4 : i32
}
func.func @main(%0: i32) -> i32 {
  %1 = call @mix(%0, %0) : (i32, i32) -> i32
  %2 = call @mix(%0, %1) : (i32, i32) -> i32
  return %2 : i32
}

// RUN-WITH: --function=main --input=3
