// The type of the source says that these integers have no sign; dispatches do not.
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xui32> {
  %a = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui32>
  %b = stablehlo.convert %y : (tensor<4xi32>) -> tensor<4xui32>
  %least = stablehlo.minimum %a, %b : tensor<4xui32>
  return %least : tensor<4xui32>
}
