// The classifier with a fault, to be found by `iree-dbg diff`: one weight of layer 2 is stale.
//
//     iree-dbg compile classifier_faulty.mlir -o faulty.vmfb
//
func.func @classify(%image: tensor<1x16xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %weights1 = arith.constant dense<0.5> : tensor<16x8xf32>
  %weights2 = arith.constant dense<[
    [0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.5], [0.3, 0.4, 0.5, 0.6], [0.4, 0.3, 0.2, 0.1],
    [0.1, 0.3, 0.2, 0.4], [0.2, 0.4, 0.3, 0.5], [0.3, 0.1, 0.4, 0.2], [0.4, 0.2, 0.5, 0.3]
  ]> : tensor<8x4xf32>

  // Layer 1: hidden = relu(image × weights1)
  %empty1 = tensor.empty() : tensor<1x8xf32>
  %fill1 = linalg.fill ins(%zero : f32) outs(%empty1 : tensor<1x8xf32>) -> tensor<1x8xf32>
  %sum1 = linalg.matmul ins(%image, %weights1 : tensor<1x16xf32>, tensor<16x8xf32>)
      outs(%fill1 : tensor<1x8xf32>) -> tensor<1x8xf32>
  %hidden = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum1 : tensor<1x8xf32>) outs(%empty1 : tensor<1x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %positive = arith.maximumf %x, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<1x8xf32>

  // Layer 2: logits = hidden × weights2
  %empty2 = tensor.empty() : tensor<1x4xf32>
  %fill2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<1x4xf32>) -> tensor<1x4xf32>
  %logits = linalg.matmul ins(%hidden, %weights2 : tensor<1x8xf32>, tensor<8x4xf32>)
      outs(%fill2 : tensor<1x4xf32>) -> tensor<1x4xf32>

  // Softmax: exp(logits) / sum(exp(logits))
  %exponentials = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%logits : tensor<1x4xf32>) outs(%empty2 : tensor<1x4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %e = math.exp %x : f32
    linalg.yield %e : f32
  } -> tensor<1x4xf32>
  %emptysum = tensor.empty() : tensor<1xf32>
  %fillsum = linalg.fill ins(%zero : f32) outs(%emptysum : tensor<1xf32>) -> tensor<1xf32>
  %total = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%exponentials : tensor<1x4xf32>) outs(%fillsum : tensor<1xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %s = arith.addf %sum, %x : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  %probabilities = linalg.generic {
    indexing_maps = [
      affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>
    ],
    iterator_types = ["parallel", "parallel"]
  } ins(%exponentials, %total : tensor<1x4xf32>, tensor<1xf32>) outs(%empty2 : tensor<1x4xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %p = arith.divf %x, %sum : f32
    linalg.yield %p : f32
  } -> tensor<1x4xf32>
  return %probabilities : tensor<1x4xf32>
}
