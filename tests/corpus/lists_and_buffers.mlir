// Lists, buffers and constants without a device.

// RUN-WITH: --function=squares --input=5
func.func @squares(%n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.index_cast %n : i32 to index
  %list = util.list.create %size : !util.list<i32>
  util.list.resize %list, %size : !util.list<i32>
  scf.for %i = %c0 to %size step %c1 {
    %value = arith.index_cast %i : index to i32
    %square = arith.muli %value, %value : i32
    util.list.set %list[%i], %square : i32 -> !util.list<i32>
  }
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %size step %c1 iter_args(%acc = %zero) -> (i32) {
    %element = util.list.get %list[%i] : !util.list<i32> -> i32
    %next = arith.addi %acc, %element : i32
    scf.yield %next : i32
  }
  return %sum : i32
}

// RUN-WITH: --function=made --input=5
func.func @made(%x: i32) -> !util.list<?> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %pi = arith.constant 3.25 : f32
  %list = util.list.create %c3 : !util.list<?>
  util.list.resize %list, %c3 : !util.list<?>
  util.list.set %list[%c0], %x : i32 -> !util.list<?>
  util.list.set %list[%c1], %pi : f32 -> !util.list<?>
  return %list : !util.list<?>
}

// RUN-WITH: --function=constant --input=3
func.func @constant(%i: index) -> (i32, index) {
  %c4 = arith.constant 4 : index
  %data = util.buffer.constant : !util.buffer = dense<[10, 20, 30, 40, 50]> : tensor<5xi32>
  %size = util.buffer.size %data : !util.buffer
  %offset = arith.muli %i, %c4 : index
  %value = util.buffer.load %data[%offset for %c4] : !util.buffer{%size} -> i32
  return %value, %size : i32, index
}

// RUN-WITH: --function=bytes --input=4660
func.func @bytes(%pattern: i32) -> (i32, i8) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %buffer = util.buffer.alloc uninitialized : !util.buffer{%c64}
  util.buffer.fill %pattern, %buffer[%c0 for %c64] : i32 -> !util.buffer{%c64}
  %byte = util.buffer.load %buffer[%c5 for %c1] : !util.buffer{%c64} -> i8
  %word = util.buffer.load %buffer[%c4 for %c4] : !util.buffer{%c64} -> i32
  return %word, %byte : i32, i8
}
