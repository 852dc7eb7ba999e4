// A program that calls a library with a state: see outside.rs.

module @program {
  func.func private @library.next() -> i32
  func.func private @library.double(!hal.buffer_view)
  func.func private @library.tensor(i32) -> tensor<4xf32>
  func.func private @library.keep(!hal.buffer_view)
  func.func private @library.poke(i32) -> i32
  func.func private @library.wait(i32) -> i32
  func.func private @library.fail(i32) -> i32
  func.func private @library.steps(i32) -> i32

  func.func @numbers(%n: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %ten = arith.constant 10 : i32
    %sum:2 = scf.while (%i = %zero, %total = %zero) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi slt, %i, %n : i32
      scf.condition(%go) %i, %total : i32, i32
    } do {
    ^bb0(%i: i32, %total: i32):
      %a = func.call @library.next() : () -> i32
      %b = func.call @library.wait(%a) : (i32) -> i32
      %t = arith.muli %total, %ten : i32
      %u = arith.addi %t, %b : i32
      %j = arith.addi %i, %one : i32
      scf.yield %j, %u : i32, i32
    }
    return %sum#1 : i32
  }

  func.func @tensors(%x: !hal.buffer_view) -> tensor<4xf32> {
    %one = arith.constant 1 : i32
    func.call @library.double(%x) : (!hal.buffer_view) -> ()
    %number = func.call @library.next() : () -> i32
    %made = func.call @library.tensor(%number) : (i32) -> tensor<4xf32>
    func.call @library.keep(%x) : (!hal.buffer_view) -> ()
    %poked = func.call @library.poke(%one) : (i32) -> i32
    %given = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
    %sum = arith.addf %given, %made : tensor<4xf32>
    return %sum : tensor<4xf32>
  }

  func.func @failing(%n: i32) -> i32 {
    %a = func.call @library.next() : () -> i32
    %b = func.call @library.fail(%a) : (i32) -> i32
    return %b : i32
  }

  func.func @stepping(%n: i32) -> i32 {
    %a = func.call @library.next() : () -> i32
    %b = func.call @library.steps(%a) : (i32) -> i32
    %c = func.call @library.next() : () -> i32
    %d = arith.addi %b, %c : i32
    return %d : i32
  }
}
