// Numbers that the function is called with: elements, sizes, and what is computed from them.
func.func @numbers(%x: tensor<?xf32>, %n: index, %b: i1, %k: i8, %v: f32)
    -> (tensor<?xf32>, tensor<4xi32>) {
  %one = arith.constant 1.0 : f32
  %half = arith.mulf %v, %v : f32
  %pick = arith.select %b, %half, %one : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%pick : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = arith.addf %x, %f : tensor<?xf32>
  %z = math.exp %y : tensor<?xf32>
  %twice = arith.addi %k, %k : i8
  %wide = arith.extsi %twice : i8 to i32
  %e4 = tensor.empty() : tensor<4xi32>
  %whole = linalg.fill ins(%wide : i32) outs(%e4 : tensor<4xi32>) -> tensor<4xi32>
  %c3 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %sum = arith.addi %whole, %c3 : tensor<4xi32>
  return %z, %sum : tensor<?xf32>, tensor<4xi32>
}
