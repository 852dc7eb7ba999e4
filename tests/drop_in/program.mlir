// What IREE's tools and ours are asked to run, measure and print.

func.func @constant() -> i32 {
  %three = arith.constant 3 : i32
  return %three : i32
}

func.func @doubled() -> tensor<4xf32> {
  %some = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %opaque = util.optimization_barrier %some : tensor<4xf32>
  %sum = arith.addf %opaque, %opaque : tensor<4xf32>
  return %sum : tensor<4xf32>
}

func.func @same(%x: i32) -> i32 {
  return %x : i32
}

func.func @negated(%x: tensor<2xf32>) -> tensor<2xf32> {
  %negated = arith.negf %x : tensor<2xf32>
  return %negated : tensor<2xf32>
}
