// What models are made of: several operations in one dispatch.

func.func @softmax(%a: tensor<3x17xf32>) -> tensor<3x17xf32> {
  %empty = tensor.empty() : tensor<3x17xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<3x17xf32>) outs(%empty : tensor<3x17xf32>) -> tensor<3x17xf32>
  return %r : tensor<3x17xf32>
}

func.func @layer_norm(%a: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %row = tensor.empty() : tensor<4xf32>
  %empty = tensor.empty() : tensor<4x64xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<4x64xf32>) outs(%clear : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %sum : tensor<4x64xf32>, tensor<4xf32>) outs(%clear : tensor<4xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %mean = arith.divf %total, %n : f32
    %d = arith.subf %in, %mean : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %out, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %sum, %squares : tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4x64xf32>) {
  ^bb0(%in: f32, %total: f32, %square: f32, %out: f32):
    %mean = arith.divf %total, %n : f32
    %d = arith.subf %in, %mean : f32
    %v = arith.divf %square, %n : f32
    %e = arith.addf %v, %epsilon : f32
    %i = math.rsqrt %e : f32
    %x = arith.mulf %d, %i : f32
    linalg.yield %x : f32
  } -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

func.func @gelu(%a: tensor<100xf32>) -> tensor<100xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %empty = tensor.empty() : tensor<100xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a : tensor<100xf32>) outs(%empty : tensor<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %root : f32
    %e = math.erf %s : f32
    %p = arith.addf %e, %one : f32
    %h = arith.mulf %in, %half : f32
    %x = arith.mulf %h, %p : f32
    linalg.yield %x : f32
  } -> tensor<100xf32>
  return %r : tensor<100xf32>
}

func.func @requantize(%a: tensor<50xi32>) -> tensor<50xi8> {
  %scale = arith.constant 0.37 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %empty = tensor.empty() : tensor<50xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a : tensor<50xi32>) outs(%empty : tensor<50xi8>) {
  ^bb0(%in: i32, %out: i8):
    %f = arith.sitofp %in : i32 to f32
    %s = arith.mulf %f, %scale : f32
    %n = math.roundeven %s : f32
    %l = arith.maximumf %n, %low : f32
    %h = arith.minimumf %l, %high : f32
    %x = arith.fptosi %h : f32 to i8
    linalg.yield %x : i8
  } -> tensor<50xi8>
  return %r : tensor<50xi8>
}
