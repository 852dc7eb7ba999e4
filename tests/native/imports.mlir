// A program whose imports are functions of native libraries: `packed` by TVM FFI, `library` by MLIR's C interface.

module @program {
  func.func private @packed.add(i64, i64) -> i64
  func.func private @packed.pair(i64, f64) -> (i64, f64)
  func.func private @packed.double_all(tensor<?xf32>) -> f64
  func.func private @packed.same(tensor<?xf32>) -> tensor<?xf32>
  func.func private @packed.address(tensor<?xf32>) -> i64
  func.func private @packed.fail(i64)
  func.func private @packed.text() -> i64
  func.func private @packed.tick() -> i64
  func.func private @packed.added(i64) -> tensor<?xf32>
  func.func private @library.scaled(tensor<?x?xf32>, f32) -> tensor<?x?xf32>
  func.func private @library.add(i32, i32) -> i32
  func.func private @library.checked(i32) -> i32

  func.func @add(%a: i64) -> i64 {
    %sum = call @packed.add(%a, %a) : (i64, i64) -> i64
    return %sum : i64
  }

  func.func @pair(%a: i64, %b: f64) -> (i64, f64) {
    %pair:2 = call @packed.pair(%a, %b) : (i64, f64) -> (i64, f64)
    return %pair#0, %pair#1 : i64, f64
  }

  func.func @sum(%x: tensor<?xf32>) -> f64 {
    %sum = call @packed.double_all(%x) : (tensor<?xf32>) -> f64
    return %sum : f64
  }

  func.func @same(%x: tensor<?xf32>) -> tensor<?xf32> {
    %same = call @packed.same(%x) : (tensor<?xf32>) -> tensor<?xf32>
    return %same : tensor<?xf32>
  }

  // Whether the memory is the same before and after it went through the library.
  func.func @shared(%x: tensor<?xf32>) -> i64 {
    %same = call @packed.same(%x) : (tensor<?xf32>) -> tensor<?xf32>
    %before = call @packed.address(%x) : (tensor<?xf32>) -> i64
    %after = call @packed.address(%same) : (tensor<?xf32>) -> i64
    %difference = arith.subi %before, %after : i64
    return %difference : i64
  }

  func.func @fail(%a: i64) {
    call @packed.fail(%a) : (i64) -> ()
    return
  }

  func.func @text() -> i64 {
    %text = call @packed.text() : () -> i64
    return %text : i64
  }

  // Its results tell how often the library was called.
  func.func @ticks(%n: i64) -> (i64, f64, tensor<?xf32>) {
    %a = call @packed.tick() : () -> i64
    %first = call @packed.added(%a) : (i64) -> tensor<?xf32>
    %b = call @packed.tick() : () -> i64
    %sum = call @packed.double_all(%first) : (tensor<?xf32>) -> f64
    %second = call @packed.added(%b) : (i64) -> tensor<?xf32>
    %both = arith.addf %first, %second : tensor<?xf32>
    %c = call @packed.tick() : () -> i64
    %d = arith.divsi %c, %n : i64
    return %d, %sum, %both : i64, f64, tensor<?xf32>
  }

  func.func @scaled(%x: tensor<?x?xf32>, %by: f32) -> tensor<?x?xf32> {
    %scaled = call @library.scaled(%x, %by) : (tensor<?x?xf32>, f32) -> tensor<?x?xf32>
    %again = call @library.scaled(%scaled, %by) : (tensor<?x?xf32>, f32) -> tensor<?x?xf32>
    return %again : tensor<?x?xf32>
  }

  func.func @add_twice(%a: i32) -> i32 {
    %sum = call @library.add(%a, %a) : (i32, i32) -> i32
    %again = call @library.add(%sum, %a) : (i32, i32) -> i32
    return %again : i32
  }

  func.func @checked(%a: i32) -> i32 {
    %checked = call @library.checked(%a) : (i32) -> i32
    return %checked : i32
  }
}
