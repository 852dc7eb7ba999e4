// Dispatches that IREE 3.13 makes wrong code of for VMVX: it rounds in `arith.fptosi`.

// The second of two.
func.func @layers(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4xf32>) -> tensor<2x4xf32>
  %hidden = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>)
      outs(%fill : tensor<2x4xf32>) -> tensor<2x4xf32>
  %product = linalg.matmul ins(%hidden, %w : tensor<2x4xf32>, tensor<4x4xf32>)
      outs(%fill : tensor<2x4xf32>) -> tensor<2x4xf32>
  %cut = arith.fptosi %product : tensor<2x4xf32> to tensor<2x4xi32>
  %back = arith.sitofp %cut : tensor<2x4xi32> to tensor<2x4xf32>
  %rest = arith.subf %product, %back : tensor<2x4xf32>
  return %rest : tensor<2x4xf32>
}

// In a loop.
func.func @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %end = scf.for %i = %zero to %three step %one iter_args(%a = %x) -> tensor<4xf32> {
    %cut = arith.fptosi %a : tensor<4xf32> to tensor<4xi32>
    %back = arith.sitofp %cut : tensor<4xi32> to tensor<4xf32>
    %b = arith.addf %back, %x : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %end : tensor<4xf32>
}

// Into a part of a tensor.
func.func @part(%x: tensor<2x2xf32>, %y: tensor<4x4xf32>, %at: index) -> tensor<4x4xf32> {
  %cut = arith.fptosi %x : tensor<2x2xf32> to tensor<2x2xi32>
  %back = arith.sitofp %cut : tensor<2x2xi32> to tensor<2x2xf32>
  %one = arith.addf %y, %y : tensor<4x4xf32>
  %all = tensor.insert_slice %back into %one[%at, %at] [2, 2] [1, 1]
      : tensor<2x2xf32> into tensor<4x4xf32>
  return %all : tensor<4x4xf32>
}
