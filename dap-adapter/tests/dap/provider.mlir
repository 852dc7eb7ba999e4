// What caller.mlir imports.
module @provider {
  func.func @twice(%x: i32) -> i32 {
    %two = arith.constant 2 : i32
    %doubled = arith.muli %x, %two : i32 // doubling
    return %doubled : i32
  }
}
