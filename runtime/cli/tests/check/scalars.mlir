// Expectations as tests of compilers state them. `wrong_sum` and `division` fail on purpose.

func.func @sum() {
  %two = util.unfoldable_constant 2 : i32
  %four = arith.addi %two, %two : i32
  %expected = arith.constant 4 : i32
  %equal = arith.cmpi eq, %four, %expected : i32
  %flag = arith.extui %equal : i1 to i32
  check.expect_true(%flag) : i32
  return
}

func.func @wrong_sum() {
  %two = util.unfoldable_constant 2 : i32
  %five = arith.constant 5 : i32
  %four = arith.addi %two, %two : i32
  %equal = arith.cmpi eq, %four, %five : i32
  %flag = arith.extui %equal : i1 to i32
  check.expect_true(%flag) : i32
  check.expect_false(%four) : i32
  return
}

func.func @nothing_left() {
  %two = util.unfoldable_constant 2 : i32
  %rest = arith.remui %two, %two : i32
  check.expect_false(%rest) : i32
  return
}

// Each test has a context of its own: none sees what another one stored.
util.global private mutable @counter = 0 : i32

func.func @counts_once() {
  %one = arith.constant 1 : i32
  %before = util.global.load @counter : i32
  check.expect_false(%before) : i32
  %after = arith.addi %before, %one : i32
  util.global.store %after, @counter : i32
  return
}

func.func @counts_once_again() {
  %one = arith.constant 1 : i32
  %before = util.global.load @counter : i32
  check.expect_false(%before) : i32
  %after = arith.addi %before, %one : i32
  util.global.store %after, @counter : i32
  return
}
