// A block of a model, called twice, and a loop that repeats a step until its result is small.
func.func private @block(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %product = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = math.tanh %product : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

func.func @steps(%input: tensor<4x4xf32>, %weights: tensor<4x4xf32>) -> (tensor<4x4xf32>, i32) {
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %limit = arith.constant 0.01 : f32
  %first = func.call @block(%input, %weights) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %second = func.call @block(%first, %weights) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %small, %turns = scf.while (%value = %second, %turn = %none) : (tensor<4x4xf32>, i32) -> (tensor<4x4xf32>, i32) {
    %corner = tensor.extract %value[%c0, %c0] : tensor<4x4xf32>
    %size = math.absf %corner : f32
    %is_large = arith.cmpf ogt, %size, %limit : f32
    scf.condition(%is_large) %value, %turn : tensor<4x4xf32>, i32
  } do {
  ^bb0(%value: tensor<4x4xf32>, %turn: i32):
    %halves = arith.constant dense<0.25> : tensor<4x4xf32>
    %scaled = arith.mulf %value, %halves : tensor<4x4xf32>
    %next = arith.addi %turn, %one : i32
    scf.yield %scaled, %next : tensor<4x4xf32>, i32
  }
  %result = func.call @block(%small, %weights) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %result, %turns : tensor<4x4xf32>, i32
}
