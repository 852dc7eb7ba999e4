// Floats as integers of 8 bits, and back.

#all = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>
#column = affine_map<(d0, d1) -> (d1)>

func.func @quantize(%a: tensor<7x33xf32>) -> tensor<7x33xi8> {
  %scale = arith.constant 0.03125 : f32
  %e = tensor.empty() : tensor<7x33xi8>
  %r = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #one, #all], quant_min = -128, quant_max = 127> ins(%a, %scale : tensor<7x33xf32>, f32) outs(%e : tensor<7x33xi8>) -> tensor<7x33xi8>
  return %r : tensor<7x33xi8>
}

func.func @quantize_narrow(%a: tensor<7x33xf32>) -> tensor<7x33xi8> {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant -3 : i8
  %e = tensor.empty() : tensor<7x33xi8>
  %r = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = -8, quant_max = 7> ins(%a, %scale, %zero : tensor<7x33xf32>, f32, i8) outs(%e : tensor<7x33xi8>) -> tensor<7x33xi8>
  return %r : tensor<7x33xi8>
}

func.func @quantize_columns(%a: tensor<7x5xf32>, %zeros: tensor<5xi8>) -> tensor<7x5xi8> {
  %scales = arith.constant dense<[0.5, 0.25, 0.125, 2.0, 1.0]> : tensor<5xf32>
  %e = tensor.empty() : tensor<7x5xi8>
  %r = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #column, #column, #all], quant_min = -128, quant_max = 127> ins(%a, %scales, %zeros : tensor<7x5xf32>, tensor<5xf32>, tensor<5xi8>) outs(%e : tensor<7x5xi8>) -> tensor<7x5xi8>
  return %r : tensor<7x5xi8>
}

func.func @dequantize(%a: tensor<7x33xi8>) -> tensor<7x33xf32> {
  %scale = arith.constant 0.1 : f32
  %e = tensor.empty() : tensor<7x33xf32>
  %r = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #all], quant_min = -128, quant_max = 127> ins(%a, %scale : tensor<7x33xi8>, f32) outs(%e : tensor<7x33xf32>) -> tensor<7x33xf32>
  return %r : tensor<7x33xf32>
}

func.func @dequantize_unsigned(%a: tensor<7x33xi8>) -> tensor<7x33xf32> {
  %scale = arith.constant 0.1 : f32
  %zero = arith.constant 128 : i64
  %e = tensor.empty() : tensor<7x33xf32>
  %r = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = 0, quant_max = 255, input_unsigned> ins(%a, %scale, %zero : tensor<7x33xi8>, f32, i64) outs(%e : tensor<7x33xf32>) -> tensor<7x33xf32>
  return %r : tensor<7x33xf32>
}

func.func @dequantize_columns(%a: tensor<7x5xi8>, %zeros: tensor<5xi8>) -> tensor<7x5xf32> {
  %scales = arith.constant dense<[0.5, 0.3, 0.7, 2.0, 1.0]> : tensor<5xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %r = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #column, #column, #all], quant_min = -128, quant_max = 127> ins(%a, %scales, %zeros : tensor<7x5xi8>, tensor<5xf32>, tensor<5xi8>) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}

func.func @dequantize_sums(%a: tensor<7x5xi32>) -> tensor<7x5xf32> {
  %scale = arith.constant 0.001 : f32
  %e = tensor.empty() : tensor<7x5xf32>
  %r = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #all], quant_min = -2147483648, quant_max = 2147483647> ins(%a, %scale : tensor<7x5xi32>, f32) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}
