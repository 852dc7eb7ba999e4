// Operations of IREE's own dialect.

func.func @top(%a: tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<2x3xf32>
  %e1 = tensor.empty() : tensor<2x3xi32>
  %f0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r:2 = iree_linalg_ext.topk dimension(1) ins(%a : tensor<2x9xf32>) outs(%f0, %f1 : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%x: f32, %y: f32):
    %p = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %p : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

func.func @best(%a: tensor<3x11xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<3xf32>
  %e1 = tensor.empty() : tensor<3xi32>
  %f0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<3xf32>) -> tensor<3xf32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<3xi32>) -> tensor<3xi32>
  %r:2 = iree_linalg_ext.arg_compare dimension(1) ins(%a : tensor<3x11xf32>) outs(%f0, %f1 : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%x: f32, %y: f32):
    %p = arith.cmpf ogt, %x, %y : f32
    iree_linalg_ext.yield %p : i1
  } -> tensor<3xf32>, tensor<3xi32>
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi32>
}

func.func @sorted(%a: tensor<4x7xi32>) -> tensor<4x7xi32> {
  %r = iree_linalg_ext.sort dimension(1) outs(%a : tensor<4x7xi32>) {
  ^bb0(%x: i32, %y: i32):
    %p = arith.cmpi slt, %x, %y : i32
    iree_linalg_ext.yield %p : i1
  } -> tensor<4x7xi32>
  return %r : tensor<4x7xi32>
}

// @scattered: 3x4xf32 3x1xi32=4,0,2 6x4xf32
func.func @scattered(%updates: tensor<3x4xf32>, %indices: tensor<3x1xi32>, %a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%updates, %indices : tensor<3x4xf32>, tensor<3x1xi32>) outs(%a : tensor<6x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    %s = arith.addf %new, %old : f32
    iree_linalg_ext.yield %s : f32
  } -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

// Rows so long that roundings of each addition show.
func.func @running(%a: tensor<4x512xf32>) -> (tensor<4x512xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x512xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x512xf32>) -> tensor<4x512xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%a : tensor<4x512xf32>) outs(%f0, %f1 : tensor<4x512xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    iree_linalg_ext.yield %s : f32
  } -> tensor<4x512xf32>, tensor<4xf32>
  return %r#0, %r#1 : tensor<4x512xf32>, tensor<4xf32>
}

func.func @running_before(%a: tensor<3x99xf32>) -> (tensor<3x99xf32>, tensor<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3x99xf32>
  %e1 = tensor.empty() : tensor<3xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<3x99xf32>) -> tensor<3x99xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3xf32>) -> tensor<3xf32>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(false) ins(%a : tensor<3x99xf32>) outs(%f0, %f1 : tensor<3x99xf32>, tensor<3xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    iree_linalg_ext.yield %s : f32
  } -> tensor<3x99xf32>, tensor<3xf32>
  return %r#0, %r#1 : tensor<3x99xf32>, tensor<3xf32>
}

// A body that rounds twice.
func.func @running_scaled(%a: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.9 : f32
  %e0 = tensor.empty() : tensor<2x64xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x64xf32>) -> tensor<2x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%a : tensor<2x64xf32>) outs(%f0, %f1 : tensor<2x64xf32>, tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %m = arith.mulf %x, %scale : f32
    %s = arith.addf %m, %y : f32
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x64xf32>, tensor<2xf32>
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<2xf32>
}
