// A global is counted up in a loop, and another function sets it back once.
module @counter {
  util.global private mutable @count = 0 : i32
  func.func private @tick(%by: i32) attributes {noinline} {
    %old = util.global.load @count : i32
    %new = arith.addi %old, %by : i32
    util.global.store %new, @count : i32
    return
  }
  func.func private @reset() attributes {noinline} {
    %zero = arith.constant 0 : i32
    util.global.store %zero, @count : i32
    return
  }
  func.func private @get() -> i32 attributes {noinline} {
    %now = util.global.load @count : i32
    return %now : i32
  }
  func.func @main(%n: index, %at: index) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 {
      func.call @tick(%one) : (i32) -> ()
      %is = arith.cmpi eq, %i, %at : index
      scf.if %is {
        func.call @reset() : () -> ()
      }
    }
    %result = func.call @get() : () -> i32
    return %result : i32
  }
}
