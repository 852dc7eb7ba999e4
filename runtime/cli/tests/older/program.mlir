// Three dispatches, for modules of older compilers. Their texts place the offset of a buffer, and what
// fetches it, at the operation that made its contents; and they begin with code that has no place.
// The modules are committed, and made again so, with iree-compile of the release in the name:
//
//     iree-dbg compile --iree-compile=… program.mlir -o program-3.1.0.vmfb -- \
//       --iree-hal-target-backends=vmvx
func.func @totals(%input: tensor<4x4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %square = linalg.matmul ins(%input, %input : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %cube = linalg.matmul ins(%square, %input : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %row = tensor.empty() : tensor<4xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %total = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%cube : tensor<4x4xf32>) outs(%nothing : tensor<4xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %s = arith.addf %sum, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %total : tensor<4xf32>
}
