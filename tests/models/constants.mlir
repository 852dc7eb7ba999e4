// Constants that a program returns unchanged. Programs without queues cannot be compiled with some.

// EXECUTION: async-internal
// EXECUTION: async-external
// RUN-WITH: --function=constants

func.func @constants() -> (tensor<3xi64>, tensor<2x2xf32>, tensor<64xi8>) {
  %a = util.unfoldable_constant dense<[1, -2, 9223372036854775807]> : tensor<3xi64>
  %b = util.unfoldable_constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = arith.constant dense<7> : tensor<64xi8>
  return %a, %b, %c : tensor<3xi64>, tensor<2x2xf32>, tensor<64xi8>
}
