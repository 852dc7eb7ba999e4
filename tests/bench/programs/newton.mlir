// Square roots by Newton's method, as iree-compile writes them: a call in a loop, moves on branches.
// INPUT: 20000
func.func @main(%count: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = arith.constant 8 : i32
  %start = arith.constant 0.0 : f32
  %sum = scf.for %number = %zero to %count step %one iter_args(%sum = %start) -> (f32) : i32 {
    %x = arith.sitofp %number : i32 to f32
    %root = scf.for %step = %zero to %steps step %one iter_args(%guess = %x) -> (f32) : i32 {
      %next = util.call @improve(%x, %guess) : (f32, f32) -> f32
      scf.yield %next : f32
    }
    %more = arith.addf %sum, %root : f32
    scf.yield %more : f32
  }
  %result = arith.fptosi %sum : f32 to i32
  return %result : i32
}

util.func private @improve(%x: f32, %guess: f32) -> f32 attributes {
  inlining_policy = #util.inline.never
} {
  %half = arith.constant 0.5 : f32
  %tiny = arith.constant 0.001 : f32
  %safe = arith.addf %guess, %tiny : f32
  %quotient = arith.divf %x, %safe : f32
  %both = arith.addf %guess, %quotient : f32
  %mean = arith.mulf %both, %half : f32
  util.return %mean : f32
}
