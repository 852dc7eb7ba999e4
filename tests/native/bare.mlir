// Compiled with bare pointers, as the attribute says.

func.func @increment(%x: memref<2x2xi32>) attributes {llvm.bareptr} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %value = memref.load %x[%zero, %zero] : memref<2x2xi32>
  %sum = arith.addi %value, %one : i32
  memref.store %sum, %x[%zero, %zero] : memref<2x2xi32>
  return
}

func.func @same(%x: memref<4xf32>, %ignored: f64) -> memref<4xf32> attributes {llvm.bareptr} {
  return %x : memref<4xf32>
}

func.func @first(%x: memref<4xf32>) -> f32 attributes {llvm.bareptr} {
  %zero = arith.constant 0 : index
  %value = memref.load %x[%zero] : memref<4xf32>
  return %value : f32
}
