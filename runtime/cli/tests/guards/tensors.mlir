#each = affine_map<(d0) -> (d0)>

func.func @guarded(%given: tensor<4xf32>) -> tensor<4xf32> {
  %none = arith.constant 0.0 : f32
  %bound = arith.constant 1.0e6 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %result = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%given : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%element: f32, %unused: f32):
    %is_bad = arith.cmpf uno, %element, %element : f32
    %number = arith.select %is_bad, %none, %element : f32
    %bounded = arith.minimumf %number, %bound : f32
    %quotient = arith.divf %bounded, %element : f32
    linalg.yield %quotient : f32
  } -> tensor<4xf32>
  return %result : tensor<4xf32>
}

func.func @masked(%given: tensor<4xf32>) -> tensor<4xf32> {
  %none = arith.constant 0.0 : f32
  %nothing = arith.constant 0xFF800000 : f32
  %least = arith.constant 1.0e-12 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %result = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%given : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%element: f32, %unused: f32):
    %is_masked = arith.cmpf oeq, %element, %nothing : f32
    %shift = arith.select %is_masked, %none, %element : f32
    %size = math.absf %shift : f32
    %divisor = arith.maximumf %size, %least : f32
    %quotient = arith.divf %element, %divisor : f32
    linalg.yield %quotient : f32
  } -> tensor<4xf32>
  return %result : tensor<4xf32>
}
