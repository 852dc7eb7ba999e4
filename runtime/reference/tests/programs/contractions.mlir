// Products, convolutions and pooling.

func.func @matmul(%a: tensor<7x129xf32>, %b: tensor<129x5xf32>) -> tensor<7x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<7x5xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<7x5xf32>) -> tensor<7x5xf32>
  %r = linalg.matmul ins(%a, %b : tensor<7x129xf32>, tensor<129x5xf32>) outs(%clear : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}

func.func @batch_matmul(%a: tensor<2x3x8xf32>, %b: tensor<2x8x4xf32>) -> tensor<2x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x4xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x3x8xf32>, tensor<2x8x4xf32>) outs(%clear : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

func.func @matvec(%a: tensor<6x33xf32>, %b: tensor<33xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<6xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.matvec ins(%a, %b : tensor<6x33xf32>, tensor<33xf32>) outs(%clear : tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @byte_matmul(%a: tensor<5x64xi8>, %b: tensor<64x3xi8>) -> tensor<5x3xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<5x3xi32>
  %clear = linalg.fill ins(%zero : i32) outs(%empty : tensor<5x3xi32>) -> tensor<5x3xi32>
  %r = linalg.matmul ins(%a, %b : tensor<5x64xi8>, tensor<64x3xi8>) outs(%clear : tensor<5x3xi32>) -> tensor<5x3xi32>
  return %r : tensor<5x3xi32>
}

func.func @quantized_matmul(%a: tensor<5x16xi8>, %b: tensor<16x3xi8>) -> tensor<5x3xi32> {
  %zero = arith.constant 0 : i32
  %za = arith.constant 3 : i32
  %zb = arith.constant -7 : i32
  %empty = tensor.empty() : tensor<5x3xi32>
  %clear = linalg.fill ins(%zero : i32) outs(%empty : tensor<5x3xi32>) -> tensor<5x3xi32>
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<5x16xi8>, tensor<16x3xi8>, i32, i32) outs(%clear : tensor<5x3xi32>) -> tensor<5x3xi32>
  return %r : tensor<5x3xi32>
}

func.func @conv_nhwc(%image: tensor<1x9x9x2xf32>, %kernel: tensor<3x3x2x4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x3x3x4xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32>) outs(%clear : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  return %r : tensor<1x3x3x4xf32>
}

func.func @conv_nchw(%image: tensor<2x3x7x6xf32>, %kernel: tensor<4x3x3x2xf32>) -> tensor<2x4x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4x3x5xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
    ins(%image, %kernel : tensor<2x3x7x6xf32>, tensor<4x3x3x2xf32>) outs(%clear : tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  return %r : tensor<2x4x3x5xf32>
}

func.func @depthwise(%image: tensor<1x5x5x3xf32>, %kernel: tensor<3x3x3xf32>) -> tensor<1x3x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x3x3x3xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x5x5x3xf32>, tensor<3x3x3xf32>) outs(%clear : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  return %r : tensor<1x3x3x3xf32>
}

func.func @pooling_max(%image: tensor<1x6x6x2xf32>) -> tensor<1x2x2x2xf32> {
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<1x2x2x2xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %clear = linalg.fill ins(%least : f32) outs(%empty : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %r = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<3> : tensor<2xi64>}
    ins(%image, %window : tensor<1x6x6x2xf32>, tensor<3x3xf32>) outs(%clear : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %r : tensor<1x2x2x2xf32>
}

func.func @pooling_sum_nchw(%image: tensor<1x2x6x6xf32>) -> tensor<1x2x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x5x5xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %r = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %window : tensor<1x2x6x6xf32>, tensor<2x2xf32>) outs(%clear : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %r : tensor<1x2x5x5xf32>
}

func.func @mmt4d(%a: tensor<2x3x4x2xf32>, %b: tensor<2x3x5x2xf32>) -> tensor<2x2x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2x4x5xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2x4x5xf32>) -> tensor<2x2x4x5xf32>
  %r = linalg.mmt4d ins(%a, %b : tensor<2x3x4x2xf32>, tensor<2x3x5x2xf32>) outs(%clear : tensor<2x2x4x5xf32>) -> tensor<2x2x4x5xf32>
  return %r : tensor<2x2x4x5xf32>
}
