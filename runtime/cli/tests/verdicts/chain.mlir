// Operations that are dispatches of their own, of tensors that have numbers and no names.
func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> {
  %0 = math.exp %arg0 : tensor<64xf32>
  %1 = util.optimization_barrier %0 : tensor<64xf32>
  %2 = math.cos %1 : tensor<64xf32>
  %3 = util.optimization_barrier %2 : tensor<64xf32>
  %4 = math.tanh %3 : tensor<64xf32>
  %5 = util.optimization_barrier %4 : tensor<64xf32>
  %6 = math.sin %5 : tensor<64xf32>
  return %6 : tensor<64xf32>
}
