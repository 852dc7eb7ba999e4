// Functions of many types, called by iree.runtime and by iree_dbg.
func.func @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @wide(%x: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %0 = arith.addi %x, %x : tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
func.func @large(%x: tensor<2097152xf32>) -> tensor<2097152xf32> {
  return %x : tensor<2097152xf32>
}
func.func @f16(%x: tensor<4xf16>) -> tensor<4xf16> { return %x : tensor<4xf16> }
func.func @bf16(%x: tensor<4xbf16>) -> tensor<4xbf16> { return %x : tensor<4xbf16> }
func.func @i1(%x: tensor<4xi1>) -> tensor<4xi1> { return %x : tensor<4xi1> }
func.func @f64(%x: tensor<2x2xf64>) -> tensor<2x2xf64> { return %x : tensor<2x2xf64> }
func.func @i64(%x: tensor<3xi64>) -> tensor<3xi64> { return %x : tensor<3xi64> }
func.func @i8(%x: tensor<3xi8>) -> tensor<3xi8> { return %x : tensor<3xi8> }
func.func @c64(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  return %x : tensor<3xcomplex<f32>>
}
func.func @rank0(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> { return %x : tensor<0x3xf32> }
func.func @numbers(%a: i8, %b: i32, %c: i64, %d: f32, %e: f64) -> (i8, i32, i64, f32, f64) {
  return %a, %b, %c, %d, %e : i8, i32, i64, f32, f64
}
