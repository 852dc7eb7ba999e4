// Dispatches that leave NaN and infinities: one that runs several times, one with two results.
func.func @main(%x: tensor<16x16xf32>, %n: index) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %v = tensor.empty() : tensor<16xf32>
  %fv = linalg.fill ins(%zero : f32) outs(%v : tensor<16xf32>) -> tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<16x16xf32>) {
    %m = linalg.matmul ins(%a, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %d = arith.subf %in, %one : f32
      %l = math.sqrt %d : f32
      %k = arith.divf %in, %d : f32
      %q = arith.addf %k, %l : f32
      linalg.yield %q : f32
    } -> tensor<16x16xf32>
    %b = util.optimization_barrier %s : tensor<16x16xf32>
    scf.yield %b : tensor<16x16xf32>
  }
  %two:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x16xf32>) outs(%e, %e : tensor<16x16xf32>, tensor<16x16xf32>) {
  ^bb0(%in: f32, %o1: f32, %o2: f32):
    %d = arith.subf %in, %in : f32
    %l = arith.divf %d, %d : f32
    %g = arith.divf %in, %d : f32
    linalg.yield %l, %g : f32, f32
  } -> (tensor<16x16xf32>, tensor<16x16xf32>)
  %sum = linalg.reduce { arith.addf } ins(%two#1 : tensor<16x16xf32>) outs(%fv : tensor<16xf32>) dimensions = [1]
  return %r, %sum, %two#0 : tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>
}
