// Elements other than f32 and i32, and quantised arithmetic on them.

// COMPILE-WITH: --iree-input-demote-f64-to-f32=false
// RUN-WITH: --function=doubles --input=3xf64=0.1,1e300,-5
// RUN-WITH: --function=bytes --input=5xi8=127,-128,1,0,-1
// RUN-WITH: --function=quantised --input=2x4xi8=1,2,3,4,-5,-6,-7,127 --input=4x2xi8=1,-1,2,-2,3,-3,4,-128
// RUN-WITH: --function=requantise --input=4xi32=100,-1000,123456,-7

func.func @doubles(%x: tensor<3xf64>) -> tensor<3xf64> {
  %product = arith.mulf %x, %x : tensor<3xf64>
  return %product : tensor<3xf64>
}

func.func @bytes(%x: tensor<5xi8>) -> (tensor<5xi8>, tensor<5xi16>, tensor<5xi32>) {
  %sum = arith.addi %x, %x : tensor<5xi8>
  %signed = arith.extsi %x : tensor<5xi8> to tensor<5xi16>
  %unsigned = arith.extui %x : tensor<5xi8> to tensor<5xi32>
  return %sum, %signed, %unsigned : tensor<5xi8>, tensor<5xi16>, tensor<5xi32>
}

func.func @quantised(%a: tensor<2x4xi8>, %b: tensor<4x2xi8>) -> tensor<2x2xi32> {
  %zero = arith.constant 0 : i32
  %a_offset = arith.constant 3 : i32
  %b_offset = arith.constant -2 : i32
  %empty = tensor.empty() : tensor<2x2xi32>
  %cleared = linalg.fill ins(%zero : i32) outs(%empty : tensor<2x2xi32>) -> tensor<2x2xi32>
  %result = linalg.quantized_matmul ins(%a, %b, %a_offset, %b_offset : tensor<2x4xi8>, tensor<4x2xi8>, i32, i32)
    outs(%cleared : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %result : tensor<2x2xi32>
}

func.func @requantise(%x: tensor<4xi32>) -> tensor<4xi8> {
  %empty = tensor.empty() : tensor<4xi8>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]
  } ins(%x : tensor<4xi32>) outs(%empty : tensor<4xi8>) {
  ^bb0(%in: i32, %out: i8):
    %scale = arith.constant 0.0123 : f32
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %float = arith.sitofp %in : i32 to f32
    %scaled = arith.mulf %float, %scale : f32
    %above = arith.maximumf %scaled, %low : f32
    %inside = arith.minimumf %above, %high : f32
    %byte = arith.fptosi %inside : f32 to i8
    linalg.yield %byte : i8
  } -> tensor<4xi8>
  return %result : tensor<4xi8>
}
