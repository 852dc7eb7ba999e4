// Programs for devices that are not here: shapes of run time, work on the host, several dispatches
// that share their code. Each line of a body is an instruction of its own.

#row = affine_map<(i, j) -> (i, j)>
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>

func.func @blend(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %mixed = linalg.generic {indexing_maps = [#row, #row, #row],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    %h = arith.mulf %s, %half : f32
    linalg.yield %h : f32
  } -> tensor<8x16xf32>
  %soft = linalg.softmax dimension(1) ins(%mixed : tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %most = linalg.reduce ins(%soft : tensor<8x16xf32>) outs(%f1 : tensor<8xf32>) dimensions = [1]
    (%in: f32, %max: f32) {
      %m = arith.maximumf %in, %max : f32
      linalg.yield %m : f32
    }
  return %soft, %most : tensor<8x16xf32>, tensor<8xf32>
}

func.func private @dense(%x: tensor<?x32xf32>, %w: tensor<32x16xf32>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x32xf32>, tensor<32x16xf32>)
      outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %m : tensor<?x16xf32>
}

// The same dispatch twice, with other numbers.
func.func @twice(%x: tensor<?x32xf32>, %y: tensor<?x32xf32>, %w: tensor<32x16xf32>)
    -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %a = call @dense(%x, %w) : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %b = call @dense(%y, %w) : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  return %a, %b : tensor<?x16xf32>, tensor<?x16xf32>
}

// No bytecode can be made of this without knowing the shapes.
func.func @convolved(%x: tensor<?x8x8x4xf32>, %y: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x8xf32>)
    -> (tensor<?x6x6x8xf32>, tensor<?x6x6x8xf32>) {
  %a = call @convolution(%x, %w)
      : (tensor<?x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<?x6x6x8xf32>
  %b = call @convolution(%y, %w)
      : (tensor<?x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<?x6x6x8xf32>
  return %a, %b : tensor<?x6x6x8xf32>, tensor<?x6x6x8xf32>
}

func.func private @convolution(%x: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x8xf32>)
    -> tensor<?x6x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x8x4xf32>
  %e = tensor.empty(%n) : tensor<?x6x6x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6x6x8xf32>) -> tensor<?x6x6x8xf32>
  %m = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x8x8x4xf32>, tensor<3x3x4x8xf32>)
      outs(%f : tensor<?x6x6x8xf32>) -> tensor<?x6x6x8xf32>
  %t = linalg.generic {indexing_maps = [#image, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%m : tensor<?x6x6x8xf32>) outs(%e : tensor<?x6x6x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %u = arith.maximumf %a, %zero : f32
    linalg.yield %u : f32
  } -> tensor<?x6x6x8xf32>
  return %t : tensor<?x6x6x8xf32>
}

// The condition is computed by the device and read by the host.
func.func @halved(%x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  %half = arith.constant 0.5 : f32
  %r:2 = scf.while (%v = %x, %n = %none) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32) {
    %first = tensor.extract %v[%c0] : tensor<4xf32>
    %is_large = arith.cmpf ogt, %first, %half : f32
    scf.condition(%is_large) %v, %n : tensor<4xf32>, i32
  } do {
  ^bb0(%v: tensor<4xf32>, %n: i32):
    %e = tensor.empty() : tensor<4xf32>
    %next = linalg.map { arith.mulf } ins(%v, %v : tensor<4xf32>, tensor<4xf32>)
        outs(%e : tensor<4xf32>)
    %more = arith.addi %n, %one : i32
    scf.yield %next, %more : tensor<4xf32>, i32
  }
  return %r#0, %r#1 : tensor<4xf32>, i32
}
