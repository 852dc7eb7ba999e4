"""Calls that run: waiting for them, and the Python that they call meanwhile."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple

from ._convert import Encoder, results
from ._errors import Error, failure
from ._library import Given, LibraryError, library

if TYPE_CHECKING:
    from ._program import Program

#: Whether a thread is in Python code that a program has called.
_inside = threading.local()


def inside() -> "Tuple[Tuple[Program, int], ...]":
    """The programs whose Python this thread is in, each with the ticket of its call."""
    calls: "Tuple[Tuple[Program, int], ...]" = getattr(_inside, "calls", ())
    return calls


def call(program: "Program", name: str, parent: int, text: str, given: Sequence[Given]) -> List[Any]:
    """Calls a function, and gives its results.

    Raises:
        LibraryError: the arguments do not fit it.
    """
    ongoing = ctypes.c_size_t()
    try:
        begun = library().call(program._handle, name, parent, text, given, ongoing)
    except BaseException:
        if ongoing.value:
            _give_up(ongoing.value)
            library().release_call(ongoing.value)
        raise
    if ongoing.value:
        return run(program, ongoing.value, begun["ticket"], begun["said"])
    said = begun["said"]
    if said["kind"] == "error":
        raise Error(said["message"])
    _log(said)
    if said["kind"] == "failed":
        raise failure(said)
    return results(said, "results") or []


def _log(said: Mapping[str, Any]) -> None:
    for line in said.get("log", ()):
        print(line, file=sys.stderr)


def run(program: "Program", call: int, ticket: int, first: Any = None) -> List[Any]:
    """Waits for the end of a call, and runs what the program calls in Python meanwhile. `first` is
    its first message, if there was one."""
    native = library()
    raised: Optional[BaseException] = None
    failed: Optional[BaseException] = None
    try:
        while True:
            if program._forked:
                # The child of a fork that Python code of the call has made.
                program._check_open()
            said, first = first or native.wait(call), None
            if said is None:
                continue
            if said["kind"] == "error":
                raise Error(said["message"])
            _log(said)
            if said["kind"] == "done":
                return results(said, "results") or []
            if said["kind"] == "failed":
                if raised is not None:
                    raise raised
                failed = failure(said)
                raise failed
            if said["kind"] == "stopped":
                # An exception of a callback gives the call up.
                with _Inside(program, ticket):
                    _answer_stop(program, call, said)
                continue
            try:
                with _Inside(program, ticket):
                    _answer_import(program, call, said)
            except BaseException as error:
                if program._forked:
                    raise
                raised = error
                native.raise_(call, f"{type(error).__name__}: {error}")
    except LibraryError as error:
        raise Error(str(error)) from None
    except BaseException as error:
        if error is not raised and error is not failed and not program._forked:
            _give_up(call)
        raise
    finally:
        if not program._forked:
            native.release_call(call)


def _give_up(call: int) -> None:
    """Cancels a call, and waits until it is over."""
    native = library()
    native.cancel(call)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        said = native.wait(call)
        if said is not None and said["kind"] in ("done", "failed"):
            results(said, "results") if said["kind"] == "done" else None
            return


class _Inside:
    """Says that this thread is in Python code that a program has called."""

    def __init__(self, program: "Program", ticket: int) -> None:
        self._entry = (program, ticket)

    def __enter__(self) -> None:
        _inside.calls = (*inside(), self._entry)

    def __exit__(self, *_: object) -> None:
        _inside.calls = _inside.calls[:-1]


def _answer_import(program: "Program", call: int, said: Mapping[str, Any]) -> None:
    function = program._imports[said["number"]]
    given = function(*(results(said, "arguments") or []))
    program._check_open()
    types = program._described["imports"][said["number"]]
    if types is None or len(types) == 1:
        values = [given]
    else:
        values = [] if given is None else list(given)
    encoder = Encoder()
    text = encoder.text(values, types or [], "results")
    try:
        library().answer(call, text, encoder.given)
    except LibraryError as error:
        name = getattr(function, "__name__", repr(function))
        raise TypeError(f"what {name} has returned does not fit: {error}") from None


def _answer_stop(program: "Program", call: int, said: Mapping[str, Any]) -> None:
    from . import _stops

    _stops.met(program, said)
    library().answer(call, "[]", ())
