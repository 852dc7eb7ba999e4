// A matrix as tiles, with a border of its own where they are not full.
//
// input: 33x65xf32 2
// planted: 3.125 3.126
func.func @main(%a: tensor<33x65xf32>) -> tensor<5x3x8x32xf32> {
  %border = arith.constant 3.125 : f32
  %e = tensor.empty() : tensor<5x3x8x32xf32>
  %tiles = linalg.pack %a padding_value(%border : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %e : tensor<33x65xf32> -> tensor<5x3x8x32xf32>
  return %tiles : tensor<5x3x8x32xf32>
}
