"""Failures of programs as exceptions, whose tracebacks have the lines of the source."""

from __future__ import annotations

import ast
import linecache
import sys
import types
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Type


class Frame(NamedTuple):
    """A frame of a program's call stack."""

    #: The function, or what a part of a native function does.
    name: str
    #: Of Python: which of several layers, by the framework's name (`blocks.2`), or by the number of
    #: the call (`layer[2]`); else None.
    layer: Optional[str]
    #: The module.
    module: str
    #: The file of the source, as the compiler was given it; None if it is not known.
    file: Optional[str]
    #: Where the file is on this machine, if it was found.
    path: Optional[str]
    #: Counted from 1; None if the source is not known.
    line: Optional[int]
    #: Counted from 1.
    column: Optional[int]
    #: Whether the compiler has inlined the function.
    inlined: bool
    #: The bytecode offset; None in native code.
    offset: Optional[int]

    def __str__(self) -> str:
        if self.file is not None:
            return f"{self.file}:{self.line}:{self.column} in {self.name}"
        if self.offset is not None:
            return f"{self.module}.{self.name} [{self.offset:08X}]"
        return self.name


class Error(RuntimeError):
    """A program has failed, or cannot be loaded."""

    #: IREE's name of the status, as `INVALID_ARGUMENT`; empty if a program cannot be loaded.
    code: str = ""
    #: The program's frames, innermost first.
    frames: Sequence[Frame] = ()

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InvalidArgumentError(Error, ValueError):
    """`INVALID_ARGUMENT`"""


class OutOfRangeError(Error, IndexError):
    """`OUT_OF_RANGE`"""


class NotFoundError(Error, LookupError):
    """`NOT_FOUND`"""


class UnimplementedError(Error, NotImplementedError):
    """`UNIMPLEMENTED`"""


class ResourceExhaustedError(Error, MemoryError):
    """`RESOURCE_EXHAUSTED`: memory, steps or time"""


_KINDS: Dict[str, Type[Error]] = {
    "INVALID_ARGUMENT": InvalidArgumentError,
    "OUT_OF_RANGE": OutOfRangeError,
    "NOT_FOUND": NotFoundError,
    "UNIMPLEMENTED": UnimplementedError,
    "RESOURCE_EXHAUSTED": ResourceExhaustedError,
}


def frames_of(told: Sequence[Mapping[str, Any]]) -> List[Frame]:
    fields = [field for field in Frame._fields]
    return [Frame(**{field: frame[field] for field in fields}) for frame in told]


def failure(said: Mapping[str, Any]) -> Error:
    """The exception for a failed call, with its traceback."""
    frames = frames_of(said["frames"])
    text = f"{said['code']}; {said['message']}"
    place = next((frame for frame in frames if frame.file is not None), None)
    if place is not None:
        text += f"; at {place}"
    error = _KINDS.get(said["code"], Error)(text)
    error.code = said["code"]
    error.frames = tuple(frames)
    return error.with_traceback(traceback_of(frames))


def traceback_of(frames: Sequence[Frame]) -> Optional[types.TracebackType]:
    """A traceback with a program's frames, which are given innermost first."""
    shown = [frame for frame in frames if frame.file is not None] or list(frames)
    traceback: Optional[types.TracebackType] = None
    for frame in shown:
        python = _python_frame(frame)
        if python is not None:
            line = frame.line or 0
            traceback = types.TracebackType(traceback, python, python.f_lasti, line)
    return traceback


def _python_frame(frame: Frame) -> Optional[types.FrameType]:
    """A frame of Python that looks like one of the program: its file, its line, its name."""
    line, column = frame.line or 1, max((frame.column or 1) - 1, 0)
    file = frame.path or frame.file or f"<{frame.module}.vmfb>"
    name = frame.name if frame.file is not None else str(frame)
    tree = ast.parse("__iree_dbg__()")
    text = linecache.getline(file, line).rstrip() if frame.line else ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = line
            node.col_offset, node.end_col_offset = column, max(len(text), column + 1)
    code = compile(tree, file, "exec").replace(co_name=name)
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname=name)
    found: List[types.FrameType] = []
    # The frame calls this, so it stands in its only line.
    exec(code, {"__iree_dbg__": lambda: found.append(sys._getframe(1)), "__name__": frame.module})
    return found[0] if found else None
