// A gate as networks for images have it, as an importer of ONNX writes it: the bias of its last
// convolution is added in the dispatch that uses the gate. The same slice stands there twice, a mask
// is an argument of truth values, and one dispatch leaves a tensor in two orders.
module {
  func.func @gates(%image: !torch.vtensor<[1,8,6,6],f32>, %mask: !torch.vtensor<[6],i1>) -> (!torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1,8,6,6],f32>) attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "", torch.onnx_meta.producer_version = ""} {
    %down = torch.vtensor.literal(dense<0.25> : tensor<2x8x1x1xf32>) : !torch.vtensor<[2,8,1,1],f32>
    %less = torch.vtensor.literal(dense<[1.0, -0.5]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
    %up = torch.vtensor.literal(dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]], [[[7.0]], [[8.0]]], [[[-1.0]], [[2.0]]], [[[-3.0]], [[4.0]]], [[[-5.0]], [[6.0]]], [[[-7.0]], [[8.0]]]]> : tensor<8x2x1x1xf32>) : !torch.vtensor<[8,2,1,1],f32>
    %more = torch.vtensor.literal(dense<[0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]> : tensor<8xf32>) : !torch.vtensor<[8],f32>
    %nothing = torch.vtensor.literal(dense<0.0> : tensor<f32>) : !torch.vtensor<[],f32>
    %start = torch.vtensor.literal(dense<0> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
    %end = torch.vtensor.literal(dense<3> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
    %axis = torch.vtensor.literal(dense<3> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
    %pooled = torch.operator "onnx.GlobalAveragePool"(%image) : (!torch.vtensor<[1,8,6,6],f32>) -> !torch.vtensor<[1,8,1,1],f32>
    %small = torch.operator "onnx.Conv"(%pooled, %down, %less) : (!torch.vtensor<[1,8,1,1],f32>, !torch.vtensor<[2,8,1,1],f32>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[1,2,1,1],f32>
    %large = torch.operator "onnx.Conv"(%small, %up, %more) : (!torch.vtensor<[1,2,1,1],f32>, !torch.vtensor<[8,2,1,1],f32>, !torch.vtensor<[8],f32>) -> !torch.vtensor<[1,8,1,1],f32>
    %gate = torch.operator "onnx.HardSigmoid"(%large) {torch.onnx.alpha = 2.000000e-01 : f32} : (!torch.vtensor<[1,8,1,1],f32>) -> !torch.vtensor<[1,8,1,1],f32>
    %gated = torch.operator "onnx.Mul"(%image, %gate) : (!torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1,8,1,1],f32>) -> !torch.vtensor<[1,8,6,6],f32>
    %left = torch.operator "onnx.Slice"(%gated, %start, %end, %axis) : (!torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1,8,6,3],f32>
    %again = torch.operator "onnx.Slice"(%gated, %start, %end, %axis) : (!torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1,8,6,3],f32>
    %both = torch.operator "onnx.Concat"(%left, %again) {torch.onnx.axis = 3 : si64} : (!torch.vtensor<[1,8,6,3],f32>, !torch.vtensor<[1,8,6,3],f32>) -> !torch.vtensor<[1,8,6,6],f32>
    %powers = torch.operator "onnx.Exp"(%gated) : (!torch.vtensor<[1,8,6,6],f32>) -> !torch.vtensor<[1,8,6,6],f32>
    %turned = torch.operator "onnx.Transpose"(%powers) {torch.onnx.perm = [0 : si64, 1 : si64, 3 : si64, 2 : si64]} : (!torch.vtensor<[1,8,6,6],f32>) -> !torch.vtensor<[1,8,6,6],f32>
    %masked = torch.operator "onnx.Where"(%mask, %turned, %nothing) : (!torch.vtensor<[6],i1>, !torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[1,8,6,6],f32>
    return %gated, %both, %powers, %masked : !torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1,8,6,6],f32>, !torch.vtensor<[1,8,6,6],f32>
  }
}
