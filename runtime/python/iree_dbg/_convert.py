"""Values of Python for the library, and back: JSON, with tensors beside it.

NumPy is imported when the first tensor is converted.
"""

from __future__ import annotations

import ctypes
import functools
import json
import math
import struct
import weakref
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from ._library import Given, library

if TYPE_CHECKING:
    import numpy as np

#: Objects of one key that stand for what JSON cannot hold.
TENSOR = "\0tensor"
BYTES = "\0bytes"

#: NumPy's names of element types, by those of IREE.
_DTYPES = {
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "si8": "int8",
    "si16": "int16",
    "si32": "int32",
    "si64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "ui64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "cf64": "complex64",
    "cf128": "complex128",
}

#: The same for the types of `ml_dtypes`.
_ML_DTYPES = {
    "bf16": "bfloat16",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
}

_ELEMENTS = {
    **{name: element for element, name in _ML_DTYPES.items()},
    **{name: element for element, name in _DTYPES.items() if not element.startswith("si")},
}


@functools.lru_cache(maxsize=None)
def dtype_of(element: str) -> "np.dtype[Any]":
    """NumPy's type of elements; of `bf16` and smaller floats, the one of `ml_dtypes`."""
    import numpy as np

    if element in _DTYPES:
        known: np.dtype[Any] = np.dtype(_DTYPES[element])
        return known
    name = _ML_DTYPES.get(element)
    if name is None:
        raise TypeError(f"NumPy has no elements of type {element}")
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(
            f"NumPy has no elements of type {element}; `pip install ml_dtypes` adds them"
        ) from None
    brain: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return brain


class Encoder:
    """Arguments of one call: a JSON text, and the tensors that it names."""

    def __init__(self) -> None:
        self.given: List[Given] = []

    def text(self, values: Sequence[Any], types: Sequence[Mapping[str, Any]], place: str) -> str:
        """The JSON of values by their types; `place` names them in errors."""
        any_type: Mapping[str, Any] = {"kind": "any", "text": "any"}
        encoded = [
            self.value(value, types[index] if index < len(types) else any_type, f"{place}[{index}]")
            for index, value in enumerate(values)
        ]
        return json.dumps(encoded)

    def value(self, value: Any, wanted: Mapping[str, Any], place: str) -> Any:
        kind = wanted["kind"]
        if kind == "optional":
            return None if value is None else self.value(value, wanted["of"], place)
        if kind == "array" and wanted["element"] is not None and value is not None:
            return self.tensor(_as_array(value, wanted, place), place)
        if kind == "scalar":
            return _scalar(value, wanted, place)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {BYTES: bytes(value).hex()}
        if isinstance(value, (str, bool, int, float)) or value is None:
            return value
        if isinstance(value, Mapping):
            return self.mapping(value, wanted, place)
        if isinstance(value, (list, tuple)):
            return self.sequence(value, wanted, place)
        # Of what is no number, as an argument that nothing reads, only that is known.
        is_reference = kind == "any" and wanted["text"] == "ref"
        is_number = kind != "array" and not is_reference
        if hasattr(value, "item") and getattr(value, "shape", None) == () and is_number:
            return _plain(value.item())
        if _is_tensor(value):
            if kind == "list":
                return self.sequence(_array_of(value).tolist(), wanted, place)
            return self.tensor(_array_of(value), place)
        if hasattr(value, "__index__"):
            return int(value)
        if hasattr(value, "__float__"):
            return float(value)
        raise TypeError(f"{place}: expected {wanted['text']}, got {_shown(value)}")

    def mapping(self, value: Mapping[Any, Any], wanted: Mapping[str, Any], place: str) -> Any:
        fields = dict(wanted.get("fields", ()))
        encoded: Dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str) or key.startswith("\0"):
                raise TypeError(f"{place}: the keys of a dictionary are strings, not {key!r}")
            ty = fields.get(key, {"kind": "any", "text": "any"})
            encoded[key] = self.value(item, ty, f"{place}[{key!r}]")
        return encoded

    def sequence(self, value: Sequence[Any], wanted: Mapping[str, Any], place: str) -> Any:
        if wanted["kind"] == "sequence":
            types = list(wanted["items"])
        else:
            types = [wanted.get("of") or {"kind": "any", "text": "any"}] * len(value)
        types += [{"kind": "any", "text": "any"}] * (len(value) - len(types))
        return [
            self.value(item, ty, f"{place}[{index}]")
            for index, (item, ty) in enumerate(zip(value, types))
        ]

    def tensor(self, array: "np.ndarray[Any, Any]", place: str) -> Any:
        import numpy as np

        refuse_mask(array, place)
        element = _ELEMENTS.get(array.dtype.name)
        if element is None:
            raise TypeError(f"programs have no tensors of {array.dtype.name}")
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        # Copied by NumPy if it is strided; the library then copies it as one block.
        array = np.require(array, requirements="C")
        shape = "".join(f"{length}x" for length in array.shape)
        self.given.append((shape + element, array.ctypes.data, array.nbytes, array))
        return {TENSOR: len(self.given) - 1}


#: How a plain value of a type is recognised and written: its class, and a test with what it needs.
Plain = Tuple[str, str, Any, Any]


def plain_types(slots: Sequence[Mapping[str, Any]]) -> Optional[List[Plain]]:
    """How the arguments of a function are written where they are as it wants them, which needs no
    conversion: integers and floats of Python, and dense arrays of its elements. None: some are
    never so plain."""
    plain: List[Plain] = []
    for slot in slots:
        wanted = slot["type"]
        element = wanted.get("element")
        if slot.get("output") is not None or element is None:
            return None
        if wanted["kind"] == "array" and element in _DTYPES:
            plain.append(("array", element, dtype_of(element), None))
        elif wanted["kind"] == "scalar" and element in ("f32", "f64"):
            plain.append(("float", element, *_FINITE[element]))
        elif wanted["kind"] == "scalar" and element in ("index", "i8", "i16", "i32", "i64"):
            plain.append(("int", element, *integer_range("i64" if element == "index" else element)))
        else:
            return None
    return plain


#: What is less than this and more than its opposite is finite as a float.
_FINITE = {"f32": (-3.4028234e38, 3.4028234e38), "f64": (-1.7976931e308, 1.7976931e308)}


def plain_text(
    values: Sequence[Any], types: Sequence[Plain], given: List[Given]
) -> Optional[str]:
    """The same as `Encoder.text` of plain values. None: one of them is not so plain."""
    parts = []
    for value, (kind, element, low, high) in zip(values, types):
        if kind == "array":
            # A subclass may have more to it, as a mask.
            if type(value).__module__ != "numpy" or type(value).__name__ != "ndarray":
                return None
            if value.dtype != low or not value.flags.c_contiguous or not value.dtype.isnative:
                return None
            shape = "".join(f"{length}x" for length in value.shape)
            address = value.__array_interface__["data"][0]
            parts.append(f'{{"\\u0000tensor":{len(given)}}}')
            given.append((shape + element, address, value.nbytes, value))
        elif type(value) is (int if kind == "int" else float) and low <= value <= high:
            parts.append(repr(value))
        else:
            return None
    return f"[{','.join(parts)}]"


def _is_tensor(value: Any) -> bool:
    return (
        hasattr(value, "__dlpack__")
        or hasattr(value, "__array__")
        or hasattr(value, "__array_interface__")
        or hasattr(value, "__buffer__")
    )


def _array_of(value: Any) -> "np.ndarray[Any, Any]":
    import numpy as np

    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError):
            if not hasattr(value, "__array__"):
                raise
    return np.asarray(value)


def writable(
    values: Sequence[Any], slots: Sequence[Mapping[str, Any]], place: str
) -> Dict[int, "np.ndarray[Any, Any]"]:
    """The arrays in which a function leaves results, by the number of the result."""
    import numpy as np

    found: Dict[int, np.ndarray[Any, Any]] = {}
    for index, (value, slot) in enumerate(zip(values, slots)):
        if slot.get("output") is None:
            continue
        here, result = f"{place}[{index}]", int(slot["output"])
        wanted = slot["type"]
        says = f"{here}: the function leaves its result {result} there, so"
        # What has nothing but `__array__` may give a copy.
        shares = isinstance(value, (np.ndarray, memoryview)) or any(
            hasattr(value, name) for name in ("__dlpack__", "__array_interface__", "__buffer__")
        )
        if not shares:
            raise TypeError(f"{says} it takes an array of {wanted['text']}, got {_shown(value)}")
        array = _array_of(value)
        refuse_mask(array, here)
        element = wanted.get("element")
        if element is not None and array.dtype != dtype_of(element):
            raise TypeError(
                f"{says} it takes elements of {dtype_of(element)}, which are written in their"
                f" place, got {array.dtype}"
            )
        if not array.flags.writeable:
            raise ValueError(f"{says} it takes an array that can be written")
        if any(stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape)):
            raise ValueError(f"{says} each element needs memory of its own")
        if any(np.may_share_memory(array, other) for other in found.values()):
            raise ValueError(f"{says} it cannot have the memory of another result")
        found[result] = array
    return found


def left_in(out: Any, given: Any) -> Any:
    """Leaves results in arrays, and gives these."""
    import numpy as np

    arrays = list(out) if isinstance(out, (list, tuple)) else [out]
    results = list(given) if isinstance(given, tuple) else [given]
    if len(arrays) != len(results):
        raise ValueError(f"out: {len(results)} results are left in as many arrays, not {len(arrays)}")
    for at, (array, result) in enumerate(zip(arrays, results)):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"out[{at}]: expected an array of NumPy, got {_shown(array)}")
        result = np.asarray(result)
        if array.dtype != result.dtype or array.shape != result.shape:
            wanted, found = (f"{it.dtype} {list(it.shape)}" for it in (result, array))
            raise ValueError(f"out[{at}]: expected {wanted}, got {found}")
    for array, result in zip(arrays, results):
        array[...] = result
    return out


def refuse_mask(array: "np.ndarray[Any, Any]", place: str) -> None:
    """Refuses an array some of whose elements are masked: a program would read what is masked."""
    import numpy as np

    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise TypeError(
            f"{place}: a masked array, and programs know no masks; give its `filled(value)`, or its"
            f" `data` to pass what is masked, too"
        )


def _as_array(value: Any, wanted: Mapping[str, Any], place: str) -> "np.ndarray[Any, Any]":
    """A value as an array of the elements that a function wants."""
    import numpy as np

    dtype = dtype_of(wanted["element"])
    if isinstance(value, (str, bytes, Mapping)):
        raise TypeError(f"{place}: expected {wanted['text']}, got {_shown(value)}")
    is_array = _is_tensor(value)
    try:
        array = _array_of(value) if is_array else np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{place}: expected {wanted['text']}: {error}") from None
    refuse_mask(array, place)
    if array.dtype == dtype:
        return array
    if array.dtype.kind in "USOmMV" and array.dtype.name not in _ELEMENTS:
        raise TypeError(f"{place}: expected {wanted['text']}, got elements of {array.dtype}")
    if array.dtype.kind in "iu" and dtype.kind in "iu":
        return _fitting(array, dtype, wanted, place)
    losses = ("fi", "fu", "fb", "ci", "cu", "cb", "cf", "ib", "ub")
    if array.dtype.kind + dtype.kind in losses and array.size:
        raise TypeError(
            f"{place}: expected {wanted['text']}, got elements of {array.dtype}, which would lose"
            f" something; convert them with astype"
        )
    return _near(array, dtype, wanted, place)


def _near(
    array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]", wanted: Mapping[str, Any], place: str
) -> "np.ndarray[Any, Any]":
    """Numbers as floats: integers have to be exact, and what is finite stays so."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        converted = np.asarray(array.astype(dtype))
    is_wider = array.dtype.kind in "fcb" and np.can_cast(array.dtype, dtype)
    if not array.size or dtype.kind == "b" or is_wider:
        return converted
    # What NumPy compares a float of any width by.
    wide = np.dtype("complex128" if dtype.kind == "c" else "float64")
    back = converted.astype(wide)
    if array.dtype.kind in "iu":
        lost = _inexact(array, back)
        if lost is not None:
            raise OverflowError(
                f"{place}: {lost} is no {wanted['element']}, the nearest has other digits; convert"
                f" it with astype"
            )
        return converted
    finite = np.isfinite(array.astype(wide))
    if not np.isfinite(back[finite]).all():
        worst = array[finite][~np.isfinite(back[finite])].ravel()[0]
        raise OverflowError(f"{place}: {worst} does not fit {wanted['element']}")
    return converted


def _inexact(array: "np.ndarray[Any, Any]", back: "np.ndarray[Any, Any]") -> Optional[int]:
    """An integer that is another one as a float; None if there is none."""
    import numpy as np

    real = back.real if back.dtype.kind == "c" else back
    # A float of 64 bits has all digits up to here; beyond, Python's integers compare exactly.
    exact = 2**53
    small = (array <= exact) & (array >= -exact) if array.dtype.kind == "i" else array <= exact
    wrong = small & (array != real)
    if wrong.any():
        return int(array[wrong].ravel()[0])
    large = np.flatnonzero(~small)
    for at in large:
        number, float_of_it = int(array.ravel()[at]), float(real.ravel()[at])
        if not math.isfinite(float_of_it) or int(float_of_it) != number:
            return number
    return None


def _fitting(
    array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]", wanted: Mapping[str, Any], place: str
) -> "np.ndarray[Any, Any]":
    """Integers in another width; all of them have to fit."""
    import numpy as np

    converted = array.astype(dtype)
    low, high = integer_range(wanted["element"])
    if array.size and not (low <= int(array.min()) and int(array.max()) <= high):
        worst = int(array.max()) if int(array.max()) > high else int(array.min())
        raise OverflowError(f"{place}: {worst} does not fit {wanted['element']}")
    return np.asarray(converted)


def integer_range(element: str) -> Tuple[int, int]:
    """The integers that fit an element: `si` and `ui` have a sign or none; `i` is either."""
    bits = int(element.lstrip("siu"))
    if element.startswith("ui"):
        return 0, 2**bits - 1
    if element.startswith("si"):
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return -(2 ** max(bits - 1, 0)), 2**bits - 1


def _plain(value: Any) -> Any:
    return value


def _scalar(value: Any, wanted: Mapping[str, Any], place: str) -> Any:
    """A number, as JSON has it."""
    element = wanted["element"]
    is_integer = element == "index" or element.lstrip("su").startswith("i")
    if hasattr(value, "shape") and hasattr(value, "item"):
        if math.prod(value.shape) != 1:
            raise TypeError(f"{place}: expected {wanted['text']}, got {_shown(value)}")
        value = value.item()
    if isinstance(value, bool):
        return value
    if is_integer:
        if not hasattr(value, "__index__"):
            raise TypeError(f"{place}: expected {wanted['text']}, got {_shown(value)}")
        value = value.__index__()
        low, high = integer_range("i64" if element == "index" else element)
        if not low <= value <= high:
            raise OverflowError(f"{place}: {value} does not fit {element}")
        return value
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{place}: expected {wanted['text']}, got {_shown(value)}")
    return _float(value if isinstance(value, int) else float(value), element, place)


#: The letters of floats for `struct`.
_LETTERS = {"f16": "e", "bf16": "f", "f32": "f", "f64": "d"}


def _float(value: Union[int, float], element: str, place: str) -> Union[int, float]:
    """A number for a float, as it was given: an integer has to be exact, and to be finite."""
    letter = _LETTERS.get(element)
    if letter is None or isinstance(value, float) and not math.isfinite(value):
        return value
    try:
        packed = struct.pack("<" + letter, value)
    except (OverflowError, struct.error):
        raise OverflowError(f"{place}: {value} does not fit {element}") from None
    if isinstance(value, int):
        back = struct.unpack("<" + letter, packed)[0]
        if int(back) != value or element == "bf16" and packed[:2] != b"\0\0":
            raise OverflowError(
                f"{place}: {value} is no {element}, the nearest has other digits; give a float"
            )
    return value


def _shown(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "dtype"):
        return f"an array of {value.dtype} with shape {tuple(shape)}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


class _Memory:
    """Elements that the library keeps alive as long as this object lives."""

    def __init__(self, address: int, length: int, handle: int) -> None:
        # An address of NumPy's is not null, even where there are no elements.
        self.__array_interface__ = {
            "version": 3,
            "shape": (length,),
            "typestr": "|u1",
            "data": (address, False),
        }
        release = weakref.finalize(self, library().release_tensor, handle)
        release.atexit = False


def tensors_of(said: Any) -> List["np.ndarray[Any, Any]"]:
    """The tensors of a message, which share the library's memory."""
    return [tensor_of(it) for it in said.get("tensors", ())] if isinstance(said, dict) else []


#: Results of so few bytes are copied: to lend their memory takes longer.
_SMALL = 4096


def tensor_of(told: Mapping[str, Any]) -> "np.ndarray[Any, Any]":
    import numpy as np

    shape = tuple(told["shape"])
    if 0 < told["length"] <= _SMALL and told["element"] in _DTYPES:
        array = np.empty(shape, dtype_of(told["element"]))
        if array.nbytes == told["length"]:
            ctypes.memmove(array.__array_interface__["data"][0], told["address"], told["length"])
            library().release_tensor(told["handle"])
            return array
    memory = _Memory(told["address"], told["length"], told["handle"])
    if told["length"] == 0:
        return np.empty(shape, dtype_of(told["element"]))
    try:
        dtype = dtype_of(told["element"])
    except TypeError:
        if math.prod(shape) == told["length"] * 8 // int(told["element"].lstrip("siuf") or 8):
            raise
        dtype = np.dtype("uint8")
    return np.asarray(memory).view(dtype).reshape(shape)


def decode(value: Any, tensors: Sequence["np.ndarray[Any, Any]"]) -> Any:
    """A result."""
    if not isinstance(value, dict):
        return value
    ((tag, inside),) = value.items()
    if tag == "t":
        return tensors[inside]
    if tag == "f":
        return float(inside)
    if tag == "l":
        return [decode(item, tensors) for item in inside]
    if tag == "u":
        return tuple(decode(item, tensors) for item in inside)
    if tag == "d":
        return {key: decode(item, tensors) for key, item in inside}
    return Opaque(inside)


class Opaque:
    """An object of a program that Python has no form for."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


def results(said: Mapping[str, Any], key: str) -> Optional[List[Any]]:
    """The values of a message."""
    tensors = tensors_of(said)
    return [decode(value, tensors) for value in said[key]]
