"""Parameters of programs: archives, or arrays that are put into one."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any, Dict, Iterator, List, Mapping

from ._convert import _array_of

#: The names of element types in a `.safetensors` archive.
_NAMES = {
    "bool": "BOOL",
    "int8": "I8",
    "uint8": "U8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
}


@contextlib.contextmanager
def archives(parameters: Mapping[str, Any]) -> Iterator[List[str]]:
    """`scope=path` for each archive. Those of arrays exist until the program is loaded."""
    opened: List[str] = []
    with contextlib.ExitStack() as stack:
        for scope, given in parameters.items():
            prefix = f"{scope}=" if scope else ""
            if hasattr(given, "create_archive_file"):
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                path = os.path.join(folder, "parameters.irpa")
                given.create_archive_file(path)
                paths: List[Any] = [path]
            elif isinstance(given, Mapping):
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                path = os.path.join(folder, "parameters.safetensors")
                write_arrays(path, given)
                paths = [path]
            else:
                paths = [given] if isinstance(given, (str, os.PathLike)) else list(given)
            opened += [f"{prefix}{os.path.abspath(os.fspath(path))}" for path in paths]
        yield opened


def write_arrays(path: str, arrays: Mapping[str, Any]) -> None:
    """A `.safetensors` archive with these arrays."""
    import numpy as np

    dense = {name: np.ascontiguousarray(_array_of(value)) for name, value in arrays.items()}
    header: Dict[str, Any] = {}
    end = 0
    for name, array in dense.items():
        kind = _NAMES.get(array.dtype.name)
        if kind is None:
            raise TypeError(f"parameter {name!r}: archives have no elements of {array.dtype}")
        shape = list(np.shape(arrays[name]))
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for array in dense.values():
            file.write(array.tobytes())
