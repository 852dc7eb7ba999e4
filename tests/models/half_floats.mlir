// Floats of 16 bits: only machine code computes with them.

// BACKENDS: llvm-cpu
// RUN-WITH: --function=halves --input=4xf16=1,2.5,-3,65504
// RUN-WITH: --function=brains --input=4xbf16=1,2.5,-3,1e30

func.func @halves(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf32>) {
  %sum = arith.addf %x, %x : tensor<4xf16>
  %wide = arith.extf %x : tensor<4xf16> to tensor<4xf32>
  return %sum, %wide : tensor<4xf16>, tensor<4xf32>
}

func.func @brains(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %product = arith.mulf %x, %x : tensor<4xbf16>
  %wide = arith.extf %x : tensor<4xbf16> to tensor<4xf32>
  return %product, %wide : tensor<4xbf16>, tensor<4xf32>
}
