"""Compares all tensors of ONNX models, as `iree-dbg tensors --all` has them, with ONNX Runtime.

    usage: tests/activations/main.py IREE_DBG [MODEL.onnx]...

Without models of your own, it takes those of `models.py`; `packages.py` does the same for models of
packages. Each is imported and compiled, run once, and every float output of a node is compared,
whole, with what ONNX Runtime computes without optimisations. Prints how many were left in memory, recognised there by their elements, computed
again, wrong or not there, with the reasons, and how many of the tensors that dispatches leave have
a name. A wrong one is a failure, and so is a model of ours of which one is not there, or more have
no name than [`NAMELESS`] says.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from models import MODELS

# How far two right results may be apart, of the largest element.
TOLERANCE = 1e-3
# How many of the tensors that dispatches of our models leave may have no name. A quantised network
# is computed in integers, which the compiler scales later than the source does.
NAMELESS = {"attention": 1, "convolutions": 1, "decoder": 2, "quantised": 3, "gates": 0}


def inputs_of(model, integers):
    """Random inputs, but integers as they are given by name; a mask has one half of -inf."""
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
            drawn = random.integers(0, 2, shape).astype(dtype)
            inputs[value.name] = np.full_like(drawn, integers[value.name]) if value.name in integers else drawn
        if value.name == "mask" and dtype != np.bool_:
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


def processor_time():
    """The seconds that programs which have ended have taken of processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compiled(iree_dbg, folder, inputs, back_end):
    """Compiles `model.onnx` in a folder as `model.vmfb`; returns the flags of its inputs."""
    model, source, module = (folder / f"model.{it}" for it in ("onnx", "mlir", "vmfb"))
    importer = Path(sys.executable).with_name("iree-import-onnx")
    run = lambda *command: subprocess.run(list(map(str, command)), check=True, cwd=folder)
    run(importer, model, "-o", source, "--opset-version", "17")
    run(iree_dbg, "compile", source, "-o", module, "--iree-hal-target-device=local",
        f"--iree-hal-local-target-device-backends={back_end}", "--iree-llvmcpu-target-cpu=generic")
    arguments = []
    for index, array in enumerate(inputs.values()):
        np.save(folder / f"{index}.npy", array)
        arguments.append(f"--input=@{index}.npy")
    return arguments


def shown(iree_dbg, folder, inputs, back_end):
    """The tensors that the debugger has, by name; those that dispatches leave; and the names of
    those that are others without source and model."""
    model, source, module = (folder / f"model.{it}" for it in ("onnx", "mlir", "vmfb"))
    arguments = compiled(iree_dbg, folder, inputs, back_end)
    run = lambda *command: subprocess.run(list(map(str, command)), check=True, cwd=folder)

    def tensors(output):
        run(iree_dbg, "tensors", module, "--all", "--format=npz", f"--output={output}", *arguments)
        archive = np.load(folder / output)
        return archive, json.loads(archive["tensors.json"])

    before = processor_time()
    archive, rows = tensors("all.npz")
    seconds = processor_time() - before
    left = subprocess.check_output(
        [iree_dbg, "tensors", module, "--format=json", *arguments], cwd=folder, text=True)
    left = [json.loads(line) for line in left.splitlines()]
    # What the debug file keeps is enough for all of it.
    source.unlink()
    model.unlink()
    alone, rows_alone = tensors("alone.npz")
    assert len(rows) == len(rows_alone)
    others = [
        row["names"] for row, other in zip(rows, rows_alone)
        if row != other or not row["missing"] and not np.array_equal(
            archive[row["key"]], alone[row["key"]], equal_nan=True)
    ]
    named = {name.lstrip("%").strip('"'): row for row in rows for name in row["names"]}
    return archive, named, left, others, seconds


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


def where(row):
    """Where the elements of a tensor come from."""
    return next((it for it in ("recognised", "recomputed") if row[it] is not None), "in memory")


def compare(iree_dbg, name, model, back_end="llvm-cpu", integers={}):
    """Compares a model; returns how many are wrong, how many are not there, and how many of the
    tensors that dispatches leave have no name."""
    inputs = inputs_of(model, integers)
    expected = reference(model, inputs)
    count, reasons = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        onnx.save(model, folder / "model.onnx")
        archive, rows, left, others, seconds = shown(iree_dbg, folder, inputs, back_end)
        for tensor, values in expected.items():
            if values.dtype.kind != "f":
                continue
            row = rows.get(tensor)
            if row is None or row["missing"]:
                count["not there"] += 1
                print(f"not there: {name}: {tensor}")
                reasons[row["missing"] if row else "no name"] += 1
            elif not is_same(archive[row["key"]], values, row["recomputed"] or 0):
                count["wrong"] += 1
                print(f"wrong: {name}: {tensor} {row['names']}, {where(row)}")
            else:
                count[where(row)] += 1
    for names in others:
        count["wrong"] += 1
        print(f"another one without the source: {name}: {names}")
    kinds = ("in memory", "recognised", "recomputed", "wrong", "not there")
    total = sum(count.values())
    print(f"{name}: {total} tensors:", ", ".join(f"{count[it]} {it}" for it in kinds))
    print(f"  {seconds:.1f} s of processor time")
    for reason, times in reasons.most_common(8):
        print(f"  {times} {reason[:160]}")
    nameless = Counter(row["dispatch"] for row in left if not row["names"])
    print(f"  of {len(left)} tensors that dispatches leave, {len(left) - nameless.total()} have a name")
    for dispatch, times in nameless.most_common(8):
        print(f"  {times} without a name: {dispatch}")
    return count["wrong"], count["not there"], nameless.total()


def diff(iree_dbg, name, model, back_end="llvm-cpu", integers={}):
    """Compares a model with ONNX Runtime by `iree-dbg diff`; returns whether a dispatch differs."""
    inputs = inputs_of(model, integers)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        onnx.save(model, folder / "model.onnx")
        arguments = compiled(iree_dbg, folder, inputs, back_end)
        before = processor_time()
        command = [iree_dbg, "diff", "--json", "model.vmfb", "model.onnx", *arguments]
        told = subprocess.run(command, cwd=folder, env={**os.environ, "IREE_DBG_PYTHON": sys.executable},
                              text=True, stdout=subprocess.PIPE)
        report = json.loads(told.stdout)
    verdicts = Counter(it["verdict"] for it in report["dispatches"])
    results = Counter(it["verdict"] for it in report["results"])
    print(f"{name}: {report['verdict']}; dispatches {dict(verdicts)}, results {dict(results)};",
          f"{processor_time() - before:.1f} s of processor time")
    for it in report["dispatches"]:
        if it["verdict"] == "differs":
            print("  differs:", it["number"], it["name"], [tensor["names"] for tensor in it["tensors"]])
    return verdicts["differs"] > 0


def main():
    iree_dbg, *models = sys.argv[1:]
    iree_dbg = Path(iree_dbg).absolute()
    failed = 0
    for path in models:
        wrong, _, _ = compare(iree_dbg, Path(path).name, onnx.load(path))
        failed += wrong > 0
    if not models:
        for own in MODELS:
            wrong, missing, nameless = compare(iree_dbg, own.__name__, own())
            failed += bool(wrong or missing or nameless > NAMELESS[own.__name__])
    print(f"{len(models or MODELS) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
