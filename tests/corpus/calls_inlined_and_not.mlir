// Calls that stay calls, calls that are inlined, and several results. (The compiler does not end on a
// recursive function; calls.vmasm has one.)

util.func private @kept(%a: i32, %b: i64) -> (i64, i32) attributes {inlining_policy = #util.inline.never} {
  %wide = arith.extsi %a : i32 to i64
  %product = arith.muli %wide, %b : i64
  %narrow = arith.trunci %product : i64 to i32
  util.return %product, %narrow : i64, i32
}

util.func private @inlined(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %sum = arith.addi %x, %c5 : i32
  util.return %sum : i32
}

// RUN-WITH: --function=caller --input=6 --input=7
func.func @caller(%a: i32, %b: i64) -> (i64, i32) {
  %first:2 = util.call @kept(%a, %b) : (i32, i64) -> (i64, i32)
  %more = util.call @inlined(%first#1) : (i32) -> i32
  %second:2 = util.call @kept(%more, %first#0) : (i32, i64) -> (i64, i32)
  return %second#0, %second#1 : i64, i32
}
