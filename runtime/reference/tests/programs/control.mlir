// Loops, and elements one by one.

func.func @accumulate(%a: tensor<5x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%sum = %zero) -> (tensor<4xf32>) {
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %next = arith.addf %sum, %row : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @elements(%a: tensor<3xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %x = tensor.extract %a[%c0] : tensor<3xf32>
  %y = tensor.extract %a[%c2] : tensor<3xf32>
  %p = arith.cmpf olt, %x, %y : f32
  %s = arith.select %p, %x, %y : f32
  %m = arith.mulf %x, %y : f32
  %r = tensor.from_elements %x, %y, %s, %m : tensor<4xf32>
  return %r : tensor<4xf32>
}
