// Programs whose machine code is stepped into. Each line of a body is an instruction of its own.

#id = affine_map<(i, j) -> (i, j)>
#index = affine_map<(i) -> (i)>

func.func @layers(%x: tensor<8x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>)
    -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m0 = linalg.matmul ins(%x, %w0 : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%f0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %o0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m0 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %half : f32
    %u = math.exp %s : f32
    linalg.yield %u : f32
  } -> tensor<8x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m1 = linalg.matmul ins(%o0, %w1 : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%f1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %o1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m1 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%b: f32, %out: f32):
    %t = arith.mulf %b, %half : f32
    %v = math.exp %t : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  return %o1 : tensor<8x8xf32>
}

func.func @rows(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x32xf32>)
      outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

func.func @gather(%table: tensor<16xf32>, %at: tensor<4xi64>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#index, #index], iterator_types = ["parallel"]}
      ins(%at : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i64, %out: f32):
    %k = arith.index_cast %i : i64 to index
    %v = tensor.extract %table[%k] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Two layers whose dispatches share code.
func.func @attention(%x: tensor<8x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>)
    -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q0 = linalg.matmul ins(%x, %w0 : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s0 = linalg.softmax dimension(1) ins(%q0 : tensor<8x8xf32>)
      outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %o0 = linalg.matmul ins(%s0, %w1 : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%o0, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %u = arith.addf %a, %b : f32
    linalg.yield %u : f32
  } -> tensor<8x8xf32>
  %q1 = linalg.matmul ins(%y0, %w1 : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s1 = linalg.softmax dimension(1) ins(%q1 : tensor<8x8xf32>)
      outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %o1 = linalg.matmul ins(%s1, %w0 : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%o1, %y0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%c: f32, %d: f32, %out: f32):
    %v = arith.addf %c, %d : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  return %y1 : tensor<8x8xf32>
}
