// A perceptron with one hidden layer: relu(x * w1 + b1) * w2.
func.func @perceptron(%x: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %w1 = arith.constant dense<0.5> : tensor<8x256xf32>
  %b1 = arith.constant dense<-1.0> : tensor<256xf32>
  %w2 = arith.constant dense<0.25> : tensor<256x4xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x256xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x256xf32>) -> tensor<4x256xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<4x8xf32>, tensor<8x256xf32>) outs(%f1 : tensor<4x256xf32>) -> tensor<4x256xf32>
  %h = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%m1, %b1 : tensor<4x256xf32>, tensor<256xf32>) outs(%e1 : tensor<4x256xf32>) {
  ^bb0(%m: f32, %b: f32, %o: f32):
    %s = arith.addf %m, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x256xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m2 = linalg.matmul ins(%h, %w2 : tensor<4x256xf32>, tensor<256x4xf32>) outs(%f2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %m2 : tensor<4x4xf32>
}
