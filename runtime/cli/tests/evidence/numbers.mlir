// Each kind of evidence that a number's name can have. `@keep` is a call that the compiler does not
// remove, so that its operand is in a register.

util.global private mutable @kept = 0.0 : f32

func.func private @keep(%value: f32) attributes {noinline} {
  %old = util.global.load @kept : f32
  %new = arith.addf %old, %value : f32
  util.global.store %new, @kept : f32
  return
}

func.func private @twice(%of: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %double = arith.mulf %of, %two : f32
  %more = arith.addf %double, %of : f32
  return %more : f32
}

func.func @numbers(%x: f32, %n: i32) -> (f32, i64) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %count = arith.index_cast %n : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %isnan = arith.cmpf uno, %x, %x : f32
  %guarded = arith.select %isnan, %zero, %x : f32
  %scaled = arith.mulf %x, %half : f32
  func.call @keep(%x) : (f32) -> ()
  func.call @keep(%guarded) : (f32) -> ()
  %sum = scf.for %i = %c0 to %count step %c1 iter_args(%total = %zero) -> f32 {
    %next = func.call @twice(%total) : (f32) -> f32
    %plus = arith.addf %next, %guarded : f32
    func.call @keep(%plus) : (f32) -> ()
    scf.yield %plus : f32
  }
  %wide = arith.extsi %n : i32 to i64
  func.call @keep(%sum) : (f32) -> ()
  %product = arith.mulf %sum, %guarded : f32
  func.call @keep(%product) : (f32) -> ()
  return %product, %wide : f32, i64
}
