"""What the variables of a model's Python are while it runs eagerly, for frameworks that do so."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

if TYPE_CHECKING:
    import types

    import numpy as np


@contextlib.contextmanager
def variables(
    files: Set[str], given: Set[int], array_of: Callable[[Any], "Optional[np.ndarray[Any, Any]]"]
) -> Iterator[List[Tuple[str, "np.ndarray[Any, Any]"]]]:
    """Notes each array that a variable of these files gets, in order.

    Args:
        files: the files, as code objects name them.
        given: the identities of the call's arguments, which are left out.
        array_of: the numbers of an array of the framework; None of anything else.
    """
    noted: List[Tuple[str, "np.ndarray[Any, Any]"]] = []
    # The arrays stay, so that none gets the identity of another.
    kept: Dict[Tuple[str, int, int], Any] = {}

    def local(frame: "types.FrameType", event: str, _: Any) -> Any:
        if event in ("line", "return"):
            for name, value in list(frame.f_locals.items()):
                # Tensors of torch count the changes of their elements.
                key = (name, id(value), getattr(value, "_version", 0))
                if key in kept or id(value) in given:
                    continue
                array = array_of(value)
                if array is not None:
                    kept[key] = value
                    noted.append((name, array))
        return local

    def trace(frame: "types.FrameType", _event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename in files else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield noted
    finally:
        sys.settrace(before)
