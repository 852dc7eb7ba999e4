// Tensors as tiles.

func.func @pack(%a: tensor<33x65xf32>) -> tensor<5x3x8x32xf32> {
  %p = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<5x3x8x32xf32>
  %r = linalg.pack %a padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %e : tensor<33x65xf32> -> tensor<5x3x8x32xf32>
  return %r : tensor<5x3x8x32xf32>
}

func.func @pack_columns_first(%a: tensor<33x65xi8>) -> tensor<3x5x32x8xi8> {
  %p = arith.constant -7 : i8
  %e = tensor.empty() : tensor<3x5x32x8xi8>
  %r = linalg.pack %a padding_value(%p : i8) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [32, 8] into %e : tensor<33x65xi8> -> tensor<3x5x32x8xi8>
  return %r : tensor<3x5x32x8xi8>
}

func.func @pack_whole_tiles(%a: tensor<16x12xf32>) -> tensor<16x3x4xf32> {
  %e = tensor.empty() : tensor<16x3x4xf32>
  %r = linalg.pack %a inner_dims_pos = [1] inner_tiles = [4] into %e : tensor<16x12xf32> -> tensor<16x3x4xf32>
  return %r : tensor<16x3x4xf32>
}

func.func @unpack(%a: tensor<5x3x8x32xf32>) -> tensor<33x65xf32> {
  %e = tensor.empty() : tensor<33x65xf32>
  %r = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %e : tensor<5x3x8x32xf32> -> tensor<33x65xf32>
  return %r : tensor<33x65xf32>
}

func.func @unpack_columns_first(%a: tensor<3x5x32x8xf32>) -> tensor<33x65xf32> {
  %e = tensor.empty() : tensor<33x65xf32>
  %r = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [32, 8] into %e : tensor<3x5x32x8xf32> -> tensor<33x65xf32>
  return %r : tensor<33x65xf32>
}

func.func @of_tiles(%a: tensor<3x4x8x1xf32>, %b: tensor<5x4x4x1xf32>, %c: tensor<3x5x8x4xf32>) -> tensor<3x5x8x4xf32> {
  %r = linalg.mmt4d ins(%a, %b : tensor<3x4x8x1xf32>, tensor<5x4x4x1xf32>) outs(%c : tensor<3x5x8x4xf32>) -> tensor<3x5x8x4xf32>
  return %r : tensor<3x5x8x4xf32>
}
