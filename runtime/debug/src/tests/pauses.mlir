// Three dispatches that change a tensor in place: what runs twice or not at all changes the result.
func.func @accumulate(%x: tensor<512xi32>, %w: tensor<600xi32>) -> tensor<512xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %x) -> tensor<512xi32> {
    %next = linalg.generic {
        indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%w : tensor<600xi32>) outs(%acc : tensor<512xi32>) {
    ^bb0(%a: i32, %o: i32):
      %three = arith.constant 3 : i32
      %scaled = arith.muli %o, %three : i32
      %sum = arith.addi %scaled, %a : i32
      linalg.yield %sum : i32
    } -> tensor<512xi32>
    scf.yield %next : tensor<512xi32>
  }
  return %r : tensor<512xi32>
}
