// Dispatches that fault on certain inputs.

// Reads element %index[i] of %x, wherever that is.
func.func @gather(%x: tensor<16xf32>, %index: tensor<4xi64>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]
  } ins(%index : tensor<4xi64>) outs(%empty : tensor<4xf32>) {
  ^bb0(%i: i64, %out: f32):
    %at = arith.index_cast %i : i64 to index
    %value = tensor.extract %x[%at] : tensor<16xf32>
    linalg.yield %value : f32
  } -> tensor<4xf32>
  return %result : tensor<4xf32>
}

// Divides element by element. Numbers of 64 bits, and a processor without vectors of them: others are divided as floats.
func.func @quotients(%a: tensor<4xi64>, %b: tensor<4xi64>) -> tensor<4xi64> {
  %empty = tensor.empty() : tensor<4xi64>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]
  } ins(%a, %b : tensor<4xi64>, tensor<4xi64>) outs(%empty : tensor<4xi64>) {
  ^bb0(%x: i64, %y: i64, %out: i64):
    %quotient = arith.divsi %x, %y : i64
    linalg.yield %quotient : i64
  } -> tensor<4xi64>
  return %result : tensor<4xi64>
}

// Counts %n down in steps that never reach 0 if %n is odd.
func.func @endless(%n: tensor<i32>) -> tensor<64xi32> {
  %empty = tensor.empty() : tensor<64xi32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]
  } ins(%n : tensor<i32>) outs(%empty : tensor<64xi32>) {
  ^bb0(%start: i32, %out: i32):
    %two = arith.constant 2 : i32
    %zero = arith.constant 0 : i32
    %end = scf.while (%left = %start) : (i32) -> i32 {
      %more = arith.cmpi ne, %left, %zero : i32
      scf.condition(%more) %left : i32
    } do {
    ^bb1(%left: i32):
      %square = arith.muli %left, %left : i32
      %next = arith.subi %left, %two : i32
      %mixed = arith.xori %square, %next : i32
      %same = arith.xori %mixed, %square : i32
      scf.yield %same : i32
    }
    linalg.yield %end : i32
  } -> tensor<64xi32>
  return %result : tensor<64xi32>
}

// Reads all of a tensor of which only the middle was written.
func.func @partly(%x: tensor<8xf32>) -> tensor<16xf32> {
  %empty = tensor.empty() : tensor<16xf32>
  %half = tensor.insert_slice %x into %empty[4] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %same = util.optimization_barrier %half : tensor<16xf32>
  %out = tensor.empty() : tensor<16xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]
  } ins(%same : tensor<16xf32>) outs(%out : tensor<16xf32>) {
  ^bb0(%value: f32, %o: f32):
    %square = arith.mulf %value, %value : f32
    linalg.yield %square : f32
  } -> tensor<16xf32>
  return %result : tensor<16xf32>
}

// Writes elements %at of %x, wherever that is.
func.func @scatter(%x: tensor<16xf32>, %values: tensor<2xf32>, %at: tensor<2xi32>) -> tensor<16xf32> {
  %same = util.optimization_barrier %x : tensor<16xf32>
  %result = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%values, %at : tensor<2xf32>, tensor<2xi32>) outs(%same : tensor<16xf32>) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<16xf32>
  return %result : tensor<16xf32>
}
