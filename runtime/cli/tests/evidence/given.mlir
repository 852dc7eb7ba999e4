// Calls whose arguments are gone when they are looked at: of each width, with a reference, and one that
// the compiler drops.
util.func private @mixed(%a: i32, %b: i64, %c: f32, %list: !util.list<i32>, %d: f64) -> f64 attributes {
  inlining_policy = #util.inline.never
} {
  %zero = arith.constant 0 : index
  %wide = arith.extsi %a : i32 to i64
  %sum = arith.addi %wide, %b : i64
  %number = arith.sitofp %sum : i64 to f64
  %more = arith.extf %c : f32 to f64
  %product = arith.mulf %number, %more : f64
  %first = util.list.get %list[%zero] : !util.list<i32> -> i32
  %as_float = arith.sitofp %first : i32 to f64
  %last = arith.subf %product, %as_float : f64
  %all = arith.divf %last, %d : f64 // all
  %twice = arith.addf %all, %all : f64
  util.list.set %list[%zero], %a : i32 -> !util.list<i32>
  util.return %twice : f64 // end
}

// %unused is no argument of the bytecode.
util.func private @dropped(%unused: i32, %x: i32) -> i32 attributes {
  inlining_policy = #util.inline.never
} {
  %three = arith.constant 3 : i32
  %y = arith.muli %x, %three : i32
  %z = arith.xori %y, %three : i32
  util.return %z : i32 // dropped
}

func.func @main(%n: i32) -> (f64, i32) {
  %zero = arith.constant 0 : index
  %size = arith.constant 2 : index
  %list = util.list.create %size : !util.list<i32>
  util.list.resize %list, %size : !util.list<i32>
  %five = arith.constant 5 : i32
  util.list.set %list[%zero], %five : i32 -> !util.list<i32>
  %wide = arith.extsi %n : i32 to i64
  %half = arith.constant 0.5 : f32
  %c = arith.sitofp %n : i32 to f32
  %d = arith.sitofp %n : i32 to f64
  %cc = arith.addf %c, %half : f32
  %all = util.call @mixed(%n, %wide, %cc, %list, %d) : (i32, i64, f32, !util.list<i32>, f64) -> f64
  %some = util.call @dropped(%five, %n) : (i32, i32) -> i32
  return %all, %some : f64, i32
}
