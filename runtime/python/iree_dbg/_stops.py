"""Python code at stops of a program: breakpoints, dispatches, tables of tensors."""

from __future__ import annotations

import contextlib
import struct
import sys
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple

from ._convert import tensors_of
from ._errors import Error, Frame, frames_of

if TYPE_CHECKING:
    import numpy as np

    from ._library import Given
    from ._program import Program


class Stop:
    """A program that stands still, for as long as a callback runs."""

    def __init__(self, program: "Program", said: Mapping[str, Any]) -> None:
        self.program = program
        self._at(said)

    def _at(self, said: Mapping[str, Any]) -> None:
        """It stands there."""
        #: The frames of the program, innermost first.
        self.frames: List[Frame] = frames_of(said["frames"])

    def _ask(self, what: str, **question: Any) -> Any:
        return self.program._ask(what, **question)

    def _set(self, target: str, given: "Given", frame: int) -> None:
        self.program._set(target, given, frame)

    @property
    def frame(self) -> Frame:
        """The innermost frame."""
        return self.frames[0]

    @property
    def locals(self) -> Dict[str, Any]:
        """The values of the innermost frame by their names in the source."""
        return self.values(0)

    def values(self, frame: int = 0) -> Dict[str, Any]:
        """The values of a frame: arrays, numbers, and the debugger's text of anything else.

        A value that is not there (the compiler has removed it, it is not computed yet, its memory
        was overwritten) is the text of the reason, in angle brackets.
        """
        told = self._ask("values", frame=frame)
        arrays = tensors_of(told)
        rows = told["values"] if isinstance(told, dict) else told
        # A name of the source stands for the whole tensor; what the dispatch sees may be a part.
        ordered = sorted(rows, key=lambda row: row["scope"] != "Dispatch")
        return {_name(row): _value(row, arrays) for row in ordered}

    def evaluate(self, expression: str, frame: int = 0) -> Any:
        """The value of an expression of the debugger, as `max(abs(%x))`."""
        return value_of(self._ask("evaluate", frame=frame, expression=expression))

    def set(self, target: str, value: Any, frame: int = 0) -> None:
        """Sets a value of the program: a variable, an element, or all elements of a tensor.

        Args:
            target: its name, or another expression that names it: `scores`, `scores[0, 2]`.
            value: an array of the tensor's shape, a number, or an expression as a string.
        """
        from ._hooks import set_tensor

        if isinstance(value, (bool, int, float)):
            value = repr(value)
        if isinstance(value, str):
            self._ask("set", frame=frame, target=target, value=value)
        else:
            set_tensor(self, target, value, frame)

    def tensors(self) -> Any:
        """The tensors of the function, as they are now: one row each."""
        return _table(self._ask("tensors"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.frames[0] if self.frames else 'without frames'}>"

    def _repr_html_(self) -> str:
        from ._pictures import of_stop

        return of_stop(self)


class Dispatch(Stop):
    """A dispatch that has run, with its tensors."""

    def __init__(self, program: "Program", said: Mapping[str, Any]) -> None:
        super().__init__(program, said)
        arrays = tensors_of(said)
        #: What it has read, by name: arrays, and numbers for tensors of one number.
        self.inputs: Dict[str, Any] = {}
        #: What it has written, by name.
        self.outputs: Dict[str, Any] = {}
        #: Whatever else is known of it: the memory of its bindings, constants, workgroups.
        self.others: Dict[str, Any] = {}
        for row in said["values"]:
            way, name, value = row["name"].partition(" ")[0], _name(row), _value(row, arrays)
            if way not in ("in", "out", "inout"):
                self.others[name] = value
                continue
            if way != "out":
                self.inputs[name] = value
            if way != "in":
                self.outputs[name] = value
        #: Statistics of what it has written, a row each.
        self.rows: List[Dict[str, Any]] = [_row(row) for row in said["left"]]
        #: Its name.
        self.name = str(self.rows[0]["dispatch"]) if self.rows else self.frames[0].name

    @property
    def tensors(self) -> Dict[str, Any]:  # type: ignore[override]
        """What it has read and written, by name."""
        return {**self.inputs, **self.outputs}

    def __repr__(self) -> str:
        return f"<Dispatch {self.name}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"


def value_of(told: Any) -> Any:
    """The value that the answer to an expression tells."""
    return _value(told, tensors_of(told))


def _value(row: Mapping[str, Any], arrays: List["np.ndarray[Any, Any]"]) -> Any:
    if row.get("tensor") is not None:
        return arrays[row["tensor"]]
    kind, text, bits = str(row.get("type", "")), str(row["value"]), row.get("bits")
    if bits is not None:
        return _float(*bits)
    if row.get("exact") is not None:
        with contextlib.suppress(ValueError):
            return float(row["exact"])
    try:
        if kind == "float":
            return float(text)
        if kind in ("int", "integer"):
            return int(text, 0)
        if kind in ("i1", "bool"):
            truth: Dict[str, Any] = {"true": True, "1": True, "-1": True}
            truth.update({"false": False, "0": False})
            return truth.get(text, text)
        if kind.lstrip("su").startswith("i") and kind.lstrip("sui").isdigit():
            return int(text, 0)
    except ValueError:
        pass
    return text


def _float(kind: str, bits: int) -> float:
    """The float with these bits. The debugger's text of one may be short of digits."""
    size, code = {"f64": (8, "<d"), "f16": (2, "<e")}.get(kind, (4, "<f"))
    shifted = bits << 16 if kind == "bf16" else bits
    return float(struct.unpack(code, shifted.to_bytes(size, "little"))[0])


def _name(row: Mapping[str, Any]) -> str:
    """The name of a value, without what a dispatch does with it."""
    way, _, name = row["name"].partition(" ")
    whole = str(row["name"])
    return (name if name and way in ("in", "out", "inout") else whole).lstrip("%")


def _row(row: Mapping[str, Any]) -> Dict[str, Any]:
    """A row of a table; smallest and greatest elements are numbers, which JSON has as text."""
    is_whole = "f" not in str(row["type"]).rpartition("x")[2]
    number = int if is_whole else float
    extremes = {key: None if row[key] is None else number(row[key]) for key in ("min", "max")}
    return {**row, **extremes}


class Breakpoint:
    """Where Python code runs when a program gets there.

    It ends by `remove()` or as a context manager.
    """

    def __init__(
        self, place: Mapping[str, Any], callback: Callable[[Any], Any], program: Optional["Program"]
    ) -> None:
        self.place = {key: value for key, value in place.items() if value is not None}
        self.callback = callback
        #: Whether a program can get there; before one is open, False.
        self.verified = False
        #: Why it is nowhere, or in another place than asked.
        self.message: Optional[str] = None
        #: The line where it is.
        self.line: Optional[int] = None
        self._everywhere = program is None
        self._in: List[Tuple["weakref.ref[Program]", int]] = []

    def _set(self, program: "Program") -> None:
        told = program._ask("breakpoint", **self.place)
        program._callbacks[told["id"]] = self.callback
        self._in.append((weakref.ref(program), told["id"]))
        self.verified = self.verified or bool(told["verified"])
        self.message, self.line = told["message"], told["line"] or self.line

    def remove(self) -> None:
        """Removes it. The program no longer stops there."""
        if self in _everywhere:
            _everywhere.remove(self)
        for reference, identifier in self._in:
            program = reference()
            if program is not None and program._close.alive:
                program._callbacks.pop(identifier, None)
                program._ask("remove", id=identifier, inspects=program._served())
        self._in.clear()

    def __enter__(self) -> "Breakpoint":
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        place = ":".join(str(it) for it in self.place.values())
        reason = f": {self.message}" if self.message else ""
        state = "" if self.verified else f" (not verified{reason})"
        return f"<Breakpoint {place}{state}>"


#: The breakpoints of all programs, also of those that will be opened.
_everywhere: List[Breakpoint] = []


def add(
    program: "Program", place: Mapping[str, Any], callback: Callable[[Any], Any]
) -> Breakpoint:
    made = Breakpoint(place, callback, program)
    made._set(program)
    return made


def place_of(place: str) -> Dict[str, Any]:
    """A place that is written as `model.py:14`, or as the name of a function."""
    file, colon, line = place.rpartition(":")
    if colon and line.isdigit():
        return {"file": file, "line": int(line)}
    return {"function": place}


def breakpoint(
    file: Optional[str] = None,
    line: Optional[int] = None,
    callback: Optional[Callable[[Stop], Any]] = None,
    *,
    column: Optional[int] = None,
    function: Optional[str] = None,
    condition: Optional[str] = None,
) -> Breakpoint:
    """Sets a breakpoint in every program that is open, and in those that will be.

    See `Program.breakpoint`, which sets one in a single program.
    """
    from ._program import _open_programs

    place = {"file": file, "line": line, "column": column, "function": function}
    made = Breakpoint({**place, "condition": condition}, callback or show, None)
    for program in list(_open_programs):
        if program._close.alive:
            made._set(program)
    _everywhere.append(made)
    return made


def opened(program: "Program") -> None:
    """A program was opened: it gets the breakpoints of all."""
    for made in _everywhere:
        made._set(program)


def met(program: "Program", said: Mapping[str, Any]) -> None:
    """A program stands at breakpoints: runs their callbacks."""
    stop = Dispatch(program, said) if "values" in said else Stop(program, said)
    for identifier in said["breakpoints"]:
        callback = program._callbacks.get(identifier)
        if callback is not None:
            callback(stop)


def show(stop: Stop) -> None:
    """Shows a stop: its place, and the values of its frame. In a notebook these have pictures."""
    print(f"stopped at {stop.frame}")
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        from IPython.display import HTML, display  # type: ignore[import-not-found, unused-ignore]

        # As it is now: the stop is gone when the notebook draws it.
        display(HTML(stop._repr_html_()))  # type: ignore[no-untyped-call, unused-ignore]
        return
    for name, value in stop.locals.items():
        print(f"  {name} = {value!r}")


def tensors(program: "Program") -> Any:
    """See `Program.tensors`."""
    from ._running import inside

    if any(of is program for of, _ in inside()):
        return _table(program._ask("tensors"))
    if program._last is None:
        raise Error("nothing was called yet; call a function, then ask for its tensors")
    name, args, kwargs = program._last
    rows: List[Dict[str, Any]] = []

    def collect(dispatch: Dispatch) -> None:
        rows.extend(dispatch.rows)

    with add(program, {"dispatch": "*"}, collect):
        program[name]._call(program, args, kwargs)
    return _table(rows)


def _table(told: Any) -> Any:
    rows = [_row(row) for row in (told["values"] if isinstance(told, dict) else told)]
    try:
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
