// Calls into another module.
func.func private @provider.twice(i32) -> i32
func.func @main(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %twice = func.call @provider.twice(%n) : (i32) -> i32 // calling
  %sum = arith.addi %twice, %one : i32
  return %sum : i32
}
