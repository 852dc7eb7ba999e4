// Tensors to look at; the test of `iree/tensor` compares what is told of them with NumPy.
func.func @look(%a: tensor<3x50x70xf32>, %b: tensor<4x6xi64>, %c: tensor<901xf16>, %d: tensor<f32>) -> (tensor<3x50x70xf32>, tensor<4x6xi64>, tensor<901xf16>, tensor<f32>) {
  return %a, %b, %c, %d : tensor<3x50x70xf32>, tensor<4x6xi64>, tensor<901xf16>, tensor<f32>
}
