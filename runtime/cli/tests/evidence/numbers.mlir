// Each kind of evidence that a number's name can have. `@keep` and `@make` are calls that the
// compiler does not remove, so that their operands and results are in registers.

util.global private mutable @kept = 0.0 : f32
util.global private mutable @counted = 0 : i32

func.func private @keep(%value: f32) attributes {noinline} {
  %old = util.global.load @kept : f32
  %new = arith.addf %old, %value : f32
  util.global.store %new, @kept : f32
  return
}

func.func private @make(%value: i32) -> i32 attributes {noinline} {
  %old = util.global.load @counted : i32
  %new = arith.addi %old, %value : i32
  util.global.store %new, @counted : i32
  return %new : i32
}

func.func private @twice(%of: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %double = arith.mulf %of, %two : f32
  %more = arith.addf %double, %of : f32
  return %more : f32
}

func.func @numbers(%x: f32, %n: i32) -> (f32, i32) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %count = arith.index_cast %n : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %isnan = arith.cmpf uno, %x, %x : f32
  %guarded = arith.select %isnan, %zero, %x : f32
  %scaled = arith.mulf %x, %half : f32
  %lost = func.call @make(%n) : (i32) -> i32
  %next_n = arith.addi %lost, %one : i32
  %regrouped = arith.addi %next_n, %five : i32
  %counted = func.call @make(%regrouped) : (i32) -> i32
  func.call @keep(%guarded) : (f32) -> ()
  %sum = scf.for %i = %c0 to %count step %c1 iter_args(%total = %zero) -> f32 {
    %next = func.call @twice(%total) : (f32) -> f32
    %plus = arith.addf %next, %guarded : f32
    func.call @keep(%plus) : (f32) -> ()
    scf.yield %plus : f32
  }
  func.call @keep(%x) : (f32) -> ()
  %product = arith.mulf %sum, %guarded : f32
  func.call @keep(%product) : (f32) -> ()
  return %product, %counted : f32, i32
}
