// Shapes that are known when the program runs.

// RUN-WITH: --function=product --input=3x2xf32=1,2,3,4,5,6 --input=2x4xf32=1,0,0,1,0,1,1,0
// RUN-WITH: --function=product --input=1x1xf32=3 --input=1x1xf32=7
// RUN-WITH: --function=product --input=0x2xf32 --input=2x3xf32=1
// RUN-WITH: --function=product --input=3x2xf32=1 --input=3x4xf32=1
// RUN-WITH: --function=sum --input=7xf32=1,2,3,4,5,6,7
// RUN-WITH: --function=sum --input=0xf32
// RUN-WITH: --function=row --input=3x4xi32=1,2,3,4,5,6,7,8,9,10,11,12 --input=1
// RUN-WITH: --function=row --input=3xi32=1 --input=1
// RUN-WITH: --function=row --input=3x4xf32=1 --input=1

func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %b, %c1 : tensor<?x?xf32>
  %inner = tensor.dim %a, %c1 : tensor<?x?xf32>
  %inner_b = tensor.dim %b, %c0 : tensor<?x?xf32>
  %fits = arith.cmpi eq, %inner, %inner_b : index
  cf.assert %fits, "the inner dimensions differ"
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %cleared = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %result = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%cleared : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %result : tensor<?x?xf32>
}

func.func @sum(%x: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %cleared = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]
  } ins(%x : tensor<?xf32>) outs(%cleared : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %result : tensor<f32>
}

func.func @row(%x: tensor<?x4xi32>, %index: index) -> tensor<4xi32> {
  %row = tensor.extract_slice %x[%index, 0] [1, 4] [1, 1] : tensor<?x4xi32> to tensor<4xi32>
  %sum = arith.addi %row, %row : tensor<4xi32>
  return %sum : tensor<4xi32>
}
