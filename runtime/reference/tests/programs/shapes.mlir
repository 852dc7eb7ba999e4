// Parts of tensors, other shapes, other orders.

func.func @transpose(%a: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %empty = tensor.empty() : tensor<4x2x3xf32>
  %r = linalg.transpose ins(%a : tensor<2x3x4xf32>) outs(%empty : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  return %r : tensor<4x2x3xf32>
}

func.func @broadcast(%a: tensor<3xi32>) -> tensor<2x3x2xi32> {
  %empty = tensor.empty() : tensor<2x3x2xi32>
  %r = linalg.broadcast ins(%a : tensor<3xi32>) outs(%empty : tensor<2x3x2xi32>) dimensions = [0, 2]
  return %r : tensor<2x3x2xi32>
}

func.func @reduce(%a: tensor<3x5x2xf32>) -> tensor<3x2xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<3x2xf32>
  %init = linalg.fill ins(%one : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<3x5x2xf32>) outs(%init : tensor<3x2xf32>) dimensions = [1]
  return %r : tensor<3x2xf32>
}

func.func @product(%a: tensor<3x5xf32>) -> tensor<3xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%one : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.reduce ins(%a : tensor<3x5xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %p = arith.mulf %in, %out : f32
      linalg.yield %p : f32
    }
  return %r : tensor<3xf32>
}

func.func @pad(%a: tensor<2x3xf32>) -> tensor<5x4xf32> {
  %x = arith.constant 7.5 : f32
  %r = tensor.pad %a low[1, 0] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<2x3xf32> to tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

func.func @slices(%a: tensor<6x8xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  %part = tensor.extract_slice %a[1, 0] [3, 4] [2, 2] : tensor<6x8xf32> to tensor<3x4xf32>
  %r = tensor.insert_slice %b into %part[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

func.func @reshape(%a: tensor<2x6xf32>) -> tensor<4x3xf32> {
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<2x6xf32> into tensor<12xf32>
  %r = tensor.expand_shape %flat [[0, 1]] output_shape [4, 3] : tensor<12xf32> into tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

func.func @concat(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// @take: 4x3xf32 5xi32=3,0,1,1,2
func.func @take(%table: tensor<4x3xf32>, %which: tensor<5xi32>) -> tensor<5x3xf32> {
  %empty = tensor.empty() : tensor<5x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%which : tensor<5xi32>) outs(%empty : tensor<5x3xf32>) {
  ^bb0(%at: i32, %out: f32):
    %row = arith.index_cast %at : i32 to index
    %column = linalg.index 1 : index
    %x = tensor.extract %table[%row, %column] : tensor<4x3xf32>
    linalg.yield %x : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

func.func @iota() -> tensor<3x4xi64> {
  %empty = tensor.empty() : tensor<3x4xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    outs(%empty : tensor<3x4xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = affine.apply affine_map<(a, b) -> (a * 10 + b floordiv 2)>(%i, %j)
    %x = arith.index_cast %k : index to i64
    linalg.yield %x : i64
  } -> tensor<3x4xi64>
  return %r : tensor<3x4xi64>
}

func.func @argmax(%a: tensor<3x17xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<3xf32>
  %e1 = tensor.empty() : tensor<3xi32>
  %f0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<3xf32>) -> tensor<3xf32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<3xi32>) -> tensor<3xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<3x17xf32>) outs(%f0, %f1 : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%in: f32, %best: f32, %which: i32):
    %j = linalg.index 1 : index
    %at = arith.index_cast %j : index to i32
    %better = arith.cmpf ogt, %in, %best : f32
    %value = arith.select %better, %in, %best : f32
    %index = arith.select %better, %at, %which : i32
    linalg.yield %value, %index : f32, i32
  } -> (tensor<3xf32>, tensor<3xi32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi32>
}
