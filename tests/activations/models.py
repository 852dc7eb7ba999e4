"""Models of ours whose tensors are compared: attention with a mask of -inf, convolutions over sizes
that are not known before, a step of a decoder with its cache, a quantised network, and gates that
read what others read, too.

Each of `MODELS` is a function that gives a model of ONNX.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def attention():
    """A model whose scores are masked, and that leaves half of its tensors in memory."""
    random = np.random.default_rng(1)
    weights = {
        name: (random.standard_normal(shape) * 0.3).astype(np.float32)
        for name, shape in [("wq", (64, 64)), ("wk", (64, 64)), ("wv", (64, 64)), ("wo", (64, 96)),
                            ("gain", (64,)), ("shift", (64,)), ("scale", ())]
    }
    node = helper.make_node
    nodes = [
        node("MatMul", ["x", "wq"], ["q"]),
        node("MatMul", ["x", "wk"], ["k"]),
        node("MatMul", ["x", "wv"], ["v"]),
        node("Transpose", ["k"], ["turned"], perm=[0, 2, 1]),
        node("MatMul", ["q", "turned"], ["scores"]),
        node("Mul", ["scores", "scale"], ["scaled"]),
        node("Add", ["scaled", "mask"], ["masked"]),
        node("Softmax", ["masked"], ["weights"], axis=-1),
        node("MatMul", ["weights", "v"], ["mixed"]),
        node("Split", ["x", "sizes"], ["left", "right"], axis=-1),
        node("Concat", ["right", "left"], ["swapped"], axis=-1),
        node("Add", ["mixed", "swapped"], ["residual"]),
        node("LayerNormalization", ["residual", "gain", "shift"], ["normed"], axis=-1),
        node("MatMul", ["normed", "wo"], ["out"]),
        node("Relu", ["out"], ["clipped"]),
        node("Sigmoid", ["clipped"], ["y"]),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "attention",
        [value("x", TensorProto.FLOAT, [1, 6, 64]), value("mask", TensorProto.FLOAT, [1, 6, 6])],
        [value("y", TensorProto.FLOAT, [1, 6, 96])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()]
        + [numpy_helper.from_array(np.array([32, 32]), "sizes")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolutions():
    """A model with sizes that are not known before it runs, and with what the importer leaves out."""
    random = np.random.default_rng(2)
    weights = {
        name: (random.standard_normal(shape) * 0.3).astype(np.float32)
        for name, shape in [("w1", (8, 3, 3, 3)), ("b1", (8,)), ("w2", (4, 1, 3, 3)), ("gain", (8,)),
                            ("shift", (8,)), ("w3", (8, 8, 1, 1)), ("offset", (8,)), ("w4", (8, 5)),
                            ("w5", (4, 8, 1, 1)), ("w6", (4, 8, 1, 1))]
    }
    weights["mean"] = np.zeros(8, np.float32)
    weights["variance"] = np.ones(8, np.float32)
    shapes = {"column": [1, 8, 1, 1], "row": [-1, 8]}
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c1", "gain", "shift", "mean", "variance"], ["n1"]),
        node("Relu", ["n1"], ["r1"]),
        node("Conv", ["r1", "w5"], ["left"]),
        node("Conv", ["r1", "w6"], ["right"]),
        node("Conv", ["left", "w2"], ["c2"], strides=[2, 1], pads=[1, 1, 1, 1], group=4),
        node("MaxPool", ["right"], ["p2"], kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 1, 1]),
        node("Concat", ["p2", "c2"], ["joined"], axis=1),
        node("GlobalAveragePool", ["joined"], ["mean1"]),
        node("Conv", ["mean1", "w3"], ["c3"]),
        node("Reshape", ["offset", "column"], ["offsets"]),
        node("Add", ["c3", "offsets"], ["moved"]),
        node("Sigmoid", ["moved"], ["gates"]),
        node("Mul", ["joined", "gates"], ["gated"]),
        node("GlobalMaxPool", ["gated"], ["highest"]),
        node("Identity", ["highest"], ["same"]),
        node("Reshape", ["same", "row"], ["rows"]),
        node("MatMul", ["rows", "w4"], ["logits"]),
        node("Sigmoid", ["logits"], ["y"]),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "convolutions",
        [value("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
        [value("y", TensorProto.FLOAT, ["N", 5])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()]
        + [numpy_helper.from_array(np.array(shape), name) for name, shape in shapes.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)


def decoder():
    """A step of a decoder: the keys and values of past steps are inputs, and those with the new ones
    are results."""
    random = np.random.default_rng(4)
    weights = {
        name: (random.standard_normal(shape) * 0.3).astype(np.float32)
        for name, shape in [("wq", (32, 32)), ("wk", (32, 32)), ("wv", (32, 32)), ("wo", (32, 32)),
                            ("gain", (32,)), ("shift", (32,)), ("up", (32, 64)), ("down", (64, 32)),
                            ("table", (50, 32)), ("head", (32, 50))]
    }
    weights["scale"] = np.array(0.25, np.float32)
    shapes = {"heads": [1, 1, 2, 16], "whole": [1, 1, 32]}
    node = helper.make_node
    nodes = [
        node("Gather", ["table", "token"], ["embedded"]),
        node("LayerNormalization", ["embedded", "gain", "shift"], ["normed"], axis=-1),
    ]
    for name in ("q", "k", "v"):
        nodes += [
            node("MatMul", ["normed", f"w{name}"], [f"{name}0"]),
            node("Reshape", [f"{name}0", "heads"], [f"{name}1"]),
            node("Transpose", [f"{name}1"], [name], perm=[0, 2, 1, 3]),
        ]
    nodes += [
        node("Concat", ["past_k", "k"], ["keys"], axis=2),
        node("Concat", ["past_v", "v"], ["values"], axis=2),
        node("Transpose", ["keys"], ["turned"], perm=[0, 1, 3, 2]),
        node("MatMul", ["q", "turned"], ["scores"]),
        node("Mul", ["scores", "scale"], ["scaled"]),
        node("Softmax", ["scaled"], ["probabilities"], axis=-1),
        node("MatMul", ["probabilities", "values"], ["mixed"]),
        node("Transpose", ["mixed"], ["together"], perm=[0, 2, 1, 3]),
        node("Reshape", ["together", "whole"], ["joined"]),
        node("MatMul", ["joined", "wo"], ["attended"]),
        node("Add", ["embedded", "attended"], ["residual"]),
        node("MatMul", ["residual", "up"], ["wide"]),
        node("Erf", ["wide"], ["erf"]),
        node("Mul", ["wide", "erf"], ["gelu"]),
        node("MatMul", ["gelu", "down"], ["narrow"]),
        node("Add", ["residual", "narrow"], ["hidden"]),
        node("MatMul", ["hidden", "head"], ["logits"]),
        node("LogSoftmax", ["logits"], ["y"], axis=-1),
    ]
    value = helper.make_tensor_value_info
    past = [value(name, TensorProto.FLOAT, [1, 2, 7, 16]) for name in ("past_k", "past_v")]
    present = [value(name, TensorProto.FLOAT, [1, 2, 8, 16]) for name in ("keys", "values")]
    graph = helper.make_graph(
        nodes,
        "decoder",
        [value("token", TensorProto.INT64, [1, 1]), *past],
        [value("y", TensorProto.FLOAT, [1, 1, 50]), *present],
        [numpy_helper.from_array(array, name) for name, array in weights.items()]
        + [numpy_helper.from_array(np.array(shape), name) for name, shape in shapes.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def quantised():
    """Weights and activations of 8 bits, between operations that quantise and go back to floats."""
    random = np.random.default_rng(5)
    weights = {
        "w1": random.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8),
        "w2": random.integers(-127, 128, (8, 5)).astype(np.int8),
        "b1": (random.standard_normal(8) * 0.1).astype(np.float32),
        "input_scale": np.array(2.0**-5, np.float32),
        "weight_scale": np.array(2.0**-9, np.float32),
        "middle_scale": np.array(2.0**-4, np.float32),
        "zero": np.array(0, np.int8),
    }
    node = helper.make_node
    nodes = [
        node("QuantizeLinear", ["x", "input_scale", "zero"], ["x8"]),
        node("DequantizeLinear", ["x8", "input_scale", "zero"], ["xf"]),
        node("DequantizeLinear", ["w1", "weight_scale", "zero"], ["w1f"]),
        node("Conv", ["xf", "w1f", "b1"], ["c1"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"]),
        node("QuantizeLinear", ["r1", "middle_scale", "zero"], ["r8"]),
        node("DequantizeLinear", ["r8", "middle_scale", "zero"], ["rf"]),
        node("GlobalAveragePool", ["rf"], ["pooled"]),
        node("Flatten", ["pooled"], ["flat"]),
        node("DequantizeLinear", ["w2", "weight_scale", "zero"], ["w2f"]),
        node("MatMul", ["flat", "w2f"], ["y"]),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "quantised",
        [value("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [value("y", TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def gates():
    """Operations that stand there twice, gates whose bias is added in another dispatch, and tensors
    that one dispatch leaves in two orders."""
    random = np.random.default_rng(7)
    weights = {
        name: (random.standard_normal(shape) * 0.3).astype(np.float32)
        for name, shape in [("w1", (16, 12, 3, 3)), ("b1", (16,)), ("down", (4, 16, 1, 1)),
                            ("less", (4,)), ("up", (16, 4, 1, 1)), ("more", (16,)), ("score", (1, 16, 1, 1)),
                            ("bias", (1,)), ("box", (4, 16, 1, 1)), ("edges", (4,)), ("mel", (9, 24))]
    }
    numbers = {"zero": [0], "one": [1], "two": [2], "end": [2**62], "rows": [2], "columns": [3]}
    node = helper.make_node
    parts = []
    for at, (row, column) in enumerate([("zero", "zero"), ("one", "zero"), ("zero", "one"), ("one", "one")]):
        parts += [node("Slice", ["x", row, "end", "rows", "two"], [f"row{at}"]),
                  node("Slice", [f"row{at}", column, "end", "columns", "two"], [f"part{at}"])]
    nodes = parts + [
        node("Concat", [f"part{at}" for at in range(4)], ["joined"], axis=1),
        node("Conv", ["joined", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"]),
        node("GlobalAveragePool", ["r1"], ["pooled"]),
        node("Conv", ["pooled", "down", "less"], ["small"]),
        node("Relu", ["small"], ["r2"]),
        node("Conv", ["r2", "up", "more"], ["large"]),
        node("HardSigmoid", ["large"], ["gate"], alpha=0.2),
        node("Mul", ["r1", "gate"], ["gated"]),
        node("Conv", ["gated", "score", "bias"], ["c2"]),
        node("Sigmoid", ["c2"], ["s1"]),
        node("Conv", ["r1", "score", "bias"], ["c3"]),
        node("Sigmoid", ["c3"], ["s2"]),
        node("Conv", ["gated", "box", "edges"], ["c4"]),
        node("Concat", ["c4", "s1", "s2"], ["found"], axis=1),
        node("MatMul", ["gated", "mel"], ["tones"]),
        node("Exp", ["tones"], ["powers"]),
        node("Add", ["powers", "floor"], ["raised"]),
        node("Log", ["raised"], ["logs"]),
        node("Transpose", ["logs"], ["turned"], perm=[0, 1, 3, 2]),
        node("Where", ["mask", "turned", "nothing"], ["masked"]),
        node("ReduceMean", ["masked"], ["mean"], axes=[-1]),
        node("Sub", ["turned", "mean"], ["centred"]),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "gates",
        [value("x", TensorProto.FLOAT, [1, 3, 18, 18]), value("mask", TensorProto.BOOL, [9])],
        [value("found", TensorProto.FLOAT, [1, 6, 9, 9]), value("centred", TensorProto.FLOAT, [1, 16, 24, 9])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()]
        + [numpy_helper.from_array(np.array(it), name) for name, it in numbers.items()]
        + [numpy_helper.from_array(np.array(it, np.float32), name) for name, it in [("floor", 1e-6), ("nothing", 0)]],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


MODELS = [attention, convolutions, decoder, quantised, gates]
