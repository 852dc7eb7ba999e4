// Three wide layers for 64 inputs: few dispatches with much to do in each, as in most models.
// INPUT: 64x512xf32=0.25
#row = affine_map<(i, j) -> (i, j)>
func.func @layer(%values: tensor<64x512xf32>, %weights: tensor<512x512xf32>) -> tensor<64x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x512xf32>) -> tensor<64x512xf32>
  %product = linalg.matmul ins(%values, %weights : tensor<64x512xf32>, tensor<512x512xf32>)
      outs(%zeros : tensor<64x512xf32>) -> tensor<64x512xf32>
  %bent = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%product : tensor<64x512xf32>) outs(%empty : tensor<64x512xf32>) {
    ^bb0(%value: f32, %unused: f32):
      %root = math.tanh %value : f32
      linalg.yield %root : f32
  } -> tensor<64x512xf32>
  return %bent : tensor<64x512xf32>
}

func.func @main(%input: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %first = arith.constant dense<0.0039> : tensor<512x512xf32>
  %second = arith.constant dense<-0.0019> : tensor<512x512xf32>
  %third = arith.constant dense<0.0041> : tensor<512x512xf32>
  %0 = func.call @layer(%input, %first) : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  %1 = func.call @layer(%0, %second) : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  %2 = func.call @layer(%1, %third) : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  return %2 : tensor<64x512xf32>
}
