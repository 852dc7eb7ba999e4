// Layers of a network, one after the other in a loop: many dispatches with little to do in each.
// INPUT: 1x32xf32=0.25
#row = affine_map<(i, j) -> (i, j)>
func.func @main(%input: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 16 : index
  %weights = arith.constant dense<0.0625> : tensor<32x32xf32>
  %empty = tensor.empty() : tensor<1x32xf32>
  %result = scf.for %layer = %first to %count step %one iter_args(%values = %input) -> (tensor<1x32xf32>) {
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x32xf32>) -> tensor<1x32xf32>
    %product = linalg.matmul ins(%values, %weights : tensor<1x32xf32>, tensor<32x32xf32>)
        outs(%zeros : tensor<1x32xf32>) -> tensor<1x32xf32>
    %bent = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
        ins(%product : tensor<1x32xf32>) outs(%empty : tensor<1x32xf32>) {
      ^bb0(%value: f32, %unused: f32):
        %root = math.tanh %value : f32
        linalg.yield %root : f32
    } -> tensor<1x32xf32>
    scf.yield %bent : tensor<1x32xf32>
  }
  return %result : tensor<1x32xf32>
}
