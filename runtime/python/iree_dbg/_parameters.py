"""Parameters of programs: archives, or arrays that are put into one."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from ._convert import _ELEMENTS, _array_of, _as_array, refuse_mask

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


#: The name of elements that are only bytes: nothing is known of what they mean.
_BYTES = "bytes"

#: By scope and name, the type that a program takes a parameter for.
Types = Mapping[str, Mapping[str, Mapping[str, Any]]]


@contextlib.contextmanager
def archives(parameters: Mapping[str, Any], types: Callable[[], Types]) -> Iterator[List[str]]:
    """`scope=path` for each archive. Those of arrays exist until the program is loaded.

    `types` says what the program takes its parameters for; it is asked if there are arrays.
    """
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
                write_arrays(path, scope, given, types().get(scope, {}))
                paths = [path]
            else:
                paths = [given] if isinstance(given, (str, os.PathLike)) else list(given)
            opened += [f"{prefix}{os.path.abspath(os.fspath(path))}" for path in paths]
        yield opened


def write_arrays(
    path: str, scope: str, given: Mapping[str, Any], types: Mapping[str, Mapping[str, Any]]
) -> None:
    """A `.safetensors` archive with these arrays, as elements of the types that are known."""
    header: Dict[str, Any] = {}
    parts: List[bytes] = []
    end = 0
    for name, value in given.items():
        place = f"parameter {name!r}" + (f" of {scope!r}" if scope else "")
        kind, shape, elements = _elements(value, types.get(name), place)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + len(elements)]}
        end += len(elements)
        parts.append(elements)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for part in parts:
            file.write(part)


def _elements(
    value: Any, wanted: Optional[Mapping[str, Any]], place: str
) -> Tuple[str, List[int], bytes]:
    """The type of a parameter's elements, its shape, and its bytes."""
    import numpy as np

    is_bytes = isinstance(value, memoryview) and value.format in ("B", "b", "c")
    if is_bytes or isinstance(value, (bytes, bytearray)):
        elements = bytes(value)
        return _BYTES, [len(elements)], elements
    array = _array_of(value) if wanted is None else _as_array(value, wanted, place)
    refuse_mask(array, place)
    if wanted is None:
        # The caller of `open` stands so many frames out.
        warnings.warn(
            f"{place}: its elements are {array.dtype}, and neither a debug file nor the source says"
            " what the program reads there: it reads the bytes as its own type, whatever that is."
            " `iree-dbg compile` makes a debug file; `array.tobytes()` says that bytes are meant",
            UserWarning,
            stacklevel=6,
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    kind = _NAMES.get(array.dtype.name) or _ELEMENTS.get(array.dtype.name)
    if kind is None:
        raise TypeError(f"{place}: archives have no elements of {array.dtype}")
    return kind, list(np.shape(array)), array.tobytes()
