// The same with one operation more, so that all others have other numbers.
func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> {
  %0 = math.exp %arg0 : tensor<64xf32>
  %1 = util.optimization_barrier %0 : tensor<64xf32>
  %2 = math.absf %1 : tensor<64xf32>
  %3 = util.optimization_barrier %2 : tensor<64xf32>
  %4 = math.cos %3 : tensor<64xf32>
  %5 = util.optimization_barrier %4 : tensor<64xf32>
  %6 = math.tanh %5 : tensor<64xf32>
  %7 = util.optimization_barrier %6 : tensor<64xf32>
  %8 = math.sin %7 : tensor<64xf32>
  return %8 : tensor<64xf32>
}
