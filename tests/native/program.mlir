// What Python calls, for both back ends.

func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %sum = arith.addf %a, %b : tensor<4xf32>
  return %sum : tensor<4xf32>
}

func.func @same(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

func.func @bytes(%a: tensor<?xi8>, %b: tensor<?xi1>) -> (tensor<?xi8>, tensor<?xi1>) {
  return %a, %b : tensor<?xi8>, tensor<?xi1>
}

func.func @scalars(%a: i8, %b: i64, %c: f32, %d: f16, %e: i1) -> (i8, i64, f32, f16, i1) {
  return %a, %b, %c, %d, %e : i8, i64, f32, f16, i1
}

func.func @divide(%a: i32, %b: i32) -> i32 {
  %quotient = arith.divsi %a, %b : i32
  return %quotient : i32
}

func.func @nothing() {
  return
}

util.global private mutable @count = 0 : i32
func.func @next() -> i32 {
  %one = arith.constant 1 : i32
  %count = util.global.load @count : i32
  %next = arith.addi %count, %one : i32
  util.global.store %next, @count : i32
  return %next : i32
}

// Structures: a mapping and a list in, the values of a mapping out.
util.func public @nested(%point: !util.list<?>, %factors: !util.list<?>) -> (f32, !util.list<?>)
    attributes {iree.abi.stub, iree.reflection = {iree.abi = "{\22a\22:[[\22sdict\22,[\22x\22,\22f32\22],[\22y\22,[\22ndarray\22,\22f32\22,1,null]]],[\22slist\22,\22f32\22,\22f32\22]],\22r\22:[[\22sdict\22,[\22product\22,\22f32\22],[\22point\22,[\22sdict\22,[\22x\22,\22f32\22],[\22y\22,[\22ndarray\22,\22f32\22,1,null]]]]]],\22v\22:1}"}} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %x = util.list.get %point[%0] : !util.list<?> -> f32
  %f = util.list.get %factors[%1] : !util.list<?> -> f32
  %product = arith.mulf %x, %f : f32
  util.return %product, %point : f32, !util.list<?>
}

// A raw function and the structure that is spread over it: {"x": [c, nothing, a], "y": b} -> [b, {"n": a - c}].
util.func public @spread(%a: i32, %b: !hal.buffer_view, %c: i32) -> (i32, !hal.buffer_view)
    attributes {iree.abi.stub, iree.reflection = {abi = "sip", sipv = "1", fv = "1", f = "I17!S3!t6B4!d-1S3!t6R12!S3!t6B4!d-1", sip = "I26!D22!K2!xS9!k0_2k2_0K2!y_1R20!S16!k0_1k1D7!K2!n_0"}} {
  %difference = arith.subi %a, %c : i32
  util.return %difference, %b : i32, !hal.buffer_view
}

// A structure whose paths and raw signature do not agree.
util.func public @astray(%a: i32) -> i32
    attributes {iree.abi.stub, iree.reflection = {f = "I6!S3!t6R6!S3!t6", sip = "I6!S3!k0R3!_0"}} {
  util.return %a : i32
}

// Two rows of any number of pairs.
util.func public @grid(%a: !util.list<?>) -> !util.list<?>
    attributes {iree.abi.stub, iree.reflection = {iree.abi = "{\22a\22:[[\22ndarray\22,[\22slist\22,\22i32\22,\22i32\22],2,2,null]],\22r\22:[[\22ndarray\22,[\22slist\22,\22i32\22,\22i32\22],2,2,null]],\22v\22:1}"}} {
  util.return %a : !util.list<?>
}

func.func @doubled(%a: tensor<?xf32>, %b: tensor<?xf32> {iree.abi.output = 0 : index}) -> tensor<?xf32> {
  %sum = arith.addf %a, %a : tensor<?xf32>
  return %sum : tensor<?xf32>
}

func.func @spin(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %last = scf.while (%i = %zero) : (i64) -> i64 {
    %more = arith.cmpi slt, %i, %n : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%i: i64):
    %next = arith.addi %i, %one : i64
    scf.yield %next : i64
  }
  return %last : i64
}
