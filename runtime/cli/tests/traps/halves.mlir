// Too large a square is an infinity, and no number minus itself.
func.func @half(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %square = arith.mulf %x, %x : tensor<4xf16>
  %kept = util.optimization_barrier %square : tensor<4xf16>
  %none = arith.subf %kept, %kept : tensor<4xf16>
  return %kept, %none : tensor<4xf16>, tensor<4xf16>
}

func.func @brain(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %none = arith.subf %x, %x : tensor<4xbf16>
  return %none : tensor<4xbf16>
}
