// A decoder with a cache: each turn of its loop computes a key, keeps it, and attends to all keys.
func.func private @norm(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %half = arith.constant dense<0.5> : tensor<1x8xf32>
  %t = math.tanh %x : tensor<1x8xf32>
  %y = arith.mulf %t, %half : tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

func.func @decode(%x0: tensor<1x8xf32>, %wk: tensor<8x8xf32>, %wo: tensor<8x8xf32>, %n: index)
    -> (tensor<1x8xf32>, tensor<6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<6x8xf32>
  %cache0 = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %e1 = tensor.empty() : tensor<1x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x8xf32>) -> tensor<1x8xf32>
  %e6 = tensor.empty() : tensor<1x6xf32>
  %f6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<1x6xf32>) -> tensor<1x6xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %x0, %cache = %cache0)
      -> (tensor<1x8xf32>, tensor<6x8xf32>) {
    %k = linalg.matmul ins(%x, %wk : tensor<1x8xf32>, tensor<8x8xf32>)
        outs(%f1 : tensor<1x8xf32>) -> tensor<1x8xf32>
    %new = tensor.insert_slice %k into %cache[%i, 0] [1, 8] [1, 1]
        : tensor<1x8xf32> into tensor<6x8xf32>
    %et = tensor.empty() : tensor<8x6xf32>
    %kt = linalg.transpose ins(%new : tensor<6x8xf32>) outs(%et : tensor<8x6xf32>)
        permutation = [1, 0]
    %s = linalg.matmul ins(%x, %kt : tensor<1x8xf32>, tensor<8x6xf32>)
        outs(%f6 : tensor<1x6xf32>) -> tensor<1x6xf32>
    %p = math.exp %s : tensor<1x6xf32>
    %v = linalg.matmul ins(%p, %new : tensor<1x6xf32>, tensor<6x8xf32>)
        outs(%f1 : tensor<1x8xf32>) -> tensor<1x8xf32>
    %o = linalg.matmul ins(%v, %wo : tensor<1x8xf32>, tensor<8x8xf32>)
        outs(%f1 : tensor<1x8xf32>) -> tensor<1x8xf32>
    %y = func.call @norm(%o) : (tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.yield %y, %new : tensor<1x8xf32>, tensor<6x8xf32>
  }
  return %r#0, %r#1 : tensor<1x8xf32>, tensor<6x8xf32>
}
