// What moves memory: slices, insertions, padding, fills, state between calls.

// RUN-WITH: --function=insert --input=4x4xi32=1 --input=2x2xi32=5,6,7,8 --input=1
// RUN-WITH: --function=insert --input=4x4xi32=1 --input=2x2xi32=5,6,7,8 --input=2
// RUN-WITH: --function=window --input=4x8xf32=1 --input=2
// RUN-WITH: --function=pad --input=2x3xi32=1,2,3,4,5,6
// RUN-WITH: --function=splat --input=f32=2.5 --input=7
// RUN-WITH: --function=splat --input=f32=2.5 --input=0
// RUN-WITH: --function=bytes --input=11
// RUN-WITH: --function=wide --input=3
// RUN-WITH: --function=concat --input=2x2xi32=1,2,3,4 --input=3x2xi32=5,6,7,8,9,10
// RUN-WITH: --function=accumulate --input=2xi32=1,2
// RUN-WITH: --function=echo --input=2xf32=1,2

util.global private mutable @state = dense<[10, 20]> : tensor<2xi32>

func.func @accumulate(%x: tensor<2xi32>) -> tensor<2xi32> {
  %before = util.global.load @state : tensor<2xi32>
  %after = arith.addi %before, %x : tensor<2xi32>
  util.global.store %after, @state : tensor<2xi32>
  %again = util.global.load @state : tensor<2xi32>
  %sum = arith.addi %again, %before : tensor<2xi32>
  return %sum : tensor<2xi32>
}

func.func @insert(%target: tensor<4x4xi32>, %source: tensor<2x2xi32>, %at: index) -> tensor<4x4xi32> {
  %result = tensor.insert_slice %source into %target[%at, %at] [2, 2] [1, 1] : tensor<2x2xi32> into tensor<4x4xi32>
  return %result : tensor<4x4xi32>
}

func.func @window(%x: tensor<4x8xf32>, %at: index) -> tensor<2x8xf32> {
  %result = tensor.extract_slice %x[%at, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  return %result : tensor<2x8xf32>
}

func.func @pad(%x: tensor<2x3xi32>) -> tensor<4x6xi32> {
  %minus_one = arith.constant -1 : i32
  %result = tensor.pad %x low[1, 2] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %minus_one : i32
  } : tensor<2x3xi32> to tensor<4x6xi32>
  return %result : tensor<4x6xi32>
}

func.func @splat(%value: tensor<f32>, %count: index) -> tensor<?xf32> {
  %scalar = tensor.extract %value[] : tensor<f32>
  %empty = tensor.empty(%count) : tensor<?xf32>
  %result = linalg.fill ins(%scalar : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  return %result : tensor<?xf32>
}

func.func @bytes(%count: index) -> tensor<?xi8> {
  %value = arith.constant 42 : i8
  %empty = tensor.empty(%count) : tensor<?xi8>
  %result = linalg.fill ins(%value : i8) outs(%empty : tensor<?xi8>) -> tensor<?xi8>
  return %result : tensor<?xi8>
}

// Devices fill with patterns of up to four bytes; the compiler brings a dispatch for eight.
func.func @wide(%count: index) -> tensor<?xi64> {
  %value = arith.constant 5000000007 : i64
  %result = flow.tensor.splat %value : tensor<?xi64>{%count}
  return %result : tensor<?xi64>
}

func.func @concat(%a: tensor<2x2xi32>, %b: tensor<3x2xi32>) -> tensor<5x2xi32> {
  %result = tensor.concat dim(0) %a, %b : (tensor<2x2xi32>, tensor<3x2xi32>) -> tensor<5x2xi32>
  return %result : tensor<5x2xi32>
}

func.func @echo(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
