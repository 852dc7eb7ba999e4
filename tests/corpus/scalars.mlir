// Scalar functions as users write them.

// RUN-WITH: --function=polynomial --input=3
// RUN-WITH: --function=polynomial --input=-2147483648
func.func @polynomial(%x: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %square = arith.muli %x, %x : i32
  %scaled = arith.muli %square, %c3 : i32
  %sum = arith.addi %scaled, %x : i32
  %result = arith.subi %sum, %c7 : i32
  return %result : i32
}

// RUN-WITH: --function=narrow --input=200 --input=-100
// RUN-WITH: --function=narrow --input=127 --input=1
func.func @narrow(%a: i8, %b: i8) -> (i8, i16, i1) {
  %sum = arith.addi %a, %b : i8
  %wide = arith.extsi %sum : i8 to i16
  %less = arith.cmpi slt, %a, %b : i8
  return %sum, %wide, %less : i8, i16, i1
}

// RUN-WITH: --function=wide --input=5000000000 --input=3
// RUN-WITH: --function=wide --input=-9223372036854775807 --input=2
func.func @wide(%a: i64, %b: i64) -> (i64, i64, i64) {
  %quotient = arith.divsi %a, %b : i64
  %remainder = arith.remsi %a, %b : i64
  %most = arith.maxsi %a, %b : i64
  return %quotient, %remainder, %most : i64, i64, i64
}

// RUN-WITH: --function=mixed --input=3 --input=2.5
// RUN-WITH: --function=mixed --input=-1 --input=-0.5
func.func @mixed(%n: i32, %x: f32) -> (f32, i32, f32) {
  %f = arith.sitofp %n : i32 to f32
  %product = arith.mulf %f, %x : f32
  %back = arith.fptosi %product : f32 to i32
  %root = math.absf %product : f32
  return %product, %back, %root : f32, i32, f32
}

// RUN-WITH: --function=index --input=10
func.func @index(%i: index) -> index {
  %c2 = arith.constant 2 : index
  %twice = arith.muli %i, %c2 : index
  return %twice : index
}
