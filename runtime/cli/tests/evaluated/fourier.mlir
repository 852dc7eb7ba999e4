// A spectrum of real numbers, and the magnitudes of what a filter leaves of it.
//
// input: 4x16xf32 2
// input: 4x9xf32 1
// planted: 0.38268343 0.3827
// planted: 0.731 0.7311
func.func @main(%x: tensor<4x16xf32>, %phase: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %spectrum = stablehlo.fft %x, type = RFFT, length = [16] : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
  %gain = stablehlo.constant dense<0.731> : tensor<4x9xf32>
  %filter = stablehlo.complex %gain, %phase : tensor<4x9xcomplex<f32>>
  %filtered = stablehlo.multiply %spectrum, %filter : tensor<4x9xcomplex<f32>>
  %magnitude = stablehlo.abs %filtered : (tensor<4x9xcomplex<f32>>) -> tensor<4x9xf32>
  return %magnitude : tensor<4x9xf32>
}
