"""Notes which lines of a model's Python run while a framework traces it, and what each variable is.

A framework makes a program of tensors by running the model's Python once, on placeholders. What a
variable is at a line is known then, and only then: loops are unrolled, functions are inlined, names
are given again. So the run itself is noted: each line that runs, in which call, and which tensors
the variables of that call are. The debugger shows Python's lines and variables from these notes.

`Recorder` knows Python. What a tensor is, and which operations belong to which line, a framework
says: see `_jax_export.py` and `_torch_export.py`. The notes are written as `model.mlir.pymap`,
beside the program `model.mlir`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import sysconfig
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

if TYPE_CHECKING:
    import types

#: What is added to the name of a program for the name of its notes.
SUFFIX = ".pymap"
#: The version of the format.
VERSION = 1

#: The most items of a container that are noted, and how deep containers are followed.
MOST_ITEMS = 256
DEEPEST = 4
#: The most characters of a number or a text.
LONGEST = 80

#: Why a variable is not known in a function that a framework traces apart.
OF_ANOTHER = "it is a value of the function around, whose frame has it"

#: Folders whose code is not the model's.
LIBRARIES = tuple(
    os.path.realpath(it) + os.sep
    for it in {
        *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
        os.path.dirname(__file__),
    }
    if it
)


class Tensor(NamedTuple):
    """A variable is this tensor, by its number among those that the framework has counted."""

    number: int


class Absent(NamedTuple):
    """A variable is a tensor that the program does not have, for this reason."""

    reason: str


class Named(NamedTuple):
    """A variable is what the program has under this label, such as a parameter."""

    label: str


class Value(NamedTuple):
    """A value of the program."""

    function: str
    #: With its `%`.
    name: str


class Home(NamedTuple):
    """Where in the program the operations of a call are."""

    function: str
    #: Whether it is in a region of an operation there, such as a loop.
    is_inside: bool


class Event(NamedTuple):
    """A line is about to run."""

    frame: int
    line: int
    #: What the variables of the frame are, as far as it has changed since its event before.
    changed: List[Tuple[str, Any]]


class Call(NamedTuple):
    """A call of a function of the model."""

    #: The event of the caller; -1 if no function of the model has called.
    caller: int
    function: str
    file: str
    #: The framework's name of the layer that it is of, or nothing.
    layer: str = ""


class Recorder:
    """Notes lines, calls and variables."""

    def __init__(
        self,
        tensor_of: Callable[[Any], Any],
        mark: Callable[[int], None],
        items_of: Callable[[Any], Any] = lambda _: None,
        layer_of: "Callable[[types.FrameType], str]" = lambda _: "",
    ) -> None:
        """Notes nothing yet.

        Args:
            tensor_of: `Tensor`, `Absent` or None of any object.
            mark: is told the event to which operations belong from now on.
            items_of: the parts of an object of the framework, as `_items` gives them, or None.
            layer_of: the framework's name of the layer that a frame is of, or nothing.
        """
        self._tensor_of, self._mark, self._items_of = tensor_of, mark, items_of
        self._layer_of = layer_of
        self.is_running = False
        #: Layers, and what each has given.
        self.results: List[Tuple[str, Any]] = []
        self.calls: List[Call] = []
        self.events: List[Event] = []
        #: Of each frame that is running: its number, its last event, and what its variables were.
        self._open: Dict[int, Tuple[int, int, Dict[str, Any]]] = {}
        self._is_library: Dict[str, bool] = {}

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Notes what runs meanwhile."""
        before = sys.gettrace()
        sys.settrace(self._call)
        self.is_running = True
        try:
            yield
        finally:
            self.is_running = False
            sys.settrace(before)

    def _call(self, frame: "types.FrameType", _event: str, _: Any) -> Any:
        return None if self.is_of_library(frame.f_code.co_filename) else self._local

    def _local(self, frame: "types.FrameType", event: str, _: Any) -> Any:
        if event == "line":
            self._line(frame)
        elif event == "return":
            self._open.pop(id(frame), None)
            caller = self._event_around(frame.f_back)
            if caller >= 0:
                self._mark(caller)
        return self._local

    def _line(self, frame: "types.FrameType") -> None:
        known = self._open.get(id(frame))
        if known is None:
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)
            caller, layer = self._event_around(frame.f_back), self._layer_of(frame)
            self.calls.append(Call(caller, name, code.co_filename, layer))
            known = (len(self.calls) - 1, -1, {})
        number, _, before = known
        # What a file has defined, and what it imports, is not what a model computes.
        variables = {} if frame.f_code.co_name == "<module>" else frame.f_locals
        now = {name: self._described(value, DEEPEST) for name, value in variables.items()}
        now = {name: value for name, value in now.items() if value is not None}
        changed = [(name, value) for name, value in now.items() if before.get(name) != value]
        changed += [(name, None) for name in before if name not in now]
        event = len(self.events)
        self.events.append(Event(number, frame.f_lineno, changed))
        self._open[id(frame)] = (number, event, now)
        self._mark(event)

    def _event_around(self, frame: "Optional[types.FrameType]") -> int:
        """The last event of the innermost frame of the model, from a frame outwards."""
        while frame is not None:
            known = self._open.get(id(frame))
            if known is not None:
                return known[1]
            frame = frame.f_back
        return -1

    def events_around(self, event: int) -> List[int]:
        """The events of the calls that lead to an event, outermost first; the last is its own."""
        found: List[int] = []
        while event >= 0:
            found.append(event)
            event = self.calls[self.events[event].frame].caller
        return found[::-1]

    def gave(self, layer: str, result: Any) -> None:
        """Notes what a layer of the framework has given."""
        self.results.append((layer, self._described(result, DEEPEST)))

    def is_of_library(self, file: str) -> bool:
        """Whether code of a file is not the model's."""
        known = self._is_library.get(file)
        if known is None:
            # `<frozen importlib>`, `<string>`; a cell of a notebook is the user's.
            is_none = file.startswith("<") and not file.startswith("<ipython-input")
            known = is_none or os.path.realpath(file).startswith(LIBRARIES)
            self._is_library[file] = known
        return known

    def _described(self, value: Any, depth: int) -> Any:
        """What is noted of a value; None of what is neither a tensor nor made of some."""
        told = value if isinstance(value, Named) else self._tensor_of(value)
        if told is not None:
            return told
        if isinstance(value, (bool, int, float, str, type(None))):
            text = repr(value)
            return {"is": text} if len(text) <= LONGEST else None
        own = self._items_of(value) if depth > 0 else None
        items = own if own is not None or depth == 0 else _items(value)
        if items is None:
            return None
        described = [(key, self._described(item, depth - 1)) for key, item in items[:MOST_ITEMS]]
        described = [(key, item) for key, item in described if item is not None]
        if not described:
            return None
        return {"of": type(value).__name__, "items": [list(item) for item in described]}


def _items(value: Any) -> Optional[List[Tuple[str, Any]]]:
    """The parts of a container, each with what follows the container's name in Python."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", getattr(value, name)) for name in value._fields]
    if isinstance(value, (list, tuple)):
        return [(f"[{index}]", item) for index, item in enumerate(value[:MOST_ITEMS])]
    if isinstance(value, dict):
        keys = (int, str, bool)
        return [(f"[{key!r}]", item) for key, item in list(value.items()) if isinstance(key, keys)]
    own = getattr(value, "__dict__", None)
    is_code = isinstance(value, type) or hasattr(value, "__code__")
    if isinstance(own, dict) and not is_code:
        return [(f".{name}", item) for name, item in list(own.items()) if _is_public(name)]
    return None


def _is_public(name: str) -> bool:
    """Whether an attribute is one that its users name: others are those of a framework."""
    return name.isidentifier() and not name.startswith("_")


def path_of(source: Path) -> Path:
    """Where the notes of a program are."""
    return source.with_name(source.name + SUFFIX)


def write(
    recorder: Recorder,
    source: Path,
    function: str,
    values: Sequence[Union[None, str, Value]],
    lines: Sequence[Tuple[int, int]],
    places: Dict[int, List[Tuple[str, int, int]]],
    labels: Mapping[str, str] = {},
    homes: Mapping[int, Home] = {},
) -> Path:
    """Writes the notes beside a program.

    Args:
        source: the program, which is written already.
        function: its function that the operations are in.
        values: each tensor by its number: its name in that function, or what it is in another
            one; None if the program has none.
        lines: pairs of a line of the program and an event: from there on, operations belong to it,
            or to none where it is -1.
        places: by the line of an operation, the file, the line and the column of each call that
            leads to it, outermost first, as the framework itself says them. Columns are counted
            from 1.
        labels: the names in the program of values that have a label there.
        homes: where the operations of events are that are not in that function's own block.
    """
    home_of_call = {recorder.events[it].frame: home for it, home in homes.items()}

    def home_of(event: int) -> Home:
        known = home_of_call.get(recorder.events[event].frame) if event >= 0 else None
        return known or Home(function, False)

    files: Dict[str, int] = {}
    functions: Dict[str, int] = {}

    def numbered(known: Dict[str, int], name: str) -> int:
        return known.setdefault(name, len(known))

    def named(value: Any, of: str) -> Any:
        if isinstance(value, Tensor):
            known = values[value.number] if value.number < len(values) else None
            if known is None:
                return {"no": "the export has no value of this variable"}
            own = Value(function, known) if isinstance(known, str) else known
            return own.name if own.function == of else {"no": OF_ANOTHER}
        if isinstance(value, Named):
            return labels.get(value.label) or {"no": "the program does not read it"}
        if isinstance(value, Absent):
            return {"no": value.reason}
        if isinstance(value, dict) and "items" in value:
            return {**value, "items": [[key, named(item, of)] for key, item in value["items"]]}
        return value

    calls = []
    for number, call in enumerate(recorder.calls):
        home = home_of_call.get(number) or Home(function, False)
        # The program itself calls a function that is traced apart, from several places perhaps.
        is_apart = home.function != home_of(call.caller).function
        caller = -1 if is_apart else call.caller
        noted = [caller, numbered(functions, call.function), numbered(files, call.file)]
        is_own = home == Home(function, False)
        calls.append(noted if is_own else [*noted, "" if home.is_inside else home.function])
    events = []
    for number, it in enumerate(recorder.events):
        of = home_of(number).function
        changed = [[name, named(value, of)] for name, value in it.changed]
        events.append([it.frame, it.line, changed])
    chains: Dict[Tuple[Tuple[int, int, int], ...], int] = {}
    operations = []
    for line, chain in sorted(places.items()):
        placed = tuple((numbered(files, file), at, column) for file, at, column in chain)
        operations.append([line, chains.setdefault(placed, len(chains))])
    text = source.read_bytes()
    content = {
        "pymap": VERSION,
        "source": {"length": len(text), "crc32": zlib.crc32(text)},
        "function": function,
        "files": list(files),
        "functions": list(functions),
        "calls": calls,
        "events": events,
        "lines": [list(it) for it in lines],
        "chains": [[list(it) for it in chain] for chain in chains],
        "places": operations,
        "layers": [[number, it.layer] for number, it in enumerate(recorder.calls) if it.layer],
        "results": [[layer, named(it, function)] for layer, it in recorder.results if it],
    }
    path = path_of(source)
    path.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
    return path
