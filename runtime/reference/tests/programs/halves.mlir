// ONLY: llvm-cpu, as VMVX has no registers for these.

func.func @half_matmul(%a: tensor<4x40xf16>, %b: tensor<40x4xf16>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x40xf16>, tensor<40x4xf16>) outs(%clear : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

func.func @half_layer(%a: tensor<5x32xf16>, %b: tensor<32x6xf16>) -> tensor<5x6xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<5x6xf16>
  %clear = linalg.fill ins(%zero : f16) outs(%empty : tensor<5x6xf16>) -> tensor<5x6xf16>
  %m = linalg.matmul ins(%a, %b : tensor<5x32xf16>, tensor<32x6xf16>) outs(%clear : tensor<5x6xf16>) -> tensor<5x6xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%m : tensor<5x6xf16>) outs(%empty : tensor<5x6xf16>) {
  ^bb0(%in: f16, %out: f16):
    %p = arith.cmpf ogt, %in, %zero : f16
    %x = arith.select %p, %in, %zero : f16
    linalg.yield %x : f16
  } -> tensor<5x6xf16>
  return %r : tensor<5x6xf16>
}

func.func @attention(%q: tensor<2x6x16xf16>, %k: tensor<2x40x16xf16>, %v: tensor<2x40x5xf16>) -> tensor<2x6x5xf16> {
  %scale = arith.constant 0.25 : f16
  %e = tensor.empty() : tensor<2x6x5xf16>
  %r = iree_linalg_ext.attention <indexing_maps = [
      affine_map<(b, m, n, k, s) -> (b, m, k)>, affine_map<(b, m, n, k, s) -> (b, s, k)>,
      affine_map<(b, m, n, k, s) -> (b, s, n)>, affine_map<(b, m, n, k, s) -> ()>,
      affine_map<(b, m, n, k, s) -> (b, m, n)>]>
      ins(%q, %k, %v, %scale : tensor<2x6x16xf16>, tensor<2x40x16xf16>, tensor<2x40x5xf16>, f16) outs(%e : tensor<2x6x5xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<2x6x5xf16>
  return %r : tensor<2x6x5xf16>
}
