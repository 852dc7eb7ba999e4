// input 5x16xf32 floats
// input 5x16xf32 floats
func.func @main(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %a = arith.addf %x, %y : tensor<?x16xf32>
  %b = arith.mulf %a, %x : tensor<?x16xf32>
  %c = math.absf %b : tensor<?x16xf32>
  %d = math.sqrt %c : tensor<?x16xf32>
  %e = arith.addf %d, %y : tensor<?x16xf32>
  %f = arith.fptosi %e : tensor<?x16xf32> to tensor<?x16xi32>
  %g = arith.addi %f, %f : tensor<?x16xi32>
  %h = arith.sitofp %g : tensor<?x16xi32> to tensor<?x16xf32>
  %i = arith.subf %h, %e : tensor<?x16xf32>
  %j = math.tanh %i : tensor<?x16xf32>
  %k = arith.mulf %j, %x : tensor<?x16xf32>
  return %k : tensor<?x16xf32>
}
