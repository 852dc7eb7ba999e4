"""The program of a function of JAX, with notes on the Python that made it.

JAX runs the function once, on placeholders. Here it runs inside of another function that takes one
more argument, a clock, and gives more results: each placeholder that a variable of the model was,
and the clock after each line. What the program returns then says which of its values each variable
is, and where each line begins. Functions that JAX traces apart (`jit`, `scan`, `while_loop`,
`cond`) return nothing more: a callback of `jax.debug` takes the placeholders of each line there.
The clock, the results and the callbacks are taken out of the program's text again. Of what JAX does
not publish, only the trace of a placeholder and the one that runs are looked at.
"""

from __future__ import annotations

import contextlib
import os
import re
from bisect import bisect_right
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

import jax  # type: ignore[import-not-found, unused-ignore]

from . import _python_map
from ._program_text import Chain, Locations, Numbered, Place, parts
from ._python_map import Absent, Home, Recorder, Tensor, Value

ONE_OF_BATCH = "it is one of a batch (vmap), which the program computes as a whole"
INNER = "it is inside of a function that JAX traces apart (jit, scan, while_loop, cond)"
#: What the name of the scope of a note begins with; its number follows.
NOTE = "iree_dbg_note_"


class Export(NamedTuple):
    """A program and what is known of its Python."""

    text: str
    in_tree: Any
    out_tree: Any
    recorder: Recorder
    values: List[Optional[Value]]
    lines: List[Tuple[int, int]]
    places: Dict[int, Chain]
    homes: Dict[int, Home]

    def write(self, source: Path) -> None:
        """Writes the program, and the notes beside it."""
        source.write_text(self.text, encoding="utf-8")
        _python_map.write(
            self.recorder, source, "main", self.values, self.lines, self.places, homes=self.homes
        )


class Plain(NamedTuple):
    """A program without notes, with locations of Python instead."""

    text: str
    in_tree: Any
    out_tree: Any

    def write(self, source: Path) -> None:
        """Writes the program. Notes that an earlier one has left are removed."""
        source.write_text(self.text, encoding="utf-8")
        with contextlib.suppress(FileNotFoundError):
            os.remove(_python_map.path_of(source))


def plain_export(
    function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Plain:
    """The program of what `jax.jit` gives."""
    lowered = function.lower(*args, **kwargs)  # type: ignore[attr-defined]
    operation = lowered.compiler_ir("stablehlo").operation
    text = operation.get_asm(enable_debug_info=True)
    return Plain(text, lowered.in_tree, lowered.out_tree)


class Note(NamedTuple):
    """A callback in a function that is traced apart."""

    event: int
    #: The numbers of the placeholders that it takes.
    tensors: List[int]


class Clock:
    """Counts the placeholders of a run and marks where lines begin."""

    def __init__(self, ticks: Any, looks_inside: bool) -> None:
        self._trace = ticks._trace
        self._ticks = ticks
        self._looks_inside = looks_inside
        self.marks: List[Any] = []
        self.events: List[int] = []
        self.notes: List[Note] = []
        #: All placeholders, and the numbers of those that are returned.
        self.tensors: List[Any] = []
        self.returned: List[int] = []
        self._numbers: Dict[Tuple[int, int], int] = {}
        #: Those that no note has taken yet.
        self._waiting: List[int] = []
        #: By event, the trace that it began in.
        self._began_in: Dict[int, Any] = {}

    def mark(self, event: int) -> None:
        """Operations belong to an event from now on."""
        trace = self._kept_by()
        if self._began_in.setdefault(event, trace) is not trace:
            # A function that is traced apart has returned; nothing of its caller is in there.
            return
        if trace is self._trace:
            self._ticks = jax.lax.optimization_barrier(self._ticks)
            self.marks.append(self._ticks)
            self.events.append(event)
        elif trace is not None and self._looks_inside:
            here, self._waiting[:] = self._waiting[:], []
            with jax.named_scope(f"{NOTE}{len(self.notes)}"):
                jax.debug.callback(_nothing, *(self.tensors[it] for it in here))
            self.notes.append(Note(event, here))

    def tensor_of(self, value: Any) -> Any:
        """What a placeholder is."""
        if not isinstance(value, jax.core.Tracer):
            if isinstance(value, jax.Array):
                shape = ",".join(str(it) for it in value.shape)
                return {"is": f"{value.dtype}[{shape}]"}
            return None
        # Of a function that is differentiated, the value itself.
        while type(value._trace) is not type(self._trace) and isinstance(
            getattr(value, "primal", None), jax.core.Tracer
        ):
            value = value.primal
        if type(value._trace) is not type(self._trace):
            return Absent(ONE_OF_BATCH if hasattr(value, "batch_dim") else INNER)
        here = self._kept_by()
        if here is None:
            return Absent(ONE_OF_BATCH)
        if not _is_in(value._trace, here) or here is not self._trace and not self._looks_inside:
            return Absent(INNER)
        # In a function that is traced apart, what is around it has a name of its own.
        number = self._numbers.setdefault((id(value), id(here)), len(self.tensors))
        if number == len(self.tensors):
            self.tensors.append(value)
            (self.returned if here is self._trace else self._waiting).append(number)
        return Tensor(number)

    def _kept_by(self) -> Any:
        """The trace that keeps what is computed now as an operation; None where that is another
        one for each of a batch."""
        trace = jax._src.core.trace_ctx.trace
        is_batch = False
        # What batches or differentiates hands its operations on; what traces keeps them.
        while trace is not None and not isinstance(trace, type(self._trace)):
            is_batch = is_batch or hasattr(trace, "axis_data")
            trace = getattr(trace, "parent_trace", None)
        return None if is_batch and trace is not self._trace else trace


def _is_in(trace: Any, inner: Any) -> bool:
    """Whether a trace is another one or around that."""
    while inner is not None and inner is not trace:
        inner = getattr(inner, "parent_trace", None)
    return inner is not None


def _nothing(*_: Any) -> None:
    """What the callbacks would do."""


class NoNotes(Exception):
    """This version of JAX is not known well enough for notes."""


def export(
    function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Export:
    """Traces a function once, and makes a program of it.

    Raises:
        NoNotes: this version of JAX lacks something that is needed.
    """
    core = getattr(getattr(jax, "_src", None), "core", None)
    if not hasattr(core, "trace_ctx") or not hasattr(jax.lax, "optimization_barrier"):
        raise NoNotes(jax.__version__)
    try:
        # Some transformations refuse what has effects, as the callbacks have. If it is the model
        # itself that fails, it fails again.
        with contextlib.suppress(Exception):
            return _export(function, args, kwargs, looks_inside=True)
        return _export(function, args, kwargs, looks_inside=False)
    finally:
        # What is called later is traced without callbacks.
        jax.clear_caches()


def _export(
    function: Callable[..., Any],
    args: Tuple[Any, ...],
    kwargs: Mapping[str, Any],
    looks_inside: bool,
) -> Export:
    made: Dict[str, Any] = {}

    def noted(given: Any, ticks: Any) -> Any:
        clock = Clock(ticks, looks_inside)
        recorder = Recorder(clock.tensor_of, clock.mark)
        own_args, own_kwargs = given
        with recorder.running():
            results = function(*own_args, **own_kwargs)
        made.update(clock=clock, recorder=recorder)
        made["out_tree"] = jax.tree_util.tree_structure(results)
        return results, [clock.tensors[it] for it in clock.returned], clock.marks

    given = (args, dict(kwargs))
    noted.__name__ = noted.__qualname__ = getattr(function, "__name__", "model")
    # What was traced before, without notes, is traced again.
    jax.clear_caches()
    with _whole_locations():
        lowered = jax.jit(noted, keep_unused=True).lower(given, jax.numpy.int32(0))
    operation = lowered.compiler_ir("stablehlo").operation
    plain = operation.get_asm(enable_debug_info=False).splitlines()
    # Weights are read once.
    located = operation.get_asm(enable_debug_info=True, large_elements_limit=4).splitlines()
    clock, out_tree, recorder = made["clock"], made["out_tree"], made["recorder"]
    locations = Locations(located, __file__, recorder.is_of_library)
    text, returned = _without_clock(plain, out_tree.num_leaves)
    text, taken = _without_notes(text, locations, clock.notes)
    values: List[Optional[Value]] = [None] * len(clock.tensors)
    for number, name in zip(clock.returned, returned):
        values[number] = Value("main", name)
    for number, value in taken.values.items():
        values[number] = value
    marks = returned[len(clock.returned) :]
    lines, homes = _lines_of_marks(text, {**dict(zip(marks, clock.events)), **taken.events})
    places = locations.places(plain, text, lambda line: _calls_at(recorder, lines, homes, line))
    in_tree = jax.tree_util.tree_structure(given)
    body = "\n".join(it for _, it in text) + "\n"
    return Export(body, in_tree, out_tree, recorder, values, lines, places, homes)


@contextlib.contextmanager
def _whole_locations() -> Iterator[None]:
    """Meanwhile, locations have all calls; JAX writes the innermost ten."""
    name = "jax_traceback_in_locations_limit"
    before = getattr(jax.config, name, None)
    if before is None:
        yield
        return
    jax.config.update(name, -1)
    try:
        yield
    finally:
        jax.config.update(name, before)


def _calls_at(
    recorder: Recorder, lines: List[Tuple[int, int]], homes: Dict[int, Home], line: int
) -> List[Place]:
    """The calls that lead to a line of the program, in its own function."""
    event = lines[max(bisect_right(lines, (line, len(recorder.events))) - 1, 0)][1]
    function = homes[event].function if event in homes else "main"
    found = []
    for it in recorder.events_around(event):
        call = recorder.calls[recorder.events[it].frame]
        # The program itself calls a function that is traced apart.
        if it not in homes or homes[it].function == function:
            found.append(Place(call.file, recorder.events[it].line, 1, call.function))
    return found


#: The clock goes on.
TICK = re.compile(r"\s+(%\w+) = stablehlo\.optimization_barrier (%\w+) : tensor<i32>$")
MAIN = "  func.func public @main("
#: How far operations of a function's own block are indented.
BODY = 4


def _without_clock(plain: List[str], results: int) -> Tuple[Numbered, List[str]]:
    """The lines of the program, each with its index in `plain`, and the names of what it returned
    beside its results. Marks are lines without text."""
    head = next(at for at, line in enumerate(plain) if line.startswith(MAIN))
    taken, given = plain[head][len(MAIN) :].rsplit(") -> (", 1)
    arguments = parts(taken)
    *arguments, ticks = arguments
    name = ticks.split(":")[0].strip()
    given, rest = given.rsplit(")", 1)
    kept = [_renamed(it) for it in parts(given)[:results]]
    text: Numbered = [(at, line) for at, line in enumerate(plain[:head])]
    text.append((head, f"{MAIN}{', '.join(arguments)}) -> ({', '.join(kept)}){rest}"))
    ticking = {name}
    returned: List[str] = []
    for at, line in enumerate(plain[head + 1 :], head + 1):
        tick = TICK.match(line) if ticking else None
        if tick and tick[2] in ticking:
            ticking.add(tick[1])
            text.append((-1, tick[1]))
            continue
        if ticking and line.startswith("    return "):
            names, types = map(parts, line[len("    return ") :].split(" : ", 1))
            returned = names[results:]
            line = f"    return {', '.join(names[:results])} : {', '.join(types[:results])}"
            line = line if results else "    return"
            # The functions that follow have values of the same names.
            ticking = set()
        text.append((at, line))
    return text, returned


def _renamed(result: str) -> str:
    """`"result[0]['a']"` is the result `"result['a']"` of the function inside."""
    return result.replace('"result[0]', '"result', 1)


#: A callback, with the placeholders that it takes.
CALLBACK = re.compile(r"(\s+)stablehlo\.custom_call @xla_\w*python_cpu_callback\((.*?)\) \{")
#: What callbacks need beside them.
MESH = re.compile(r"  sdy\.mesh (@maximal_mesh_\d+) = ")


class Taken(NamedTuple):
    """What the callbacks of a program have told."""

    #: By the text of its mark, the event of a note.
    events: Dict[str, int]
    #: By the number of a placeholder.
    values: Dict[int, Value]


def _without_notes(
    text: Numbered, locations: Locations, notes: List[Note]
) -> Tuple[Numbered, Taken]:
    """The lines of the program with marks instead of callbacks. Of functions that have become
    several, as those that are computed again for a gradient, nothing is known."""
    kept: Numbered = []
    taken = Taken({}, {})
    own = {at: match for at, line in text if at >= 0 and (match := CALLBACK.match(line))}
    own = {at: it for at, it in own.items() if locations.innermost_file(at) == __file__}
    numbers = {at: locations.number_at(at, NOTE) for at in own}
    once = Counter(numbers.values())
    function = ""
    for at, line in text:
        begins = Locations.FUNCTION.match(line)
        function = begins[1].strip('"') if begins else function
        if at not in own:
            kept.append((at, line))
            continue
        number, callback = numbers[at], own[at]
        if number is None or once[number] > 1:
            continue
        mark = f"{callback[1]}{NOTE}{number}"
        kept.append((-1, mark))
        taken.events[mark] = notes[number].event
        for tensor, name in zip(notes[number].tensors, parts(callback[2])):
            taken.values[tensor] = Value(function, name)
    meshes = [(line, mesh[1]) for _, line in kept if (mesh := MESH.match(line))]
    for line, name in meshes:
        if sum(name in it for _, it in kept) == 1:
            kept = [it for it in kept if it[1] != line]
    return kept, taken


def _lines_of_marks(
    text: Numbered, events: Dict[str, int]
) -> Tuple[List[Tuple[int, int]], Dict[int, Home]]:
    """Takes the marks out of a text: pairs of a line, from 1, and the event that begins there, or
    -1 where none does; and where in the program each event is."""
    lines: List[Tuple[int, int]] = []
    homes: Dict[int, Home] = {}
    kept: Numbered = []
    function = ""
    # Of each region around, its depth and the event that goes on when those inside of it end.
    open_regions: List[Tuple[int, int]] = []

    def begin(event: int) -> None:
        if lines and lines[-1][0] == len(kept) + 1:
            lines.pop()
        lines.append((len(kept) + 1, event))

    for at, line in text:
        is_tick = at < 0 and line.startswith("%")
        depth = BODY if is_tick else len(line) - len(line.lstrip())
        begins = Locations.FUNCTION.match(line) if at >= 0 else None
        if begins:
            function = begins[1].strip('"')
            # What comes before the first mark of the program are constants.
            open_regions = [(BODY, 0 if function == "main" else -1)]
            begin(open_regions[-1][1])
        elif open_regions and depth < open_regions[-1][0]:
            while open_regions and depth < open_regions[-1][0]:
                open_regions.pop()
            begin(open_regions[-1][1] if open_regions else -1)
        if at >= 0:
            kept.append((at, line))
            continue
        event = events.get(line)
        if event is None:
            continue
        if open_regions and open_regions[-1][0] == depth:
            open_regions.pop()
        open_regions.append((depth, event))
        homes[event] = Home(function, depth > BODY)
        begin(event)
    text[:] = kept
    return lines, homes
