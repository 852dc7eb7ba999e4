// Spread over two devices: a product on the first, a sum on the second.
//
// COMPILE-WITH: --iree-hal-target-device=local[1]
// EXECUTION: async-internal
// RUN-WITH: --function=spread --device=local-sync --device=local-sync --input=4xf32=1,2,3,4
// RUN-WITH: --function=spread --device=local-sync --device=local-task --device=local-sync --input=4xf32=1,2,3,4
// RUN-WITH: --function=spread --input=4xf32=1,2,3,4
func.func @spread(%values: tensor<4xf32>) -> tensor<4xf32> {
  %here = flow.tensor.transfer %values : tensor<4xf32> to #hal.device.promise<@__device_0>
  %product = arith.mulf %here, %here : tensor<4xf32>
  %there = flow.tensor.transfer %product : tensor<4xf32> to #hal.device.promise<@__device_1>
  %sum = arith.addf %there, %there : tensor<4xf32>
  %back = flow.tensor.transfer %sum : tensor<4xf32> to #hal.device.promise<@__device_0>
  return %back : tensor<4xf32>
}
