"""Compares all tensors of ONNX models, as `iree-dbg tensors --all` has them, with ONNX Runtime.

    usage: tests/activations/main.py IREE_DBG [MODEL.onnx]...

Without models of your own, it makes two: attention with a mask of -inf, and a normalisation; and
convolutions over sizes that are not known before. Each is imported and compiled, run once, and
every float output of a node is compared, whole, with what ONNX Runtime computes without
optimisations. Prints how many were left in memory, recognised there by their elements, computed
again, wrong or not there, with the reasons, and how many of the tensors that dispatches leave have
a name. A wrong one is a failure, and so is a model of this file of which one is not there, or of
whose dispatches more than a fifth of what they leave has no name.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# How far two right results may be apart, of the largest element.
TOLERANCE = 1e-3


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


def inputs_of(model):
    """Random inputs; a mask has one half of -inf."""
    random = np.random.default_rng(3)
    known = {it.name for it in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name in known:
            continue
        tensor = value.type.tensor_type
        rank = len(tensor.shape.dim)
        shape = [
            max(size.dim_value, 0) or (96 if rank == 4 and axis > 1 else 1)
            for axis, size in enumerate(tensor.shape.dim)
        ]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if np.issubdtype(dtype, np.floating):
            inputs[value.name] = (random.standard_normal(shape) * 0.5).astype(dtype)
        else:
            inputs[value.name] = random.integers(0, 2, shape).astype(dtype)
        if value.name == "mask":
            inputs[value.name][:] = 0
            inputs[value.name][..., shape[-1] // 2:] = -np.inf
    return inputs


def reference(model, inputs):
    """All outputs of nodes, as ONNX Runtime computes them."""
    nodes = [node for node in model.graph.node if node.op_type != "Constant"]
    names = [name for node in nodes for name in node.output if name]
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.graph.output[:]
    whole.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options)
    return dict(zip(names, session.run(names, inputs)))


def shown(iree_dbg, folder, inputs):
    """The tensors that the debugger has, by name."""
    model, source, module = (folder / f"model.{it}" for it in ("onnx", "mlir", "vmfb"))
    importer = Path(sys.executable).with_name("iree-import-onnx")
    run = lambda *command: subprocess.run(list(map(str, command)), check=True, cwd=folder)
    run(importer, model, "-o", source, "--opset-version", "17")
    run(iree_dbg, "compile", source, "-o", module, "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic")
    arguments = []
    for index, array in enumerate(inputs.values()):
        np.save(folder / f"{index}.npy", array)
        arguments.append(f"--input=@{index}.npy")
    run(iree_dbg, "tensors", module, "--all", "--format=npz", "--output=all.npz", *arguments)
    archive = np.load(folder / "all.npz")
    rows = json.loads(archive["tensors.json"])
    left = subprocess.check_output(
        [iree_dbg, "tensors", module, "--format=json", *arguments], cwd=folder, text=True)
    left = [json.loads(line) for line in left.splitlines()]
    named = {name.lstrip("%").strip('"'): row for row in rows for name in row["names"]}
    return archive, named, left


def is_same(found, expected, bound):
    """Whether they are apart by rounding: little of the largest element, or as far as the debugger
    says that right programs may be."""
    if found.shape != expected.shape:
        return False
    found, expected = (it.astype(np.float64).ravel() for it in (found, expected))
    finite = np.isfinite(expected)
    # A logistic function of ONNX Runtime is right to so much.
    bound = max(bound, 2 * np.finfo(np.float32).eps)
    size = np.abs(expected[finite]).max(initial=0)
    others = np.array_equal(found[~finite], expected[~finite], equal_nan=True)
    return others and bool(np.all(np.abs(found[finite] - expected[finite]) <= max(size * TOLERANCE, bound)))


def compare(iree_dbg, name, model):
    """Compares a model; returns how many are wrong, and how many are not there."""
    inputs = inputs_of(model)
    expected = reference(model, inputs)
    count, reasons = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        onnx.save(model, folder / "model.onnx")
        archive, rows, left = shown(iree_dbg, folder, inputs)
        for tensor, values in expected.items():
            if values.dtype.kind != "f":
                continue
            row = rows.get(tensor)
            if row is None or row["missing"]:
                count["not there"] += 1
                reasons[row["missing"] if row else "no name"] += 1
            elif not is_same(archive[row["key"]], values, row["recomputed"] or 0):
                count["wrong"] += 1
                print(f"wrong: {name}: {tensor} {row['names']}")
            else:
                how = next((it for it in ("recognised", "recomputed") if row[it] is not None), "in memory")
                count[how] += 1
    kinds = ("in memory", "recognised", "recomputed", "wrong", "not there")
    total = sum(count.values())
    print(f"{name}: {total} tensors:", ", ".join(f"{count[it]} {it}" for it in kinds))
    for reason, times in reasons.most_common(8):
        print(f"  {times} {reason[:160]}")
    nameless = Counter(row["dispatch"] for row in left if not row["names"])
    print(f"  of {len(left)} tensors that dispatches leave, {len(left) - nameless.total()} have a name")
    for dispatch, times in nameless.most_common(8):
        print(f"  {times} without a name: {dispatch}")
    return count["wrong"], count["not there"] + (nameless.total() > len(left) / 5)


def main():
    iree_dbg, *models = sys.argv[1:]
    iree_dbg = Path(iree_dbg).absolute()
    failed = 0
    for path in models:
        wrong, _ = compare(iree_dbg, Path(path).name, onnx.load(path))
        failed += wrong > 0
    if not models:
        for own in (attention, convolutions):
            failed += sum(compare(iree_dbg, own.__name__, own())) > 0
    print(f"{(len(models) or 2) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
