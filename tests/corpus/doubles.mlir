// f64 stays f64 only when the compiler is told not to demote it.
//
// COMPILE-WITH: --iree-input-demote-f64-to-f32=false

// RUN-WITH: --function=hypotenuse --input=3 --input=4
// RUN-WITH: --function=hypotenuse --input=1e200 --input=0
func.func @hypotenuse(%a: f64, %b: f64) -> f64 {
  %aa = arith.mulf %a, %a : f64
  %bb = arith.mulf %b, %b : f64
  %sum = arith.addf %aa, %bb : f64
  %root = math.sqrt %sum : f64
  return %root : f64
}

// RUN-WITH: --function=compare --input=1.5 --input=nan
// RUN-WITH: --function=compare --input=-1.5 --input=2
func.func @compare(%a: f64, %b: f64) -> (i1, i1) {
  %less = arith.cmpf olt, %a, %b : f64
  %unordered = arith.cmpf une, %a, %b : f64
  return %less, %unordered : i1, i1
}

// RUN-WITH: --function=power --input=-1.5 --input=3
// RUN-WITH: --function=power --input=0 --input=2147483648
func.func @power(%x: f64, %n: i64) -> f64 {
  %power = math.fpowi %x, %n : f64, i64
  return %power : f64
}
