#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>

// A softmax of each row; a mask of -inf leaves elements out.
func.func @masked(%scores: tensor<2x4xf32>, %mask: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %masked = arith.addf %scores, %mask : tensor<2x4xf32>
  %row = tensor.empty() : tensor<2xf32>
  %from_least = linalg.fill ins(%least : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %most = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%masked : tensor<2x4xf32>) outs(%from_least : tensor<2xf32>) {
  ^bb0(%s: f32, %so_far: f32):
    %more = arith.maximumf %so_far, %s : f32
    linalg.yield %more : f32
  } -> tensor<2xf32>
  %empty = tensor.empty() : tensor<2x4xf32>
  %powers = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%masked, %most : tensor<2x4xf32>, tensor<2xf32>) outs(%empty : tensor<2x4xf32>) {
  ^bb0(%s: f32, %m: f32, %out: f32):
    %below = arith.subf %s, %m : f32
    %power = math.exp %below : f32
    linalg.yield %power : f32
  } -> tensor<2x4xf32>
  %from_zero = linalg.fill ins(%zero : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %sums = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%powers : tensor<2x4xf32>) outs(%from_zero : tensor<2xf32>) {
  ^bb0(%p: f32, %so_far: f32):
    %more = arith.addf %so_far, %p : f32
    linalg.yield %more : f32
  } -> tensor<2xf32>
  %shares = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%powers, %sums : tensor<2x4xf32>, tensor<2xf32>) outs(%empty : tensor<2x4xf32>) {
  ^bb0(%p: f32, %sum: f32, %out: f32):
    %share = arith.divf %p, %sum : f32
    linalg.yield %share : f32
  } -> tensor<2x4xf32>
  return %shares : tensor<2x4xf32>
}

func.func @product(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %product = arith.mulf %x, %y : tensor<4xf32>
  return %product : tensor<4xf32>
}

// What is no number is replaced.
func.func @replaced(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %log = math.log %x : tensor<4xf32>
  %is_none = arith.cmpf uno, %log, %log : tensor<4xf32>
  %fixed = arith.select %is_none, %zero, %log : tensor<4xi1>, tensor<4xf32>
  return %fixed : tensor<4xf32>
}

// The first element is no number from the beginning, the second is made one in the second dispatch.
func.func @passed(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %more = arith.addf %x, %one : tensor<4xf32>
  %kept = util.optimization_barrier %more : tensor<4xf32>
  %root = math.sqrt %kept : tensor<4xf32>
  %negative = arith.negf %kept : tensor<4xf32>
  %again = util.optimization_barrier %root : tensor<4xf32>
  %twice = arith.addf %again, %again : tensor<4xf32>
  return %root, %negative, %twice : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A scalar of the program itself, beside a dispatch.
func.func @scalar(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) {
  %twice = arith.addf %x, %x : tensor<4xf32>
  %none = arith.divf %s, %s : f32
  return %twice, %none : tensor<4xf32>, f32
}

// Where one operand is no number, a quotient is left that is none either.
func.func @chosen(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %quotient = arith.divf %y, %y : tensor<4xf32>
  %is_none = arith.cmpf uno, %x, %x : tensor<4xf32>
  %chosen = arith.select %is_none, %quotient, %y : tensor<4xi1>, tensor<4xf32>
  return %chosen : tensor<4xf32>
}
