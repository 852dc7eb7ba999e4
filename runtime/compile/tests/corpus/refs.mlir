// Globals, an initializer, buffers, lists, and a name with a space.
module @refs {
  util.global private mutable @scratch : !util.buffer
  util.global private mutable @count = 3 : i64
  util.initializer {
    %c16 = arith.constant 16 : index
    %b = util.buffer.alloc uninitialized : !util.buffer{%c16}
    util.global.store %b, @scratch : !util.buffer
    util.return
  }
  util.func public @with_list(%n: index) -> !util.list<?> {
    %l = util.list.create %n : !util.list<?>
    %c2 = arith.constant 2 : index
    util.list.resize %l, %c2 : !util.list<?>
    %c0 = arith.constant 0 : index
    %v = arith.constant 5.0 : f32
    util.list.set %l[%c0], %v : f32 -> !util.list<?>
    %b = util.global.load @scratch : !util.buffer
    %c1 = arith.constant 1 : index
    util.list.set %l[%c1], %b : !util.buffer -> !util.list<?>
    util.return %l : !util.list<?>
  }
  util.func public @"count up"(%by: i64) -> i64 {
    %old = util.global.load @count : i64
    %new = arith.addi %old, %by : i64
    util.global.store %new, @count : i64
    util.return %new : i64
  }
  util.func public @bytes(%at: index) -> i32 {
    %b = util.global.load @scratch : !util.buffer
    %size = util.buffer.size %b : !util.buffer
    %v = arith.constant 7 : i32
    util.buffer.store %v, %b[%at for %at] : i32 -> !util.buffer{%size}
    %back = util.buffer.load %b[%at for %at] : !util.buffer{%size} -> i32
    util.return %back : i32
  }
}
