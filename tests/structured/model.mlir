// Functions with nested arguments and results, as importers of frameworks made them. `iree.abi` is what a caller sees; what
// travels is lists. The functions take them apart and put them together again.

// (a: [f32, ndarray 2x2]) -> {"product": ndarray 2x2, "list": a}
util.func public @scale(%a: !util.list<?>) -> (!hal.buffer_view, !util.list<?>)
    attributes {iree.abi.stub, iree.reflection = {iree.abi = "{\22a\22:[[\22slist\22,\22f32\22,[\22ndarray\22,\22f32\22,2,2,2]]],\22r\22:[[\22sdict\22,[\22product\22,[\22ndarray\22,\22f32\22,2,2,2]],[\22list\22,[\22slist\22,\22f32\22,[\22ndarray\22,\22f32\22,2,2,2]]]]],\22v\22:1}"}} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %by = util.list.get %a[%0] : !util.list<?> -> f32
  %view = util.list.get %a[%1] : !util.list<?> -> !hal.buffer_view
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<2x2xf32>
  %empty = tensor.empty() : tensor<2x2xf32>
  %bys = linalg.fill ins(%by : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %product = arith.mulf %x, %bys : tensor<2x2xf32>
  %result = hal.tensor.export %product : tensor<2x2xf32> -> !hal.buffer_view
  util.return %result, %a : !hal.buffer_view, !util.list<?>
}

// (i64, x=i64, y={"b": i32, "a": [i32, i32]}) -> (i64, i32): arguments by name after one by position, a tuple out.
util.func public @named(%n: i64, %x: i64, %y: !util.list<?>) -> (i64, i32)
    attributes {iree.abi.stub, iree.reflection = {iree.abi = "{\22a\22:[\22i64\22,[\22named\22,\22x\22,\22i64\22],[\22named\22,\22y\22,[\22sdict\22,[\22b\22,\22i32\22],[\22a\22,[\22stuple\22,\22i32\22,\22i32\22]]]]],\22r\22:[[\22stuple\22,\22i64\22,\22i32\22]],\22v\22:1}"}} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %sum = arith.addi %n, %x : i64
  %b = util.list.get %y[%0] : !util.list<?> -> i32
  %a = util.list.get %y[%1] : !util.list<?> -> !util.list<?>
  %second = util.list.get %a[%1] : !util.list<?> -> i32
  %both = arith.addi %b, %second : i32
  util.return %sum, %both : i64, i32
}

// ([i64…]) -> [i64…]: a list of any length; the first becomes the last, too.
util.func public @homogeneous(%list: !util.list<?>) -> !util.list<?>
    attributes {iree.abi.stub, iree.reflection = {iree.abi = "{\22a\22:[[\22py_homogeneous_list\22,\22i64\22]],\22r\22:[[\22py_homogeneous_list\22,\22i64\22]],\22v\22:1}"}} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %size = util.list.size %list : !util.list<?>
  %first = util.list.get %list[%0] : !util.list<?> -> i64
  %longer = arith.addi %size, %1 : index
  util.list.resize %list, %longer : !util.list<?>
  util.list.set %list[%size], %first : i64 -> !util.list<?>
  util.return %list : !util.list<?>
}

// ([null, i32], unknown) -> (anything, null)
util.func public @loose(%gap: !util.list<?>, %any: !util.list<?>) -> (!util.list<?>, !util.list<?>)
    attributes {iree.abi.stub, iree.reflection = {iree.abi = "{\22a\22:[[\22slist\22,null,\22i32\22],\22unknown\22],\22r\22:[\22unknown\22,null],\22v\22:1}"}} {
  %null = util.null : !util.list<?>
  util.return %any, %null : !util.list<?>, !util.list<?>
}

// Scalars of every width, as bits where they are narrow.
util.func public @scalars(%a: i32, %b: i32, %c: i64, %d: i32, %e: f32, %f: f64) -> (i32, i32, i64, i32, f32, f64)
    attributes {iree.abi.stub, iree.reflection = {iree.abi = "{\22a\22:[\22i8\22,\22i1\22,\22i64\22,\22f16\22,\22f32\22,\22f64\22],\22r\22:[\22i8\22,\22i1\22,\22i64\22,\22bf16\22,\22f32\22,\22f64\22],\22v\22:1}"}} {
  util.return %a, %b, %c, %d, %e, %f : i32, i32, i64, i32, f32, f64
}

// Nothing is said but what the compiler says: a declaration.
func.func @declared(%x: tensor<?xf32>, %n: i32) -> (tensor<?xf32>, i32) {
  return %x, %n : tensor<?xf32>, i32
}

// A raw function and the structure that is spread over it: {"x": [c, nothing, a], "y": b} -> [b, {"n": a - c}].
util.func public @spread(%a: i32, %b: !hal.buffer_view, %c: i32) -> (i32, !hal.buffer_view)
    attributes {iree.abi.stub, iree.reflection = {abi = "sip", sipv = "1", fv = "1", f = "I17!S3!t6B4!d-1S3!t6R12!S3!t6B4!d-1", sip = "I26!D22!K2!xS9!k0_2k2_0K2!y_1R20!S16!k0_1k1D7!K2!n_0"}} {
  %difference = arith.subi %a, %c : i32
  util.return %difference, %b : i32, !hal.buffer_view
}

// What is said of it contradicts it, and its structure is malformed.
util.func public @astray(%a: i32) -> i32
    attributes {iree.abi.stub, iree.reflection = {f = "I6!S3!t6R11!S3!t6S3!t6", sip = "I6!S3!k0R3!_0"}} {
  util.return %a : i32
}
