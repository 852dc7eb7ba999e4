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
