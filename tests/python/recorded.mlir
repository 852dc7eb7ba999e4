func.func private @host.count(i32) -> i32
func.func private @host.shifted(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %n: i32) -> (tensor<4xf32>, i32) {
  %a = func.call @host.count(%n) : (i32) -> i32
  %b = func.call @host.count(%a) : (i32) -> i32
  %y = arith.addf %x, %x : tensor<4xf32>
  %z = func.call @host.shifted(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %r = arith.addf %z, %x : tensor<4xf32>
  %c = arith.divsi %b, %n : i32
  return %r, %c : tensor<4xf32>, i32
}
