// The program that the tests debug. They find lines by the comments at their ends.

util.global private mutable @calls = 0 : i64

util.func private @twice(%x: i32) -> i32 attributes {
  inlining_policy = #util.inline.never
} {
  %two = arith.constant 2 : i32
  %doubled = arith.muli %x, %two : i32 // doubling
  %calls = util.global.load @calls : i64
  %one = arith.constant 1 : i64
  %more = arith.addi %calls, %one : i64
  util.global.store %more, @calls : i64 // storing
  util.return %doubled : i32 // back
}

// The sum of twice every number below %n.
func.func @sum(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%so_far = %zero) -> (i32) : i32 {
    %double = util.call @twice(%i) : (i32) -> i32 // calling
    %next = arith.addi %so_far, %double : i32 // adding
    scf.yield %next : i32
  }
  return %sum : i32
}

// Never ends for an even %n.
func.func @forever(%n: i32) -> i32 {
  %two = arith.constant 2 : i32
  %seven = arith.constant 7 : i32
  %end = scf.while (%x = %n) : (i32) -> i32 {
    %more = arith.cmpi ne, %x, %seven : i32 // asking
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%x: i32):
    %next = arith.addi %x, %two : i32 // turning
    scf.yield %next : i32
  }
  return %end : i32
}

// Fails for a %n below 0.
func.func @check(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %fine = arith.cmpi sge, %n, %zero : i32
  cf.assert %fine, "the number is below zero" // failing
  %answer = util.call @twice(%n) : (i32) -> i32
  return %answer : i32
}

// A list of %n numbers, all 7.
util.func public @list(%n: index) -> (!util.list<i32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %list = util.list.create %n : !util.list<i32>
  util.list.resize %list, %n : !util.list<i32>
  scf.for %i = %c0 to %n step %c1 {
    util.list.set %list[%i], %seven : i32 -> !util.list<i32> // filling
  }
  %size = util.list.size %list : !util.list<i32> // filled
  util.return %list, %size : !util.list<i32>, index
}
