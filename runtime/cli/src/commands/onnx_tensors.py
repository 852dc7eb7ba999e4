"""Computes every tensor of an ONNX model with ONNX Runtime, without fusing any.

usage: MODEL INPUTS OUTPUTS; the folder INPUTS has 0.npy, 1.npy … for the inputs in their order,
and OUTPUTS gets a file for each tensor by its name, and result0.npy for the first result.
"""

import re
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

model_path, given, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
model = onnx.load(model_path)
weights = {it.name for it in model.graph.initializer}
inputs = [it for it in model.graph.input if it.name not in weights]
files = sorted(given.glob("*.npy"), key=lambda it: int(it.stem))
if len(files) != len(inputs):
    names = ", ".join(it.name for it in inputs)
    sys.exit(f"the model takes {len(inputs)} inputs ({names}), and {len(files)} were given")
types = [onnx.helper.tensor_dtype_to_np_dtype(it.type.tensor_type.elem_type) for it in inputs]
feed = {it.name: np.load(file).astype(ty) for it, file, ty in zip(inputs, files, types)}
results = [it.name for it in model.graph.output]
known = set(results)
for node in model.graph.node:
    for name in node.output:
        if name and name not in known:
            known.add(name)
            model.graph.output.append(onnx.ValueInfoProto(name=name))
settings = onnxruntime.SessionOptions()
settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
settings.log_severity_level = 3
# Weights in files beside the model are found from there.
folder = str(Path(model_path).resolve().parent)
settings.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
if model.ByteSize() >= 2**31:
    sys.exit("the model has 2 GiB and more, which ONNX Runtime does not take from memory")
session = onnxruntime.InferenceSession(
    model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
)
names = [it.name for it in session.get_outputs()]
left = dict(zip(names, session.run(names, feed)))
files = {}
for name, value in left.items():
    # Two names that files cannot tell apart are left out.
    files.setdefault(re.sub(r"[^\w.-]", "_", name), []).append(value)
for name, values in files.items():
    if len(values) == 1 and isinstance(values[0], np.ndarray):
        np.save(target / f"{name}.npy", np.ascontiguousarray(values[0]))
for index, name in enumerate(results):
    if isinstance(left[name], np.ndarray):
        np.save(target / f"result{index}.npy", np.ascontiguousarray(left[name]))
