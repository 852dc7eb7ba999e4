// Loops and choices around dispatches, decided on the host by what devices computed.

// RUN-WITH: --function=repeat --input=5 --input=4xf32=1,2,3,4
// RUN-WITH: --function=repeat --input=0 --input=4xf32=1,2,3,4
// RUN-WITH: --function=until --input=f32=1
// RUN-WITH: --function=either --input=i1=01 --input=2xf32=1,2
// RUN-WITH: --function=either --input=i1=00 --input=2xf32=1,2

func.func @repeat(%count: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %result = scf.for %i = %c0 to %count step %c1 iter_args(%sum = %x) -> tensor<4xf32> {
    %next = arith.addf %sum, %x : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %result : tensor<4xf32>
}

func.func @until(%start: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  %limit = arith.constant dense<100.0> : tensor<f32>
  %one = arith.constant dense<1> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %end:2 = scf.while (%x = %start, %n = %zero) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) {
    %less = arith.cmpf olt, %x, %limit : tensor<f32>
    %go_on = tensor.extract %less[] : tensor<i1>
    scf.condition(%go_on) %x, %n : tensor<f32>, tensor<i32>
  } do {
  ^bb0(%x: tensor<f32>, %n: tensor<i32>):
    %twice = arith.addf %x, %x : tensor<f32>
    %next = arith.addi %n, %one : tensor<i32>
    scf.yield %twice, %next : tensor<f32>, tensor<i32>
  }
  return %end#0, %end#1 : tensor<f32>, tensor<i32>
}

func.func @either(%condition: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %is_set = tensor.extract %condition[] : tensor<i1>
  %result = scf.if %is_set -> tensor<2xf32> {
    %sum = arith.addf %x, %x : tensor<2xf32>
    scf.yield %sum : tensor<2xf32>
  } else {
    %product = arith.mulf %x, %x : tensor<2xf32>
    scf.yield %product : tensor<2xf32>
  }
  return %result : tensor<2xf32>
}
