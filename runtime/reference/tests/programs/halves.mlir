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
