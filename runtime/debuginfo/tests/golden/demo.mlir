// A loop with an inlined call, a function with a space in its name, and floats.
module @demo {
  util.func private @"odd name"(%a: i32, %b: i64) -> (i32, i64) attributes {inlining_policy = #util.inline.never} {
    %c = arith.addi %a, %a : i32
    %d = arith.muli %b, %b : i64
    util.return %c, %d : i32, i64
  }
  func.func private @helper(%x: i32) -> i32 {
    %two = arith.constant 2 : i32
    %y = arith.muli %x, %two : i32
    %z = arith.xori %y, %x : i32
    return %z : i32
  }
  func.func @sum(%n: i32, %w: i64) -> (i32, i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ni = arith.index_cast %n : i32 to index
    %init = arith.constant 0 : i32
    %s = scf.for %i = %c0 to %ni step %c1 iter_args(%acc = %init) -> i32 {
      %ii = arith.index_cast %i : index to i32
      %h = func.call @helper(%ii) : (i32) -> i32
      %next = arith.addi %acc, %h : i32
      scf.yield %next : i32
    }
    %r:2 = util.call @"odd name"(%s, %w) : (i32, i64) -> (i32, i64)
    return %r#0, %r#1 : i32, i64
  }
  func.func @choose(%c: i1, %x: f32) -> f32 {
    %r = scf.if %c -> f32 {
      %double = arith.addf %x, %x : f32
      %quad = arith.mulf %double, %x : f32
      scf.yield %quad : f32
    } else {
      %negative = arith.negf %x : f32
      scf.yield %negative : f32
    }
    %out = arith.mulf %r, %x : f32
    return %out : f32
  }
}
