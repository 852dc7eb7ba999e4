// A model whose weights are in archives: large ones, small ones that are gathered into one buffer, one of a
// scope without a name, and one that changes.
util.global private @weights = #flow.parameter.named<"model"::"weights"> : tensor<64x64xf32>
util.global private @scale = #flow.parameter.named<"model"::"scale"> : tensor<64xf32>
util.global private @shift = #flow.parameter.named<"model"::"shift"> : tensor<64xf32>
util.global private @bytes = #flow.parameter.named<"bytes"> : tensor<16xi8>
util.global private mutable @counter = #flow.parameter.named<"model"::"counter"> : tensor<4xi32>

func.func @main(%input: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %zero = arith.constant 0.0 : f32
  %weights = util.global.load @weights : tensor<64x64xf32>
  %scale = util.global.load @scale : tensor<64xf32>
  %shift = util.global.load @shift : tensor<64xf32>
  %empty = tensor.empty() : tensor<2x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x64xf32>) -> tensor<2x64xf32>
  %product = linalg.matmul ins(%input, %weights : tensor<2x64xf32>, tensor<64x64xf32>)
      outs(%zeros : tensor<2x64xf32>) -> tensor<2x64xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%product, %scale, %shift : tensor<2x64xf32>, tensor<64xf32>, tensor<64xf32>)
    outs(%empty : tensor<2x64xf32>) {
  ^bb0(%value: f32, %factor: f32, %summand: f32, %out: f32):
    %scaled = arith.mulf %value, %factor : f32
    %shifted = arith.addf %scaled, %summand : f32
    linalg.yield %shifted : f32
  } -> tensor<2x64xf32>
  return %result : tensor<2x64xf32>
}

func.func @count() -> (tensor<4xi32>, tensor<16xi8>) {
  %one = arith.constant dense<1> : tensor<4xi32>
  %before = util.global.load @counter : tensor<4xi32>
  %after = arith.addi %before, %one : tensor<4xi32>
  util.global.store %after, @counter : tensor<4xi32>
  %bytes = util.global.load @bytes : tensor<16xi8>
  return %after, %bytes : tensor<4xi32>, tensor<16xi8>
}
