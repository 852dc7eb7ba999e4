// Dispatches that take too long: one whose workgroup never ends, and one of too many workgroups.

func.func @endless(%x: tensor<4xi32>) -> tensor<4xi32> {
  %empty = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi32>) outs(%empty : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %last = scf.while (%v = %a) : (i32) -> i32 {
      %more = arith.cmpi ne, %v, %zero : i32
      scf.condition(%more) %v : i32
    } do {
    ^bb1(%v: i32):
      // Odd, and so never zero.
      %square = arith.muli %v, %v : i32
      %odd = arith.ori %square, %one : i32
      scf.yield %odd : i32
    }
    linalg.yield %last : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

func.func @crowd(%x: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %0 = flow.dispatch.workgroups[%n](%x) : (tensor<4xi32>) -> %x =
      (%t: !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xi32>>) {
    %v = iree_tensor_ext.dispatch.tensor.load %t, offsets = [0], sizes = [4], strides = [1]
        : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xi32>> -> tensor<4xi32>
    %w = arith.addi %v, %v : tensor<4xi32>
    iree_tensor_ext.dispatch.tensor.store %w, %t, offsets = [0], sizes = [4], strides = [1]
        : tensor<4xi32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xi32>>
    flow.return
  } count(%m: index) -> (index, index, index) {
    flow.return %m, %m, %m : index, index, index
  }
  return %0 : tensor<4xi32>
}
