"""Hooks: code that is called with tensors by their names, and may replace them.

A hook stands at each dispatch. What a dispatch leaves has names in the source (`scores`) and, of a
model of a framework, in its layers (`blocks.2.scores`, and `blocks.2` for what a layer gives).
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Set, Tuple

from ._convert import _as_array, dtype_of
from ._running import inside
from ._stops import Breakpoint, Dispatch, Stop, value_of
from ._trace import names_of

if TYPE_CHECKING:
    import numpy as np

    from ._library import Given
    from ._program import Program

#: Shape and elements, where a type is said with something around it.
TYPE = re.compile(r"\b((?:\d+x)*)([a-z]+\d+\w*)")


class Hook:
    """What calls `function(name, array)` for tensors, until `remove()`, or as a context manager.

    What the function gives, unless that is None, takes the place of the tensor.
    """

    def __init__(
        self, program: "Program", pattern: str, function: Callable[[str, Any], Any]
    ) -> None:
        self.pattern = pattern
        #: How many tensors it was called for.
        self.count = 0
        self._function = function
        parts = map(re.escape, pattern.split("*"))
        self._matches = re.compile(".*".join(parts)).fullmatch
        #: How often each name was met in a call, and which call that is.
        self._met: Tuple[int, Dict[str, int]] = (-1, {})
        self._seen: Set[str] = set()
        self._breakpoint = Breakpoint({"dispatch": "*"}, self._look, program)
        self._breakpoint._set(program)

    def _look(self, dispatch: Dispatch) -> None:
        ticket = inside()[-1][1]
        if self._met[0] != ticket:
            self._met = (ticket, {})
        for row in dispatch.rows:
            name = self._name(row)
            if name is None or row.get("place") is None:
                continue
            self.count += 1
            place = str(row["place"])
            told = dispatch._ask("evaluate", frame=0, expression=place)
            given = self._function(name, _array_of(told, place))
            if given is not None:
                _replace(dispatch, place, told, given, name)

    def _name(self, row: Mapping[str, Any]) -> Optional[str]:
        """The name by which a tensor is asked for: of a name that occurs again, `x#2`."""
        found: Optional[str] = None
        counts = self._met[1]
        # Names say more than the numbers of values.
        for name in sorted(names_of(row), key=str.isdigit):
            counts[name] = counts.get(name, 0) + 1
            numbered = name if counts[name] == 1 else f"{name}#{counts[name]}"
            self._seen.add(name)
            if found is None and (self._matches(name) or self._matches(numbered)):
                found = numbered
        return found

    def remove(self) -> None:
        """Ends it. Warns if calls had tensors, and none of that name."""
        self._breakpoint.remove()
        if self.count == 0 and self._seen:
            known = ", ".join(sorted(self._seen)[:40])
            warnings.warn(
                f"the hook {self.pattern!r} has met no tensor: no dispatch leaves one of that name;"
                f" they leave {known}",
                stacklevel=2,
            )

    def __enter__(self) -> "Hook":
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<Hook {self.pattern}: called {self.count} times>"


def set_tensor(stop: Stop, target: str, value: Any, frame: int) -> None:
    """Sets all elements of the tensor that an expression names."""
    told = stop._ask("evaluate", frame=frame, expression=target)
    _replace(stop, target, told, value, target, frame)


def _array_of(told: Any, place: str) -> "np.ndarray[Any, Any]":
    """The tensor that the answer to an expression tells, as an array."""
    import numpy as np

    value = value_of(told)
    if isinstance(value, np.ndarray):
        return value
    _, element = type_of(told, place)
    return np.asarray(value, dtype_of(element))


def _replace(
    stop: Stop, place: str, told: Any, value: Any, name: str, frame: int = 0
) -> None:
    """Sets all elements of a tensor that was told."""
    shape, element = type_of(told, place)
    text = "x".join([*map(str, shape), element])
    array = _as_array(value, {"element": element, "text": text}, name)
    if list(array.shape) != shape:
        raise ValueError(f"{name} is {text}, and an array of the shape {array.shape} was given")
    stop._set(place, given_of(array, text), frame)


def given_of(array: "np.ndarray[Any, Any]", text: str) -> "Given":
    import numpy as np

    dense = np.require(array, requirements="C")
    return text, dense.ctypes.data, dense.nbytes, dense


def type_of(told: Mapping[str, Any], place: str) -> Tuple[List[int], str]:
    """The shape and the element type of a value that was told."""
    found = TYPE.search(str(told.get("type", "")))
    if found is None:
        raise TypeError(f"{place} is no tensor: {told.get('value')}")
    return [int(it) for it in found[1].split("x")[:-1]], found[2]
