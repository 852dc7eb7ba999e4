// Workgroups that all write one element, the value of their own: which comes last is not defined.
// Workgroup 1 takes %long turns, so that it comes last where each has a thread.
func.func @race(%x: tensor<64xf32>, %long: index) -> tensor<1xf32> {
  %c64 = arith.constant 64 : index
  %r = flow.dispatch.workgroups[%c64](%x, %long) : (tensor<64xf32>, index) -> tensor<1xf32> =
      (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xf32>>,
       %most: index,
       %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xf32>>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %short = arith.constant 2000 : index
    %zero = arith.constant 0.0 : f32
    %id = flow.dispatch.workgroup.id[0] : index
    %is_long = arith.cmpi eq, %id, %c1 : index
    %turns = arith.select %is_long, %most, %short : index
    %v = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%id], sizes = [1], strides = [1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64xf32>> -> tensor<1xf32>
    %e = tensor.extract %v[%c0] : tensor<1xf32>
    %sum = scf.for %i = %c0 to %turns step %c1 iter_args(%s = %zero) -> f32 {
      %d = arith.divf %e, %s : f32
      %n = arith.addf %d, %e : f32
      scf.yield %n : f32
    }
    %t = tensor.from_elements %sum : tensor<1xf32>
    iree_tensor_ext.dispatch.tensor.store %t, %out, offsets = [0], sizes = [1], strides = [1]
        : tensor<1xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1xf32>>
    flow.return
  } count(%n: index) -> (index, index, index) {
    %one = arith.constant 1 : index
    flow.return %n, %one, %one : index, index, index
  }
  return %r : tensor<1xf32>
}
