"""Small programs for devices of Vulkan: operations over element types and shapes, as MLIR.

Each is one function `main`. `PROGRAMS` maps a name to its text and the types of its arguments.
"""

# IREE makes f32 of f64 for Vulkan.
FLOATS = ["f16", "f32"]
INTEGERS = ["i8", "i16", "i32", "i64"]


def elementwise(operation, kind, shape):
    """Two tensors, element by element."""
    tensor = f"tensor<{shape}x{kind}>"
    return f"""
func.func @main(%a: {tensor}, %b: {tensor}) -> {tensor} {{
  %r = {operation} %a, %b : {tensor}
  return %r : {tensor}
}}
""", [(shape, kind), (shape, kind)]


def unary(operation, kind, shape):
    """One tensor, element by element."""
    tensor = f"tensor<{shape}x{kind}>"
    return f"""
func.func @main(%a: {tensor}) -> {tensor} {{
  %r = {operation} %a : {tensor}
  return %r : {tensor}
}}
""", [(shape, kind)]


def matmul(kind, accumulator, m, k, n):
    """A product of matrices, summed in `accumulator`."""
    zero = "0.0" if accumulator.startswith("f") else "0"
    return f"""
func.func @main(%a: tensor<{m}x{k}x{kind}>, %b: tensor<{k}x{n}x{kind}>)
    -> tensor<{m}x{n}x{accumulator}> {{
  %c0 = arith.constant {zero} : {accumulator}
  %e = tensor.empty() : tensor<{m}x{n}x{accumulator}>
  %z = linalg.fill ins(%c0 : {accumulator}) outs(%e : tensor<{m}x{n}x{accumulator}>)
      -> tensor<{m}x{n}x{accumulator}>
  %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{kind}>, tensor<{k}x{n}x{kind}>)
      outs(%z : tensor<{m}x{n}x{accumulator}>) -> tensor<{m}x{n}x{accumulator}>
  return %r : tensor<{m}x{n}x{accumulator}>
}}
""", [(f"{m}x{k}", kind), (f"{k}x{n}", kind)]


def reduction(operation, kind, start, rows, columns):
    """The rows of a matrix, each as one number."""
    return f"""
func.func @main(%a: tensor<{rows}x{columns}x{kind}>) -> tensor<{rows}x{kind}> {{
  %c0 = arith.constant {start} : {kind}
  %e = tensor.empty() : tensor<{rows}x{kind}>
  %z = linalg.fill ins(%c0 : {kind}) outs(%e : tensor<{rows}x{kind}>) -> tensor<{rows}x{kind}>
  %r = linalg.generic {{
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<{rows}x{columns}x{kind}>) outs(%z : tensor<{rows}x{kind}>) {{
    ^bb0(%in: {kind}, %out: {kind}):
      %s = {operation} %in, %out : {kind}
      linalg.yield %s : {kind}
  }} -> tensor<{rows}x{kind}>
  return %r : tensor<{rows}x{kind}>
}}
""", [(f"{rows}x{columns}", kind)]


def transpose(kind, rows, columns):
    """Rows become columns."""
    return f"""
func.func @main(%a: tensor<{rows}x{columns}x{kind}>) -> tensor<{columns}x{rows}x{kind}> {{
  %e = tensor.empty() : tensor<{columns}x{rows}x{kind}>
  %r = linalg.transpose ins(%a : tensor<{rows}x{columns}x{kind}>)
      outs(%e : tensor<{columns}x{rows}x{kind}>) permutation = [1, 0]
  return %r : tensor<{columns}x{rows}x{kind}>
}}
""", [(f"{rows}x{columns}", kind)]


def compared(kind, shape):
    """The greater of two elements, by a comparison and a choice."""
    predicate = "arith.cmpf ogt" if kind.startswith("f") else "arith.cmpi sgt"
    tensor, truth = f"tensor<{shape}x{kind}>", f"tensor<{shape}xi1>"
    return f"""
func.func @main(%a: {tensor}, %b: {tensor}) -> {tensor} {{
  %t = {predicate}, %a, %b : {tensor}
  %r = arith.select %t, %a, %b : {truth}, {tensor}
  return %r : {tensor}
}}
""", [(shape, kind), (shape, kind)]


def converted(operation, source, target, shape):
    """One element type becomes another."""
    return f"""
func.func @main(%a: tensor<{shape}x{source}>) -> tensor<{shape}x{target}> {{
  %r = {operation} %a : tensor<{shape}x{source}> to tensor<{shape}x{target}>
  return %r : tensor<{shape}x{target}>
}}
""", [(shape, source)]


def dynamic():
    """Shapes that only the call knows, in two dispatches."""
    return """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = math.tanh %p : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
""", [("7x13", "f32"), ("13x5", "f32")]


def layers():
    """A small network: constants, several dispatches, a softmax."""
    return """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %w = arith.constant dense<[[0.1, -0.2, 0.3, -0.4, 0.5, -0.6], [0.7, 0.8, -0.9, 1.0, 1.1, -1.2],
    [0.3, -0.2, 0.1, -0.8, 0.9, 0.6], [0.2, 0.1, -0.3, 0.4, -0.5, 0.6],
    [0.1, -0.2, 0.3, -0.4, 0.5, -0.6], [0.7, 0.8, -0.9, 1.0, 1.1, -1.2],
    [0.3, -0.2, 0.1, -0.8, 0.9, 0.6], [0.2, 0.1, -0.3, 0.4, -0.5, 0.6]]> : tensor<8x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  %t = math.tanh %h : tensor<4x6xf32>
  %r = linalg.softmax dimension(1) ins(%t : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>)
      -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
""", [("4x8", "f32")]


PROGRAMS = {
    **{f"add_{kind}": elementwise("arith.addf", kind, "6x11") for kind in FLOATS},
    **{f"div_{kind}": elementwise("arith.divf", kind, "3x4x5") for kind in FLOATS},
    **{f"add_{kind}": elementwise("arith.addi", kind, "6x11") for kind in INTEGERS},
    # The compiler refuses some operations on tensors of i64 for Vulkan.
    **{f"mul_{kind}": elementwise("arith.muli", kind, "8x8") for kind in INTEGERS[:3]},
    **{f"xor_{kind}": elementwise("arith.xori", kind, "64") for kind in INTEGERS[:3]},
    **{f"min_{kind}": elementwise("arith.minsi", kind, "5x7") for kind in INTEGERS},
    **{f"max_{kind}": elementwise("arith.maximumf", kind, "16x3") for kind in FLOATS},
    **{f"exp_{kind}": unary("math.exp", kind, "6x12") for kind in ["f16", "f32"]},
    "rsqrt_f32": unary("math.rsqrt", "f32", "33"),
    "tanh_f32": unary("math.tanh", "f32", "2x3x4"),
    "floor_f32": unary("math.floor", "f32", "9x9"),
    "erf_f32": unary("math.erf", "f32", "128"),
    "sin_f32": unary("math.sin", "f32", "50"),
    "abs_i32": unary("math.absi", "i32", "41"),
    "matmul_f32": matmul("f32", "f32", 6, 11, 5),
    "matmul_f32_large": matmul("f32", "f32", 64, 128, 96),
    "matmul_f16": matmul("f16", "f16", 8, 16, 8),
    "matmul_i32": matmul("i32", "i32", 5, 6, 7),
    "sum_f32": reduction("arith.addf", "f32", "0.0", 5, 37),
    "sum_f32_long": reduction("arith.addf", "f32", "0.0", 3, 1000),
    "sum_i32": reduction("arith.addi", "i32", "0", 4, 99),
    "most_f32": reduction("arith.maximumf", "f32", "0xFF800000", 6, 20),
    "transpose_f32": transpose("f32", 13, 7),
    "transpose_i8": transpose("i8", 8, 12),
    "transpose_i64": transpose("i64", 5, 6),
    **{f"greater_{kind}": compared(kind, "10x10") for kind in ["f32", "i32", "i16"]},
    "widened_f16": converted("arith.extf", "f16", "f32", "20"),
    "narrowed_f32": converted("arith.truncf", "f32", "f16", "20"),
    "rounded_f32": converted("arith.fptosi", "f32", "i32", "30"),
    "float_i32": converted("arith.sitofp", "i32", "f32", "30"),
    "widened_i8": converted("arith.extsi", "i8", "i32", "24"),
    "dynamic": dynamic(),
    "layers": layers(),
}
