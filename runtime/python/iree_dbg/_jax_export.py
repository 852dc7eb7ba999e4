"""The program of a function of JAX, with notes on the Python that made it.

JAX runs the function once, on placeholders. Here it runs inside of another function that takes one
more argument, a clock, and gives more results: each placeholder that a variable of the model was,
and the clock after each line. What the program returns then says which of its values each variable
is, and where each line begins. The clock and the results are taken out of the program's text again.
Of what JAX does not publish, only the trace of a placeholder and the one that runs are looked at.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

import jax  # type: ignore[import-not-found, unused-ignore]

from . import _python_map
from ._program_text import Chain, Locations, Numbered, parts
from ._python_map import Absent, Recorder, Tensor

ONE_OF_BATCH = "it is one of a batch (vmap), which the program computes as a whole"
INNER = "it is inside of a function that JAX traces apart (jit, scan, while_loop, cond)"


class Export(NamedTuple):
    """A program and what is known of its Python."""

    text: str
    in_tree: Any
    out_tree: Any
    recorder: Recorder
    values: List[Optional[str]]
    lines: List[Tuple[int, int]]
    places: Dict[int, Chain]

    def write(self, source: Path) -> None:
        """Writes the program, and the notes beside it."""
        source.write_text(self.text, encoding="utf-8")
        _python_map.write(self.recorder, source, "main", self.values, self.lines, self.places)


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


class Clock:
    """Counts the placeholders of a run and marks where lines begin."""

    def __init__(self, ticks: Any) -> None:
        self._trace = ticks._trace
        self._ticks = ticks
        self.marks: List[Any] = []
        self.events: List[int] = []
        self.tensors: List[Any] = []
        self._numbers: Dict[int, int] = {}

    def mark(self, event: int) -> None:
        """Operations belong to an event from now on."""
        if self._is_outermost():
            self._ticks = jax.lax.optimization_barrier(self._ticks)
            self.marks.append(self._ticks)
            self.events.append(event)

    def tensor_of(self, value: Any) -> Any:
        """What a placeholder is."""
        if not isinstance(value, jax.core.Tracer):
            if isinstance(value, jax.Array):
                shape = ",".join(str(it) for it in value.shape)
                return {"is": f"{value.dtype}[{shape}]"}
            return None
        # Of a function that is differentiated, the value itself.
        while value._trace is not self._trace and isinstance(
            getattr(value, "primal", None), jax.core.Tracer
        ):
            value = value.primal
        if value._trace is not self._trace:
            return Absent(ONE_OF_BATCH if hasattr(value, "batch_dim") else INNER)
        number = self._numbers.setdefault(id(value), len(self.tensors))
        if number == len(self.tensors):
            self.tensors.append(value)
        return Tensor(number)

    def _is_outermost(self) -> bool:
        """Whether what is computed now becomes an operation of the program itself, and not of a
        function inside of it."""
        trace = jax._src.core.trace_ctx.trace
        # What batches or differentiates hands its operations on; what traces keeps them.
        while trace is not None and not isinstance(trace, type(self._trace)):
            trace = getattr(trace, "parent_trace", None)
        return trace is self._trace


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
    made: Dict[str, Any] = {}

    def noted(given: Any, ticks: Any) -> Any:
        clock = Clock(ticks)
        recorder = Recorder(clock.tensor_of, clock.mark)
        own_args, own_kwargs = given
        with recorder.running():
            results = function(*own_args, **own_kwargs)
        made.update(clock=clock, recorder=recorder)
        made["out_tree"] = jax.tree_util.tree_structure(results)
        return results, clock.tensors, clock.marks

    given = (args, dict(kwargs))
    noted.__name__ = noted.__qualname__ = getattr(function, "__name__", "model")
    with _whole_locations():
        lowered = jax.jit(noted, keep_unused=True).lower(given, jax.numpy.int32(0))
    operation = lowered.compiler_ir("stablehlo").operation
    plain = operation.get_asm(enable_debug_info=False).splitlines()
    # Weights are read once.
    located = operation.get_asm(enable_debug_info=True, large_elements_limit=4).splitlines()
    clock, out_tree = made["clock"], made["out_tree"]
    text, returned = _without_clock(plain, out_tree.num_leaves)
    values = returned[: len(clock.tensors)]
    marks = returned[len(clock.tensors) :]
    lines = _lines_of_marks(text, dict(zip(marks, clock.events)))
    places = Locations(located, __file__, made["recorder"].is_of_library).places(plain, text)
    in_tree = jax.tree_util.tree_structure(given)
    body = "\n".join(it for _, it in text) + "\n"
    return Export(body, in_tree, out_tree, made["recorder"], list(values), lines, places)


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


#: The clock goes on.
TICK = re.compile(r"\s+(%\w+) = stablehlo\.optimization_barrier (%\w+) : tensor<i32>$")
MAIN = "  func.func public @main("


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


def _lines_of_marks(text: Numbered, events: Dict[str, int]) -> List[Tuple[int, int]]:
    """Takes the marks out of a text: pairs of a line, from 1, and the event that begins there, or
    -1 where none does."""
    lines: List[Tuple[int, int]] = []
    kept: Numbered = []
    for at, line in text:
        if at >= 0:
            kept.append((at, line))
            continue
        event = events.get(line)
        if event is None:
            continue
        if lines and lines[-1][0] == len(kept) + 1:
            lines.pop()
        lines.append((len(kept) + 1, event))
    text[:] = kept
    head = next(at for at, (_, line) in enumerate(kept, 1) if line.startswith(MAIN))
    end = next((at for at, (_, line) in enumerate(kept[head:], head + 1) if line == "  }"), head)
    # What comes before the first mark are constants. The functions that follow belong to no line of
    # their own.
    return [(head, 0), *lines, (end, -1)]
