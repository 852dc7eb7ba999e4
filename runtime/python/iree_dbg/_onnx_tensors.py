"""Every tensor of an ONNX model, as ONNX Runtime computes it without fusing any.

The package imports this file, and `iree-dbg diff model.vmfb model.onnx` runs it as a script in a
Python that has ONNX Runtime: it needs no other file of the package.

usage: MODEL INPUTS OUTPUTS; the folder INPUTS has 0.npy, 1.npy … for the inputs in their order,
and OUTPUTS gets a file for each tensor by its name, and result0.npy for the first result.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

__all__ = ["Refused", "computed"]


class Refused(Exception):
    """Why the model cannot be computed."""


def computed(path: Path, given: Sequence[Any]) -> Tuple[List[str], Dict[str, Any]]:
    """The names of a model's results, and its tensors by name.

    Args:
        path: the model.
        given: its inputs, in their order.

    Raises:
        Refused: it takes another number of inputs, or is too large.
    """
    import numpy as np
    import onnx  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import onnxruntime  # type: ignore[import-untyped, import-not-found, unused-ignore]

    model = onnx.load(str(path))
    weights = {it.name for it in model.graph.initializer}
    inputs = [it for it in model.graph.input if it.name not in weights]
    if len(given) != len(inputs):
        listed = ", ".join(it.name for it in inputs)
        raise Refused(
            f"the model takes {len(inputs)} inputs ({listed}), and {len(given)} were given"
        )
    dtype_of = onnx.helper.tensor_dtype_to_np_dtype
    feed = {
        it.name: np.asarray(value).astype(dtype_of(it.type.tensor_type.elem_type), copy=False)
        for it, value in zip(inputs, given)
    }
    results = [it.name for it in model.graph.output]
    known = set(results)
    for node in model.graph.node:
        for name in node.output:
            if name and name not in known:
                known.add(name)
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    if model.ByteSize() >= 2**31:
        raise Refused(
            "the model has 2 GiB and more, which ONNX Runtime does not take from memory"
        )
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.log_severity_level = 3
    # Weights in files beside the model are found from there.
    external = "session.model_external_initializers_file_folder_path"
    settings.add_session_config_entry(external, str(path.resolve().parent))
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
    )
    names = [it.name for it in session.get_outputs()]
    left = zip(names, session.run(names, feed))
    return results, {name: value for name, value in left if isinstance(value, np.ndarray)}


def _main(path: str, given: str, target: str) -> None:
    import numpy as np

    files = sorted(Path(given).glob("*.npy"), key=lambda it: int(it.stem))
    try:
        results, left = computed(Path(path), [np.load(it) for it in files])
    except Refused as error:
        sys.exit(str(error))
    by_file: Dict[str, List[Any]] = {}
    for name, value in left.items():
        by_file.setdefault(re.sub(r"[^\w.-]", "_", name), []).append(value)
    for name, values in by_file.items():
        # Two names that files cannot tell apart are left out.
        if len(values) == 1:
            np.save(f"{target}/{name}.npy", np.ascontiguousarray(values[0]))
    for index, name in enumerate(results):
        if name in left:
            np.save(f"{target}/result{index}.npy", np.ascontiguousarray(left[name]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
