// Globals with initial values and initialisers that run before the first call.

util.global private mutable @counter = 40 : i32
util.global private @computed : i64
util.global private mutable @ratio = 0.5 : f32

util.initializer {
  %c6 = arith.constant 6 : i64
  %c7 = util.optimization_barrier %c6 : i64
  %product = arith.muli %c7, %c7 : i64
  util.global.store %product, @computed : i64
  util.return
}

// RUN-WITH: --function=bump --input=2
func.func @bump(%by: i32) -> (i32, i64, f32) {
  %old = util.global.load @counter : i32
  %new = arith.addi %old, %by : i32
  util.global.store %new, @counter : i32
  %computed = util.global.load @computed : i64
  %ratio = util.global.load @ratio : f32
  %doubled = arith.addf %ratio, %ratio : f32
  util.global.store %doubled, @ratio : f32
  %loaded = util.global.load @ratio : f32
  return %new, %computed, %loaded : i32, i64, f32
}
