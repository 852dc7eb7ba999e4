// Complex numbers, as PyTorch's programs have them. VMVX has none.
// ONLY: llvm-cpu

func.func @product(%a: tensor<24xcomplex<f32>>, %b: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xcomplex<f32>>, tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %s = complex.mul %x, %y : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @quotient(%a: tensor<24xcomplex<f32>>, %b: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xcomplex<f32>>, tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %s = complex.div %x, %y : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @sum(%a: tensor<24xcomplex<f32>>, %b: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xcomplex<f32>>, tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %s = complex.add %x, %y : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @difference(%a: tensor<24xcomplex<f32>>, %b: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xcomplex<f32>>, tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %s = complex.sub %x, %y : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @negated(%a: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %s = complex.neg %x : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @conjugate(%a: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %s = complex.conj %x : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @distance(%a: tensor<24xcomplex<f32>>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xf32>) {
  ^bb0(%x: complex<f32>, %o: f32):
    %s = complex.abs %x : complex<f32>
    linalg.yield %s : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

func.func @angle(%a: tensor<24xcomplex<f32>>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xf32>) {
  ^bb0(%x: complex<f32>, %o: f32):
    %s = complex.angle %x : complex<f32>
    linalg.yield %s : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

func.func @exponential(%a: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %s = complex.exp %x : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @logarithm(%a: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %s = complex.log %x : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @real(%a: tensor<24xcomplex<f32>>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xf32>) {
  ^bb0(%x: complex<f32>, %o: f32):
    %s = complex.re %x : complex<f32>
    linalg.yield %s : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

func.func @imaginary(%a: tensor<24xcomplex<f32>>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xcomplex<f32>>) outs(%e : tensor<24xf32>) {
  ^bb0(%x: complex<f32>, %o: f32):
    %s = complex.im %x : complex<f32>
    linalg.yield %s : f32
  } -> tensor<24xf32>
  return %r : tensor<24xf32>
}

func.func @created(%a: tensor<24xf32>, %b: tensor<24xf32>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %k = complex.constant [2.0 : f32, -1.0 : f32] : complex<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%x: f32, %y: f32, %o: complex<f32>):
    %s = complex.create %x, %y : complex<f32>
    %t = complex.mul %s, %k : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

func.func @equal(%a: tensor<24xcomplex<f32>>, %b: tensor<24xcomplex<f32>>) -> (tensor<24xi8>, tensor<24xi8>) {
  %e = tensor.empty() : tensor<24xi8>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xcomplex<f32>>, tensor<24xcomplex<f32>>) outs(%e, %e : tensor<24xi8>, tensor<24xi8>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: i8, %p: i8):
    %s = complex.eq %x, %y : complex<f32>
    %t = complex.neq %x, %x : complex<f32>
    %u = arith.extui %s : i1 to i8
    %v = arith.extui %t : i1 to i8
    linalg.yield %u, %v : i8, i8
  } -> (tensor<24xi8>, tensor<24xi8>)
  return %r#0, %r#1 : tensor<24xi8>, tensor<24xi8>
}

// A sum over products, as matrix products of complex numbers are.
func.func @products(%a: tensor<5x33xcomplex<f32>>, %b: tensor<33x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>> {
  %z = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<5x7xcomplex<f32>>
  %f = linalg.fill ins(%z : complex<f32>) outs(%e : tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  %r = linalg.matmul ins(%a, %b : tensor<5x33xcomplex<f32>>, tensor<33x7xcomplex<f32>>) outs(%f : tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  return %r : tensor<5x7xcomplex<f32>>
}

// Operations that move elements move both parts.
func.func @moved(%a: tensor<4x6xcomplex<f32>>) -> tensor<3x6xcomplex<f32>> {
  %k = arith.constant dense<[(1.0,2.0), (0.5,-1.0), (0.0,0.0), (3.0,4.0), (-0.0,1.5), (7.0,-0.25)]> : tensor<6xcomplex<f32>>
  %part = tensor.extract_slice %a[1, 0] [3, 5] [1, 1] : tensor<4x6xcomplex<f32>> to tensor<3x5xcomplex<f32>>
  %rows = tensor.extract_slice %a[0, 0] [3, 6] [1, 1] : tensor<4x6xcomplex<f32>> to tensor<3x6xcomplex<f32>>
  %p = tensor.insert_slice %part into %rows[0, 1] [3, 5] [1, 1] : tensor<3x5xcomplex<f32>> into tensor<3x6xcomplex<f32>>
  %e = tensor.empty() : tensor<3x6xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p, %k : tensor<3x6xcomplex<f32>>, tensor<6xcomplex<f32>>) outs(%e : tensor<3x6xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %s = complex.add %x, %y : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<3x6xcomplex<f32>>
  return %r : tensor<3x6xcomplex<f32>>
}

func.func @chosen(%c: tensor<24xi8>, %a: tensor<24xcomplex<f32>>, %b: tensor<24xcomplex<f32>>) -> tensor<24xcomplex<f32>> {
  %zero = arith.constant 0 : i8
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%c, %a, %b : tensor<24xi8>, tensor<24xcomplex<f32>>, tensor<24xcomplex<f32>>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%i: i8, %x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %t = arith.cmpi sgt, %i, %zero : i8
    %s = arith.select %t, %x, %y : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %r : tensor<24xcomplex<f32>>
}

// Infinities, NaN, zeros of both signs, squares that overflow.
// @special_product: 24xf32=inf,inf,-inf,0,nan,1,inf,0,-0.0,1e30,1e-30,3,1,2,-1,0.5,4,7,-2,0.1,1e10,-1e-10,0,5 24xf32=0,inf,1,inf,1,nan,nan,0,0,1e30,1e-30,-4,1,-2,3,0.25,0,-7,2,0.2,1e10,1e-10,1,-0.0 24xf32=1,2,1,1,1,inf,1,2,1,2,1e-3,1,3,1,2,-inf,1,2,3,4,5,6,7,8 24xf32=1,0,-1,1,1,1,1,1,-0.0,1,2,2,1,2,3,1,-1,-2,-3,-4,-5,-6,-7,-8
func.func @special_product(%a: tensor<24xf32>, %b: tensor<24xf32>, %c: tensor<24xf32>, %d: tensor<24xf32>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %out = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b, %c, %d : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32, %o: complex<f32>):
    %x = complex.create %p, %q : complex<f32>
    %y = complex.create %r, %s : complex<f32>
    %z = complex.mul %x, %y : complex<f32>
    linalg.yield %z : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %out : tensor<24xcomplex<f32>>
}

// @special_quotient: 24xf32=inf,inf,-inf,0,nan,1,inf,0,-0.0,1e30,1e-30,3,1,2,-1,0.5,4,7,-2,0.1,1e10,-1e-10,0,5 24xf32=0,inf,1,inf,1,nan,nan,0,0,1e30,1e-30,-4,1,-2,3,0.25,0,-7,2,0.2,1e10,1e-10,1,-0.0 24xf32=1,2,1,1,1,inf,1,2,1,2,1e-3,1,3,1,2,-inf,1,2,3,4,5,6,7,8 24xf32=1,0,-1,1,1,1,1,1,-0.0,1,2,2,1,2,3,1,-1,-2,-3,-4,-5,-6,-7,-8
func.func @special_quotient(%a: tensor<24xf32>, %b: tensor<24xf32>, %c: tensor<24xf32>, %d: tensor<24xf32>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %out = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b, %c, %d : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32, %o: complex<f32>):
    %x = complex.create %p, %q : complex<f32>
    %y = complex.create %r, %s : complex<f32>
    %z = complex.div %x, %y : complex<f32>
    linalg.yield %z : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %out : tensor<24xcomplex<f32>>
}

// @special_distance: 24xf32=inf,inf,-inf,0,nan,1,inf,0,-0.0,1e30,1e-30,3,1,2,-1,0.5,4,7,-2,0.1,1e10,-1e-10,0,5 24xf32=0,inf,1,inf,1,nan,nan,0,0,1e30,1e-30,-4,1,-2,3,0.25,0,-7,2,0.2,1e10,1e-10,1,-0.0
func.func @special_distance(%a: tensor<24xf32>, %b: tensor<24xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %x = complex.create %p, %q : complex<f32>
    %z = complex.abs %x : complex<f32>
    linalg.yield %z : f32
  } -> tensor<24xf32>
  return %out : tensor<24xf32>
}

// @special_exponential: 24xf32=inf,inf,-inf,0,nan,1,inf,0,-0.0,1e30,1e-30,3,1,2,-1,0.5,4,7,-2,0.1,1e10,-1e-10,0,5 24xf32=0,inf,1,inf,1,nan,nan,0,0,1e30,1e-30,-4,1,-2,3,0.25,0,-7,2,0.2,1e10,1e-10,1,-0.0
func.func @special_exponential(%a: tensor<24xf32>, %b: tensor<24xf32>) -> tensor<24xcomplex<f32>> {
  %e = tensor.empty() : tensor<24xcomplex<f32>>
  %out = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xcomplex<f32>>) {
  ^bb0(%p: f32, %q: f32, %o: complex<f32>):
    %x = complex.create %p, %q : complex<f32>
    %z = complex.exp %x : complex<f32>
    linalg.yield %z : complex<f32>
  } -> tensor<24xcomplex<f32>>
  return %out : tensor<24xcomplex<f32>>
}
