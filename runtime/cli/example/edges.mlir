// A picture and its edges: a ring, filtered with two 3x3 kernels of Sobel.
//
//     iree-dbg debug edges.mlir --input=20
//     (iree-dbg) break edges.mlir:46
//     (iree-dbg) run
//     (iree-dbg) show %ring
func.func @edges(%radius: f32) -> tensor<62x62xf32> {
  %zero = arith.constant 0.0 : f32
  %across = arith.constant dense<[[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]> : tensor<3x3xf32>
  %down = arith.constant dense<[[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]> : tensor<3x3xf32>

  // A pixel is 1 on the circle, and less the farther it is from there.
  %blank = tensor.empty() : tensor<64x64xf32>
  %ring = linalg.generic {
    indexing_maps = [affine_map<(y, x) -> (y, x)>],
    iterator_types = ["parallel", "parallel"]
  } outs(%blank : tensor<64x64xf32>) {
  ^bb0(%pixel: f32):
    %middle = arith.constant 31.5 : f32
    %sharpness = arith.constant -0.05 : f32
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %row_i32 = arith.index_cast %row : index to i32
    %column_i32 = arith.index_cast %column : index to i32
    %y = arith.sitofp %row_i32 : i32 to f32
    %x = arith.sitofp %column_i32 : i32 to f32
    %dy = arith.subf %y, %middle : f32
    %dx = arith.subf %x, %middle : f32
    %dy2 = arith.mulf %dy, %dy : f32
    %dx2 = arith.mulf %dx, %dx : f32
    %square = arith.addf %dy2, %dx2 : f32
    %distance = math.sqrt %square : f32
    %off = arith.subf %distance, %radius : f32
    %off2 = arith.mulf %off, %off : f32
    %scaled = arith.mulf %off2, %sharpness : f32
    %light = math.exp %scaled : f32
    linalg.yield %light : f32
  } -> tensor<64x64xf32>

  // How fast the picture changes to the right, and downwards.
  %empty = tensor.empty() : tensor<62x62xf32>
  %black = linalg.fill ins(%zero : f32) outs(%empty : tensor<62x62xf32>) -> tensor<62x62xf32>
  %to_right = linalg.conv_2d ins(%ring, %across : tensor<64x64xf32>, tensor<3x3xf32>)
      outs(%black : tensor<62x62xf32>) -> tensor<62x62xf32>
  %to_bottom = linalg.conv_2d ins(%ring, %down : tensor<64x64xf32>, tensor<3x3xf32>)
      outs(%black : tensor<62x62xf32>) -> tensor<62x62xf32>

  // The edges: the length of both together.
  %edges = linalg.generic {
    indexing_maps = [
      affine_map<(y, x) -> (y, x)>, affine_map<(y, x) -> (y, x)>, affine_map<(y, x) -> (y, x)>
    ],
    iterator_types = ["parallel", "parallel"]
  } ins(%to_right, %to_bottom : tensor<62x62xf32>, tensor<62x62xf32>) outs(%empty : tensor<62x62xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %a2 = arith.mulf %a, %a : f32
    %b2 = arith.mulf %b, %b : f32
    %sum = arith.addf %a2, %b2 : f32
    %length = math.sqrt %sum : f32
    linalg.yield %length : f32
  } -> tensor<62x62xf32>
  return %edges : tensor<62x62xf32>
}
