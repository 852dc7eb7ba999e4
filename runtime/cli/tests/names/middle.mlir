// A model as an importer of ONNX writes it: normalisation leaves its differences for the next
// dispatch, a concatenation is made by replacing parts, and a convolution pads what it reads.
module {
  func.func @middle(%x: !torch.vtensor<[4,64],f32>, %gain: !torch.vtensor<[64],f32>, %shift: !torch.vtensor<[64],f32>, %w: !torch.vtensor<[96,8],f32>, %image: !torch.vtensor<[1,1,6,6],f32>, %kernel: !torch.vtensor<[1,1,3,3],f32>) -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[1,1,6,6],f32>) attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "", torch.onnx_meta.producer_version = ""} {
    %normed = torch.operator "onnx.LayerNormalization"(%x, %gain, %shift) {torch.onnx.axis = -1 : si64} : (!torch.vtensor<[4,64],f32>, !torch.vtensor<[64],f32>, !torch.vtensor<[64],f32>) -> !torch.vtensor<[4,64],f32>
    %sizes = torch.vtensor.literal(dense<32> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
    %halves:2 = torch.operator "onnx.Split"(%normed, %sizes) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[4,64],f32>, !torch.vtensor<[2],si64>) -> (!torch.vtensor<[4,32],f32>, !torch.vtensor<[4,32],f32>)
    %grown = torch.operator "onnx.Exp"(%halves#0) : (!torch.vtensor<[4,32],f32>) -> !torch.vtensor<[4,32],f32>
    %joined = torch.operator "onnx.Concat"(%halves#1, %grown, %halves#0) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[4,32],f32>, !torch.vtensor<[4,32],f32>, !torch.vtensor<[4,32],f32>) -> !torch.vtensor<[4,96],f32>
    %product = torch.operator "onnx.MatMul"(%joined, %w) : (!torch.vtensor<[4,96],f32>, !torch.vtensor<[96,8],f32>) -> !torch.vtensor<[4,8],f32>
    %out = torch.operator "onnx.Tanh"(%product) : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32>
    %blurred = torch.operator "onnx.Conv"(%image, %kernel) {torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]} : (!torch.vtensor<[1,1,6,6],f32>, !torch.vtensor<[1,1,3,3],f32>) -> !torch.vtensor<[1,1,6,6],f32>
    return %out, %blurred : !torch.vtensor<[4,8],f32>, !torch.vtensor<[1,1,6,6],f32>
  }
}
