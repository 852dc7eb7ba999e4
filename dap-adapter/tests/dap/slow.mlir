// Calls a native function that takes its time.
func.func private @slow.wait(i32) -> i32
func.func @main(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %waited = func.call @slow.wait(%n) : (i32) -> i32
  %sum = arith.addi %waited, %one : i32 // adding
  %product = arith.muli %sum, %waited : i32 // multiplying
  return %product : i32
}
