"""ONNX models, compiled by IREE, and debugged by the names of their nodes and tensors.

>>> model = iree_dbg.onnx.compile("model.onnx")
>>> model(x)["probabilities"]
>>> model.against()(x)

`pip install "iree-base-compiler[onnx]"` imports models; `pip install onnxruntime` compares.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

from ._compiled import Compiled, Framework, Made
from ._errors import Error
from ._onnx_tensors import Refused, computed

__all__ = ["OnnxModel", "compile"]


class OnnxModel(Compiled):
    """An ONNX model that IREE has compiled. It takes its inputs in order or by name, and gives its
    outputs by name."""

    def __init__(self, path: Path, made: Made, **options: Any) -> None:
        import onnx  # type: ignore[import-untyped, import-not-found, unused-ignore]

        #: The model.
        self.path = path
        graph = onnx.load(str(path), load_external_data=False).graph
        weights = {it.name for it in graph.initializer}
        given = [it for it in graph.input if it.name not in weights]
        #: The names of its inputs, in order.
        self.inputs = [it.name for it in given]
        dtype_of = onnx.helper.tensor_dtype_to_np_dtype
        self._types = [dtype_of(it.type.tensor_type.elem_type) for it in given]
        #: The names of its outputs, in order.
        self.outputs = [it.name for it in graph.output]
        super().__init__(made, **options)

    def _flat(self, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> List[Any]:
        by_name = dict(zip(self.inputs, args))
        twice = [name for name in kwargs if name in by_name]
        unknown = [name for name in kwargs if name not in self.inputs]
        missing = [name for name in self.inputs if name not in by_name and name not in kwargs]
        if twice or unknown or missing or len(args) > len(self.inputs):
            listed = ", ".join(self.inputs)
            raise TypeError(f"{self.path.name} takes the inputs {listed}")
        values = {**by_name, **kwargs}
        return [self._as_input(name, values[name]) for name in self.inputs]

    def _as_input(self, name: str, value: Any) -> Any:
        """A value as an array of the elements that an input has. The module does not know them."""
        import numpy as np

        dtype = self._types[self.inputs.index(name)]
        array = np.asarray(value)
        is_plain = isinstance(value, (int, float, bool, list, tuple))
        if array.dtype == dtype or np.can_cast(array.dtype, dtype, "same_kind"):
            return array.astype(dtype, copy=False)
        if is_plain and np.array_equal(array.astype(dtype), array):
            return array.astype(dtype)
        raise TypeError(f"{name}: expected elements of {dtype}, got {array.dtype}")

    def _shaped(self, results: List[Any]) -> Dict[str, Any]:
        return dict(zip(self.outputs, results))

    def _run_framework(
        self, reference: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], files: Set[str]
    ) -> Framework:
        path = self.path if reference is None else Path(reference)
        _need("onnxruntime", "pip install onnxruntime")
        try:
            _, left = computed(path, self._flat(args, kwargs))
        except Refused as error:
            raise Error(str(error)) from None
        results = [(name, left[name]) for name in self.outputs]
        return Framework(results, list(left.items()), None)


def compile(
    path: Union[str, "os.PathLike[str]"],
    *,
    flags: Sequence[str] = (),
    opset: Optional[int] = None,
    shapes: Mapping[str, Sequence[int]] = {},
    folder: Union[str, "os.PathLike[str]", None] = None,
    options: Mapping[str, Any] = {},
) -> OnnxModel:
    """Imports and compiles an ONNX model; its tensors have their names of ONNX.

    Args:
        path: the model.
        flags: flags for iree-compile; without a target, it is this processor.
        opset: the version of ONNX that the model is brought to first, as 17, which IREE's importer
            wants of older models.
        shapes: by their names, the shapes of inputs whose sizes the model leaves open.
        folder: where the import, the module and its debug file are kept; by default a temporary
            folder.
        options: what `iree_dbg.open` takes.

    Raises:
        ImportError: the importer is not installed.
        iree_dbg.Error: what the importer or the compiler says.
    """
    model = Path(os.fspath(path)).resolve()
    if not model.is_file():
        raise FileNotFoundError(f"{model} is not there")
    _need("onnx", 'pip install "iree-base-compiler[onnx]"')
    _need("iree.compiler.tools.import_onnx", 'pip install "iree-base-compiler[onnx]"')
    made = Made(folder, model.stem)
    # The names of the model are read from the file beside its import.
    beside = made.source.with_suffix(".onnx")
    if shapes:
        _with_shapes(model, shapes, beside)
    elif beside.resolve() != model:
        shutil.copyfile(model, beside)
    command = [sys.executable, "-m", "iree.compiler.tools.import_onnx", str(beside)]
    command += [] if opset is None else [f"--opset-version={opset}"]
    command += ["-o", str(made.source)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        raise Error(f"{model.name} cannot be imported: {ran.stdout.strip()}")
    made.compile(flags)
    return OnnxModel(model, made, **options)


def _with_shapes(path: Path, shapes: Mapping[str, Sequence[int]], target: Path) -> None:
    """Writes a model whose inputs have these shapes."""
    import onnx

    if target.resolve() == path:
        raise ValueError(f"{path} would be written over; name another folder")
    model = onnx.load(str(path))
    inputs = {it.name: it.type.tensor_type for it in model.graph.input}
    for name, shape in shapes.items():
        if name not in inputs:
            raise ValueError(f"{path.name} has no input {name!r}; it has {', '.join(inputs)}")
        sizes = inputs[name].shape.dim
        if len(sizes) != len(shape):
            raise ValueError(f"{name} has {len(sizes)} dimensions, not {len(shape)}")
        for size, given in zip(sizes, shape):
            size.dim_value = given
    # Sizes that were inferred for other shapes, or left open, are inferred again.
    del model.graph.value_info[:]
    onnx.save(model, str(target))


def _need(module: str, command: str) -> None:
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise ImportError(f"{module} is not installed; run: {command}")
