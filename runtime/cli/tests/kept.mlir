// Two dispatches in a row, and one in a loop, whose constant is another one in a second module.
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.constant 3 : index
  %scale = arith.constant dense<0.25> : tensor<4x16xf32>
  %empty = tensor.empty() : tensor<4x16xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %product = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%filled : tensor<4x16xf32>) -> tensor<4x16xf32>
  %looped = scf.for %i = %first to %last step %step iter_args(%it = %product) -> tensor<4x16xf32> {
    %scaled = arith.mulf %it, %scale : tensor<4x16xf32>
    %raised = math.exp %scaled : tensor<4x16xf32>
    %mixed = linalg.matmul ins(%raised, %w : tensor<4x16xf32>, tensor<16x16xf32>) outs(%filled : tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %mixed : tensor<4x16xf32>
  }
  return %product, %looped : tensor<4x16xf32>, tensor<4x16xf32>
}
