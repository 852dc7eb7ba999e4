// Element by element: arithmetic, comparison, mathematical functions.

// RUN-WITH: --function=arithmetic --input=2x3xf32=1,-2,3.5,0,-0.25,1e10 --input=2x3xf32=4,5,-6,0.5,7,1e-10
// RUN-WITH: --function=functions --input=5xf32=0,0.5,-1,2,10
// RUN-WITH: --function=integers --input=6xi32=7,-7,2147483647,-2147483648,0,1 --input=6xi32=2,2,1,-1,5,-3
// RUN-WITH: --function=choose --input=4xf32=1,nan,-inf,3 --input=4xf32=2,2,2,-0.0

func.func @arithmetic(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %sum = arith.addf %a, %b : tensor<2x3xf32>
  %difference = arith.subf %a, %b : tensor<2x3xf32>
  %product = arith.mulf %sum, %difference : tensor<2x3xf32>
  %quotient = arith.divf %a, %b : tensor<2x3xf32>
  return %product, %quotient : tensor<2x3xf32>, tensor<2x3xf32>
}

func.func @functions(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %exp = math.exp %x : tensor<5xf32>
  %tanh = math.tanh %x : tensor<5xf32>
  %absolute = math.absf %x : tensor<5xf32>
  %root = math.sqrt %absolute : tensor<5xf32>
  %floor = math.floor %x : tensor<5xf32>
  return %exp, %tanh, %root, %floor : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

func.func @integers(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi64>) {
  %product = arith.muli %a, %b : tensor<6xi32>
  %bits = arith.xori %a, %b : tensor<6xi32>
  %three = arith.constant dense<3> : tensor<6xi32>
  %shifted = arith.shrsi %bits, %three : tensor<6xi32>
  %wide = arith.extsi %a : tensor<6xi32> to tensor<6xi64>
  return %product, %shifted, %wide : tensor<6xi32>, tensor<6xi32>, tensor<6xi64>
}

func.func @choose(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  %less = arith.cmpf olt, %a, %b : tensor<4xf32>
  %chosen = arith.select %less, %a, %b : tensor<4xi1>, tensor<4xf32>
  return %chosen, %less : tensor<4xf32>, tensor<4xi1>
}
