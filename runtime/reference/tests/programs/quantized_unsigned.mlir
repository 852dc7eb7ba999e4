// Floats as unsigned integers of 8 bits, which VMVX of 3.13 does not compile.
// ONLY: llvm-cpu

#all = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>

func.func @quantize_unsigned(%a: tensor<7x33xf32>) -> tensor<7x33xi8> {
  %scale = arith.constant 0.0625 : f32
  %zero = arith.constant 128 : i64
  %e = tensor.empty() : tensor<7x33xi8>
  %r = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = 0, quant_max = 255, storage_unsigned> ins(%a, %scale, %zero : tensor<7x33xf32>, f32, i64) outs(%e : tensor<7x33xi8>) -> tensor<7x33xi8>
  return %r : tensor<7x33xi8>
}
