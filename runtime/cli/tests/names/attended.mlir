// As PyTorch exports it: attention with a causal mask that the framework adds, a mask of the model
// that is made of indices, and a mean whose count is a result of its loop, too.
module {
  func.func @main(%x: !torch.vtensor<[2,2,6,16],f32>) -> !torch.vtensor<[2,2],f32> attributes {torch.assume_strict_symbolic_shapes} {
    %none = torch.constant.none
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int-1 = torch.constant.int -1
    %int-2 = torch.constant.int -2
    %int6 = torch.constant.int 6
    %int11 = torch.constant.int 11
    %zero = torch.constant.float 0.000000e+00
    %lowest = torch.constant.float 0xFFF0000000000000
    %rows = torch.prim.ListConstruct %int6, %int6 : (!torch.int, !torch.int) -> !torch.list<int>
    %one = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
    %attended = torch.aten.scaled_dot_product_attention %x, %x, %x, %none, %zero, %true, %none, %false : !torch.vtensor<[2,2,6,16],f32>, !torch.vtensor<[2,2,6,16],f32>, !torch.vtensor<[2,2,6,16],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,2,6,16],f32>
    %ones = torch.aten.ones %rows, %int11, %none, %none, %false : !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[6,6],i1>
    %later = torch.aten.triu %ones, %int1 : !torch.vtensor<[6,6],i1>, !torch.int -> !torch.vtensor<[6,6],i1>
    %turned = torch.aten.transpose.int %attended, %int-2, %int-1 : !torch.vtensor<[2,2,6,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,2,16,6],f32>
    %scores = torch.aten.matmul %attended, %turned : !torch.vtensor<[2,2,6,16],f32>, !torch.vtensor<[2,2,16,6],f32> -> !torch.vtensor<[2,2,6,6],f32>
    %masked = torch.aten.masked_fill.Scalar %scores, %later, %lowest : !torch.vtensor<[2,2,6,6],f32>, !torch.vtensor<[6,6],i1>, !torch.float -> !torch.vtensor<[2,2,6,6],f32>
    %shares = torch.aten.softmax.int %masked, %int-1, %none : !torch.vtensor<[2,2,6,6],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,2,6,6],f32>
    %pooled = torch.aten.adaptive_avg_pool2d %shares, %one : !torch.vtensor<[2,2,6,6],f32>, !torch.list<int> -> !torch.vtensor<[2,2,1,1],f32>
    %mean = torch.aten.flatten.using_ints %pooled, %int1, %int-1 : !torch.vtensor<[2,2,1,1],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,2],f32>
    return %mean : !torch.vtensor<[2,2],f32>
  }
}
