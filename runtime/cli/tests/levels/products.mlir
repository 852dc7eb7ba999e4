// Products and sums that the compiler makes one instruction.
func.func @main(%x: f32, %y: f32, %z: f32) -> (f32, f32) {
  %a = arith.addf %x, %y : f32
  %b = arith.subf %y, %z : f32
  %c = arith.divf %x, %z : f32
  %q = arith.divf %a, %b : f32
  %m = arith.mulf %a, %b : f32
  %s = arith.addf %m, %c : f32
  %t = arith.divf %s, %q : f32
  %n = arith.mulf %t, %q : f32
  %u = arith.addf %c, %n : f32
  return %t, %u : f32, f32
}
func.func @arguments(%x: f32, %y: f32, %z: f32) -> f32 {
  %m = arith.mulf %x, %y : f32
  %s = arith.addf %m, %z : f32
  return %s : f32
}
func.func @collatz(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %n : i32, i32)
^head(%i: i32, %v: i32):
  %done = arith.cmpi sle, %v, %one : i32
  cf.cond_br %done, ^exit, ^body
^body:
  %two = arith.constant 2 : i32
  %odd = arith.remsi %v, %two : i32
  %is_odd = arith.cmpi ne, %odd, %zero : i32
  %half = arith.divsi %v, %two : i32
  %three = arith.constant 3 : i32
  %product = arith.muli %v, %three : i32
  %sum = arith.addi %product, %one : i32
  %next = arith.select %is_odd, %sum, %half : i32
  %j = arith.addi %i, %one : i32
  cf.br ^head(%j, %next : i32, i32)
^exit:
  return %i : i32
}
