// A library of native functions: every way in which memrefs and scalars go in and out.

// Writes into its arguments.
func.func @negate(%x: memref<?xf32>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %length = memref.dim %x, %zero : memref<?xf32>
  scf.for %i = %zero to %length step %one {
    %value = memref.load %x[%i] : memref<?xf32>
    %negated = arith.negf %value : f32
    memref.store %negated, %x[%i] : memref<?xf32>
  }
  return
}

// A new memref, which the caller frees.
func.func @scaled(%x: memref<?x?xf32>, %by: f32) -> memref<?x?xf32> attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = memref.dim %x, %zero : memref<?x?xf32>
  %columns = memref.dim %x, %one : memref<?x?xf32>
  %result = memref.alloc(%rows, %columns) {alignment = 64} : memref<?x?xf32>
  scf.for %i = %zero to %rows step %one {
    scf.for %j = %zero to %columns step %one {
      %value = memref.load %x[%i, %j] : memref<?x?xf32>
      %product = arith.mulf %value, %by : f32
      memref.store %product, %result[%i, %j] : memref<?x?xf32>
    }
  }
  return %result : memref<?x?xf32>
}

// What it was given, in another order: a view with strides.
func.func @transposed(%x: memref<2x3xi32>) -> memref<3x2xi32, strided<[1, 3]>> attributes {llvm.emit_c_interface} {
  %result = memref.transpose %x (i, j) -> (j, i) : memref<2x3xi32> to memref<3x2xi32, strided<[1, 3]>>
  return %result : memref<3x2xi32, strided<[1, 3]>>
}

// A part of it, where strides and offset are known at run time only.
func.func @every(%x: memref<?xi64>, %first: index, %count: index, %step: index) -> memref<?xi64, strided<[?], offset: ?>> attributes {llvm.emit_c_interface} {
  %result = memref.subview %x[%first][%count][%step] : memref<?xi64> to memref<?xi64, strided<[?], offset: ?>>
  return %result : memref<?xi64, strided<[?], offset: ?>>
}

func.func @takes_any_stride(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>, %i: index, %j: index) -> f32 attributes {llvm.emit_c_interface} {
  %value = memref.load %x[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %value : f32
}

func.func @takes_a_row_of(%x: memref<2x2xf32, strided<[8, 1], offset: 4>>) attributes {llvm.emit_c_interface} {
  return
}

// Several results, in a struct.
func.func @several(%x: memref<2xf32>, %n: i64) -> (memref<2xf32>, f64, i64, i8) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %value = memref.load %x[%zero] : memref<2xf32>
  %wide = arith.extf %value : f32 to f64
  %minus = arith.constant -3 : i8
  return %x, %wide, %n, %minus : memref<2xf32>, f64, i64, i8
}

// Any rank.
func.func @rank(%x: memref<*xf32>) -> (index, memref<*xf32>) attributes {llvm.emit_c_interface} {
  %rank = memref.rank %x : memref<*xf32>
  return %rank, %x : index, memref<*xf32>
}

func.func @filled(%value: f64) -> memref<*xf64> attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %result = memref.alloc() : memref<1x2xf64>
  memref.store %value, %result[%zero, %zero] : memref<1x2xf64>
  memref.store %value, %result[%zero, %one] : memref<1x2xf64>
  %cast = memref.cast %result : memref<1x2xf64> to memref<*xf64>
  return %cast : memref<*xf64>
}

// No dimensions, no elements, constants.
func.func @one_more(%x: memref<i32>) -> memref<i32> attributes {llvm.emit_c_interface} {
  %one = arith.constant 1 : i32
  %value = memref.load %x[] : memref<i32>
  %sum = arith.addi %value, %one : i32
  memref.store %sum, %x[] : memref<i32>
  return %x : memref<i32>
}

func.func @same(%x: memref<?x3xi16>) -> memref<?x3xi16> attributes {llvm.emit_c_interface} {
  return %x : memref<?x3xi16>
}

memref.global "private" constant @table : memref<3xf64> = dense<[1.5, -2.0, 3.25]>
func.func @constant() -> memref<3xf64> attributes {llvm.emit_c_interface} {
  %table = memref.get_global @table : memref<3xf64>
  return %table : memref<3xf64>
}

// Every kind of scalar.
func.func @scalars(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f32, %g: f64, %h: index) -> (i1, i8, i16, i32, i64, f32, f64, index) attributes {llvm.emit_c_interface} {
  return %a, %b, %c, %d, %e, %f, %g, %h : i1, i8, i16, i32, i64, f32, f64, index
}

func.func @truth(%x: memref<?xi1>, %at: index) -> i1 attributes {llvm.emit_c_interface} {
  %value = memref.load %x[%at] : memref<?xi1>
  return %value : i1
}

func.func @real_parts(%x: memref<2xcomplex<f32>>) -> (f32, f32) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.load %x[%zero] : memref<2xcomplex<f32>>
  %b = memref.load %x[%one] : memref<2xcomplex<f32>>
  %re = complex.re %a : complex<f32>
  %im = complex.im %b : complex<f32>
  return %re, %im : f32, f32
}

func.func @add(%a: i32, %b: i32) -> i32 attributes {llvm.emit_c_interface} {
  %sum = arith.addi %a, %b : i32
  return %sum : i32
}

// Faults on request: `abort` by an assertion, a division by zero.
func.func @checked(%a: i32) -> i32 attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : i32
  %is_positive = arith.cmpi sgt, %a, %zero : i32
  cf.assert %is_positive, "not positive"
  return %a : i32
}

func.func @remainder(%a: i32, %b: i32) -> i32 attributes {llvm.emit_c_interface} {
  %remainder = arith.remsi %a, %b : i32
  return %remainder : i32
}
