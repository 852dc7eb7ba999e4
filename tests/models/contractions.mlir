// Products, convolutions, pooling, reductions: what linear algebra is made of.

// RUN-WITH: --function=perceptron --input=3x8xf32=1,2,3,4,5,6,7,8,-1,-2,-3,-4,-5,-6,-7,-8,0.5,0,0.5,0,0.5,0,0.5,0
// RUN-WITH: --function=convolution --input=1x6x6x2xf32=0.5 --input=3x3x2x4xf32=0.25
// RUN-WITH: --function=pooling --input=1x4x4x1xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
// RUN-WITH: --function=softmax --input=2x4xf32=1,2,3,4,-1,0,1,20
// RUN-WITH: --function=batches --input=2x3x4xf32=1 --input=2x4x2xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16

func.func @perceptron(%input: tensor<3x8xf32>) -> tensor<3x2xf32> {
  %weights = arith.constant dense<[[0.1, 0.2, -0.3, 0.4], [0.5, -0.6, 0.7, 0.8], [0.9, 1.0, -1.1, 1.2], [1.3, 1.4, 1.5, -1.6],
    [-0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, -0.8], [0.9, -1.0, 1.1, 1.2], [-1.3, 1.4, 1.5, 1.6]]> : tensor<8x4xf32>
  %head = arith.constant dense<[[1.0, -1.0], [0.5, 0.5], [-0.25, 0.75], [2.0, 0.0]]> : tensor<4x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x4xf32>
  %cleared = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %hidden = linalg.matmul ins(%input, %weights : tensor<3x8xf32>, tensor<8x4xf32>) outs(%cleared : tensor<3x4xf32>) -> tensor<3x4xf32>
  %active = arith.maximumf %hidden, %cleared : tensor<3x4xf32>
  %empty_head = tensor.empty() : tensor<3x2xf32>
  %cleared_head = linalg.fill ins(%zero : f32) outs(%empty_head : tensor<3x2xf32>) -> tensor<3x2xf32>
  %result = linalg.matmul ins(%active, %head : tensor<3x4xf32>, tensor<4x2xf32>) outs(%cleared_head : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %result : tensor<3x2xf32>
}

func.func @convolution(%image: tensor<1x6x6x2xf32>, %kernel: tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x4x4xf32>
  %cleared = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %result = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) outs(%cleared : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %result : tensor<1x4x4x4xf32>
}

func.func @pooling(%image: tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32> {
  %least = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<1x2x2x1xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %result = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%image, %window : tensor<1x4x4x1xf32>, tensor<2x2xf32>) outs(%start : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %result : tensor<1x2x2x1xf32>
}

func.func @softmax(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %empty = tensor.empty() : tensor<2x4xf32>
  %result = linalg.softmax dimension(1) ins(%x : tensor<2x4xf32>) outs(%empty : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}

func.func @batches(%a: tensor<2x3x4xf32>, %b: tensor<2x4x2xf32>) -> tensor<2x3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x2xf32>
  %cleared = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %result = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf32>, tensor<2x4x2xf32>) outs(%cleared : tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  return %result : tensor<2x3x2xf32>
}
