// What a loop carries ends the tree of a number.
func.func @carried(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant dense<[0.5, 0.25, 2.0, 1.0]> : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<4xf32>) {
    %p = arith.mulf %acc, %k : tensor<4xf32>
    %s = arith.addf %p, %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %d = arith.divf %r, %x : tensor<4xf32>
  return %d : tensor<4xf32>
}
