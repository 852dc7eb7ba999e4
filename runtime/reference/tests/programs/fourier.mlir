// Stages of fast Fourier transforms.

func.func @first(%re: tensor<3x8xf32>, %im: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %s = arith.constant 1 : index
  %wr = arith.constant dense<1.0> : tensor<1xf32>
  %wi = arith.constant dense<-0.0> : tensor<1xf32>
  %r:2 = iree_linalg_ext.fft ins(%s, %wr, %wi : index, tensor<1xf32>, tensor<1xf32>) outs(%re, %im : tensor<3x8xf32>, tensor<3x8xf32>) : tensor<3x8xf32>, tensor<3x8xf32>
  return %r#0, %r#1 : tensor<3x8xf32>, tensor<3x8xf32>
}

func.func @third(%re: tensor<2x16xf32>, %im: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %s = arith.constant 3 : index
  %wr = arith.constant dense<[1.0, 0.707106769, 6.12323426E-17, -0.707106769]> : tensor<4xf32>
  %wi = arith.constant dense<[-0.0, -0.707106769, -1.0, -0.707106769]> : tensor<4xf32>
  %r:2 = iree_linalg_ext.fft ins(%s, %wr, %wi : index, tensor<4xf32>, tensor<4xf32>) outs(%re, %im : tensor<2x16xf32>, tensor<2x16xf32>) : tensor<2x16xf32>, tensor<2x16xf32>
  return %r#0, %r#1 : tensor<2x16xf32>, tensor<2x16xf32>
}

// NaN and infinities spread to both elements of a butterfly.
// @special: 4xf32=nan,1,inf,-inf 4xf32=0,-0,2,3
func.func @special(%re: tensor<4xf32>, %im: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = arith.constant 2 : index
  %wr = arith.constant dense<[1.0, 0.5]> : tensor<2xf32>
  %wi = arith.constant dense<[0.0, -1.0]> : tensor<2xf32>
  %r:2 = iree_linalg_ext.fft ins(%s, %wr, %wi : index, tensor<2xf32>, tensor<2xf32>) outs(%re, %im : tensor<4xf32>, tensor<4xf32>) : tensor<4xf32>, tensor<4xf32>
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
