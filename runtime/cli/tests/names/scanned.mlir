// A loop over layers as frameworks write it: the weights of each are a slice, and a function of its
// own computes the layer.
func.func @main(%x: tensor<4x4xf32>, %weights: tensor<3x4x4xf32>) -> (tensor<4x4xf32>, tensor<3xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %left:4 = stablehlo.while(%all = %weights, %turn = %first, %state = %x, %sums = %none) : tensor<3x4x4xf32>, tensor<i32>, tensor<4x4xf32>, tensor<3xf32>
  cond {
    %count = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %turn, %count, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %own = func.call @own_of(%all, %turn) : (tensor<3x4x4xf32>, tensor<i32>) -> tensor<4x4xf32>
    %next:2 = func.call @layer(%state, %own) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<f32>)
    %sum = stablehlo.reshape %next#1 : (tensor<f32>) -> tensor<1xf32>
    %summed = stablehlo.dynamic_update_slice %sums, %sum, %turn : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %later = stablehlo.add %turn, %one : tensor<i32>
    stablehlo.return %all, %later, %next#0, %summed : tensor<3x4x4xf32>, tensor<i32>, tensor<4x4xf32>, tensor<3xf32>
  }
  %zeros = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<4x4xf32>
  %cell:4 = stablehlo.while(%kept = %left#2, %again = %first, %h = %zeros, %c = %ones) : tensor<4x4xf32>, tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>
  cond {
    %count = stablehlo.constant dense<2> : tensor<i32>
    %more = stablehlo.compare LT, %again, %count, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %gate = stablehlo.dot_general %h, %kept, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %c1 = stablehlo.add %gate, %c : tensor<4x4xf32>
    %wide = stablehlo.dot_general %c1, %kept, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %h1 = stablehlo.tanh %wide : tensor<4x4xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %later = stablehlo.add %again, %one : tensor<i32>
    stablehlo.return %kept, %later, %h1, %c1 : tensor<4x4xf32>, tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %left#2, %left#3, %cell#2 : tensor<4x4xf32>, tensor<3xf32>, tensor<4x4xf32>
}
func.func private @own_of(%from: tensor<3x4x4xf32>, %at: tensor<i32>) -> tensor<4x4xf32> {
  %begin = stablehlo.constant dense<0> : tensor<i32>
  %cut = stablehlo.dynamic_slice %from, %at, %begin, %begin, sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
  %flat = stablehlo.reshape %cut : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  return %flat : tensor<4x4xf32>
}
func.func private @layer(%in: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %product = stablehlo.dot_general %in, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %out = stablehlo.tanh %product : tensor<4x4xf32>
  %sum = stablehlo.reduce(%out init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  return %out, %sum : tensor<4x4xf32>, tensor<f32>
}
