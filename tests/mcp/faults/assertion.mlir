// Steps of Newton's method for the root of a number; it says when it does not come closer.
func.func @root(%x: f32, %steps: i32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %root = scf.for %i = %c0 to %steps step %c1 iter_args(%guess = %one) -> f32 : i32 {
    %quotient = arith.divf %x, %guess : f32
    %sum = arith.addf %guess, %quotient : f32
    %next = arith.mulf %sum, %half : f32
    %square = arith.mulf %next, %next : f32
    %ok = arith.cmpf oge, %square, %half : f32
    cf.assert %ok, "the guess has become too small"
    scf.yield %next : f32
  }
  return %root : f32
}
