// Switches, branches, nested and inlined calls, casts and comparisons of every number type.
module @control {
  func.func @switch(%i: index, %a: i32) -> i32 {
    %r = scf.index_switch %i -> i32
    case 0 {
      %x = arith.addi %a, %a : i32
      scf.yield %x : i32
    }
    case 1 {
      %y = arith.muli %a, %a : i32
      scf.yield %y : i32
    }
    default {
      %z = arith.shli %a, %a : i32
      scf.yield %z : i32
    }
    return %r : i32
  }
  func.func private @inner(%x: i64) -> i64 {
    %c3 = arith.constant 3 : i64
    %y = arith.muli %x, %c3 : i64
    return %y : i64
  }
  func.func private @outer(%x: i64) -> i64 {
    %a = func.call @inner(%x) : (i64) -> i64
    %b = arith.subi %a, %x : i64
    return %b : i64
  }
  func.func @calls(%x: i64) -> i64 {
    %a = func.call @outer(%x) : (i64) -> i64
    %b = func.call @outer(%a) : (i64) -> i64
    return %b : i64
  }
  func.func @while(%n: i32) -> i32 {
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %r:2 = scf.while (%x = %n, %steps = %c0) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi sgt, %x, %c1 : i32
      scf.condition(%more) %x, %steps : i32, i32
    } do {
    ^bb0(%x: i32, %steps: i32):
      %half = arith.shrsi %x, %c1 : i32
      %up = arith.addi %steps, %c1 : i32
      scf.yield %half, %up : i32, i32
    }
    return %r#1 : i32
  }
  func.func @floats(%x: f32, %y: f64, %i: i32, %l: i64) -> (f32, f64, i1) {
    %xi = arith.sitofp %i : i32 to f32
    %sum = arith.addf %x, %xi : f32
    %wide = arith.extf %sum : f32 to f64
    %prod = arith.mulf %wide, %y : f64
    %less = arith.cmpf olt, %prod, %y : f64
    %pick = arith.select %less, %sum, %x : f32
    %root = math.sqrt %prod : f64
    %bits = arith.bitcast %pick : f32 to i32
    %t = arith.trunci %l : i64 to i32
    %mixed = arith.xori %bits, %t : i32
    %out = arith.bitcast %mixed : i32 to f32
    return %out, %root, %less : f32, f64, i1
  }
}
