"""The program of a module of PyTorch, with notes on the Python that made it.

`torch.export` runs the module once, on placeholders. Meanwhile its `forward` gives more results: a
copy of each placeholder that a variable was. What the program returns then says which of its values
each variable is; copies, as a tensor of torch may change later. Each node of the graph keeps the
line that made it, and the frames with the ranges of their expressions. The copies and the results
are taken out of the program's text again.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils import _pytree as pytree  # type: ignore[import-not-found, unused-ignore]

from . import _python_map
from ._program_text import Locations, Numbered, parts
from ._python_map import Named, Recorder, Tensor

if TYPE_CHECKING:
    import types

#: Frames of these folders are the framework's.
OWN = tuple(os.path.dirname(it) + os.sep for it in (torch.__file__, __file__))

#: Where nodes keep their frames while torch exports them.
FRAMES = "iree_dbg_frames"

#: A frame in a node's trace, as torch writes it, with its range and its function after that.
FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)(?: at (\d+) to (\d+):(\d+))?')

#: An operation that the dialect `torch` does not know.
UNKNOWN = re.compile(r'torch\.operator "torch\.(aten\.[\w.]+)"')

#: The file of the locations that say which event an operation belongs to; its lines are events,
#: from 1.
EVENT = "iree-dbg-event"


class Program(NamedTuple):
    """The text of a program, and the same with locations and without weights."""

    text: str
    located: str


class Notes:
    """What is noted of a module's Python while it is exported."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._paths = {id(it): path for path, it in module.named_modules()}
        self._forget()

    def _forget(self) -> None:
        self._recorder = Recorder(self._tensor_of, self._mark, self._items, self._layer_of)
        self._event = -1
        self._numbers: Dict[Tuple[int, int], int] = {}
        self._kept: List[Any] = []
        self._copies: List[Any] = []
        #: The structure of the results.
        self.out_spec: Any = None

    @contextlib.contextmanager
    def of_export(self) -> Iterator[None]:
        """Meanwhile, what is exported of the module is noted."""
        forward = self._module.forward

        @functools.wraps(forward)
        def noted(*args: Any, **kwargs: Any) -> Any:
            # Torch may run a module more than once: what it has made last counts.
            self._forget()
            with self._recorder.running():
                results = forward(*args, **kwargs)
            self._event = -1
            self.out_spec = pytree.tree_structure(results)
            return results, self._copies

        def gave(layer: Any, _: Any, results: Any) -> None:
            if self._recorder.is_running and self._paths.get(id(layer)):
                self._recorder.gave(self._paths[id(layer)], results)

        self._module.forward = noted
        hook = torch.nn.modules.module.register_module_forward_hook(gave)
        try:
            with _frames_in_nodes(lambda: self._event):
                yield
        finally:
            hook.remove()
            del self._module.forward

    def _layer_of(self, frame: "types.FrameType") -> str:
        return str(self._paths.get(id(frame.f_locals.get("self")), ""))

    def _mark(self, event: int) -> None:
        self._event = event

    def _tensor_of(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return None
        key = (id(value), value._version)
        number = self._numbers.setdefault(key, len(self._copies))
        if number == len(self._copies):
            self._kept.append(value)
            self._copies.append(value.clone())
        return Tensor(number)

    def _items(self, value: Any) -> Optional[List[Tuple[str, Any]]]:
        """The parts of a module: its parameters by their names, which the program knows."""
        if not isinstance(value, torch.nn.Module):
            return None
        path = self._paths.get(id(value))
        if path is None:
            return []
        own = [*value._parameters.items(), *value._buffers.items()]
        labels = [(name, f"{path}.{name}".lstrip(".")) for name, it in own if it is not None]
        weights = [(f".{name}", Named(label)) for name, label in labels]
        inner = [(f".{name}", it) for name, it in value._modules.items() if it is not None]
        plain = [(f".{name}", it) for name, it in vars(value).items() if _is_plain(name, it)]
        return [*weights, *plain, *inner]

    def write(self, exported: Any, program: Program, source: Path) -> None:
        """Writes the program of what was exported, and the notes beside it."""
        plain = program.text.splitlines()
        # Numbers and None among the results are no results of the program.
        are_tensors = [is_one for is_one, _ in outputs_of(exported)[: self.out_spec.num_leaves]]
        text, returned = _without_copies(plain, are_tensors)
        source.write_text("\n".join(line for _, line in text) + "\n", encoding="utf-8")
        located = program.located.split("{-#", 1)[0].splitlines()
        own = plain[: next((at for at, it in enumerate(plain) if it.startswith("{-#")), len(plain))]
        locations = Locations(located, EVENT, self._recorder.is_of_library)
        lines = _lines(locations, text, len(own))
        places = locations.places(own, [it for it in text if it[0] < len(own)])
        labels = locations.labels(text)
        _python_map.write(self._recorder, source, "main", returned, lines, places, labels)


def outputs_of(exported: Any) -> List[Tuple[bool, Any]]:
    """Of each leaf of the results: whether it is a tensor, and if not, what it is."""
    specs = exported.graph_signature.output_specs
    arguments = [it.arg for it in specs if it.kind.name == "USER_OUTPUT"]
    is_fixed = [isinstance(it, torch.export.graph_signature.ConstantArgument) for it in arguments]
    return [(not fixed, getattr(it, "value", None)) for it, fixed in zip(arguments, is_fixed)]


def _is_plain(name: str, value: Any) -> bool:
    """Whether an attribute of a module is a number or a text that its Python has given it."""
    is_own = not name.startswith("_") and name != "training"
    return is_own and isinstance(value, (bool, int, float, str))


MAIN = "  func.func @main("
LITERAL = " = torch.vtensor.literal("
VALUE = re.compile(r"%[\w#]+")
COPY = re.compile(r"\s+(%\w+) = torch\.aten\.clone (%[\w#]+), %\w+ : ")


def _without_copies(
    plain: List[str], are_tensors: List[bool]
) -> Tuple[Numbered, List[Optional[str]]]:
    """The lines of the program, each with its index in `plain`, and the names of the values that
    were copied for what it returned beside its results.

    Args:
        are_tensors: whether each of its own results is a tensor; others are left out.
    """
    results = len(are_tensors)
    head = next(at for at, line in enumerate(plain) if line.startswith(MAIN))
    end = next(at for at in range(head, len(plain)) if plain[at].startswith("    return "))
    names, types = plain[end][len("    return ") :].split(" : ", 1)
    all_names, all_types = parts(names), parts(types)
    copies = {it[1]: (at, it[2]) for at in range(head, end) if (it := COPY.match(plain[at]))}
    returned: List[Optional[str]] = []
    dropped = set()
    # A copy that the model makes itself may be the same one.
    own_names = list(itertools.compress(all_names, are_tensors))
    own_types = list(itertools.compress(all_types, are_tensors))
    kept = {*own_names, *_used(plain[head + 1 : end])}
    for name in all_names[results:]:
        at, value = copies.get(name, (-1, None))
        returned.append(value)
        if at >= 0 and name not in kept:
            dropped.add(at)
    taken, rest = plain[head][len(MAIN) :].split(") -> ", 1)
    given, rest = _group(rest)
    listed = ", ".join(itertools.compress(parts(given), are_tensors))
    text: Numbered = []
    # Weights are there before any line of Python.
    weights = [(at, plain[at]) for at in range(head, end) if LITERAL in plain[at]]
    moved = {at for at, _ in weights}
    for at, line in enumerate(plain):
        if at == head + 1:
            text += weights
        if at in dropped or at in moved:
            continue
        if at == head:
            line = f"{MAIN}{taken}) -> ({listed}){rest}"
        elif at == end:
            line = f"    return {', '.join(own_names)} : {', '.join(own_types)}"
            line = line if own_names else "    return"
        text.append((at, line))
    return text, returned


def _used(lines: List[str]) -> Iterator[str]:
    """The values that operations use."""
    for line in lines:
        yield from VALUE.findall(line.split(" = ", 1)[-1])


def _group(text: str) -> Tuple[str, str]:
    """The types that a text begins with, and what follows them: `(a, b) attributes …`, `a {`."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([<") - (letter in ")]>")
        if depth == 0 and letter in ")>":
            begin, end = (1, at) if text[0] == "(" else (0, at + 1)
            return text[begin:end], text[at + 1 :]
    return text, ""


def _lines(locations: Locations, text: Numbered, end: int) -> List[Tuple[int, int]]:
    """Pairs of a line of the text, from 1, and the event that begins there, or -1 where none does."""
    found: List[Tuple[int, int]] = []
    last = -1
    for number, (at, line) in enumerate(text, 1):
        if at >= end or line == "  }":
            found.append((number, -1))
            break
        event = locations.line_in(EVENT, at)
        # Without a place are constants, which come before what they are for.
        if event is not None and event - 1 != last:
            last = event - 1
            found.append((number, last))
    return found


@contextlib.contextmanager
def _frames_in_nodes(event: Callable[[], int]) -> Iterator[None]:
    """Meanwhile, nodes that torch makes get the frames from there to who called `compile`, and the
    event that they belong to."""
    outer = sys._getframe(4)
    create = torch.fx.Graph.create_node

    def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = create(self, *args, **kwargs)
        frames = _trace(sys._getframe(1), outer)
        if event() >= 0:
            frames = f'File "{EVENT}", line {event() + 1}, in event\n{frames}'
        node.meta[FRAMES] = frames
        return node

    torch.fx.Graph.create_node = create_node
    try:
        yield
    finally:
        torch.fx.Graph.create_node = create


def _trace(frame: "Optional[types.FrameType]", outer: "types.FrameType") -> str:
    """The frames of a model's code, outermost first, as lines that `FRAME` reads."""
    lines: List[str] = []
    while frame is not None and frame is not outer:
        code = frame.f_code
        if not code.co_filename.startswith((*OWN, "<")):
            name = getattr(code, "co_qualname", code.co_name)
            line = f'File "{code.co_filename}", line {frame.f_lineno}, in {name}'
            lines.append(line + _range(frame))
        frame = frame.f_back
    return "\n".join(reversed(lines))


def _range(frame: "types.FrameType") -> str:
    """The columns of the expression that a frame is at: Python 3.11 knows them."""
    if sys.version_info < (3, 11):
        return ""
    at = frame.f_lasti // 2
    found = next(itertools.islice(frame.f_code.co_positions(), at, None), (None,) * 4)
    line, end_line, column, end_column = found
    if None in found or line != frame.f_lineno:
        return ""
    return f" at {column} to {end_line}:{end_column}"


def _frames_into_traces(exported: Any) -> None:
    """Puts the frames of nodes where torch keeps its own: whatever becomes of a node inherits these."""
    for graph in exported.graph_module.modules():
        for node in getattr(graph, "graph", torch.fx.Graph()).nodes:
            trace = node.meta.pop(FRAMES, "")
            if trace:
                node.meta["stack_trace"] = trace


def imported(exported: Any) -> Tuple[Any, Program]:
    """The graph without operations that change their operands, and as MLIR of the dialect `torch`.

    Operations keep the form that the Python has. Only those that the dialect does not know become
    others, if torch says which; so do normalizations, whose own forms change their statistics.
    """
    _frames_into_traces(exported)
    aten = torch.ops.aten
    norms = (aten._native_batch_norm_legit, aten._native_batch_norm_legit_no_training)
    # The compiler's own forms of these fail, of 3.13.
    others = (aten.upsample_linear1d, aten.upsample_bilinear2d, aten.upsample_trilinear3d)
    table: Dict[Any, Any] = dict(torch._decomp.get_decompositions([*norms, *others]))
    table[aten.instance_norm.default] = _of_others(aten.instance_norm.default)
    while True:
        plain = exported.run_decompositions(dict(table))
        program = _as_mlir(plain)
        unknown = {it for it in map(_overload, UNKNOWN.findall(program.text)) if it is not None}
        missing = list(unknown - table.keys())
        more = torch._decomp.get_decompositions(missing)
        more.update({it: _of_others(it) for it in missing if it not in more and _is_of_others(it)})
        if not more:
            return plain, program
        table.update(more)


def _is_of_others(operation: Any) -> bool:
    """Whether torch makes an operation of others when it runs it, as a cell of a recurrence."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operation.name(), key))


def _of_others(operation: Any) -> Callable[..., Any]:
    """What makes an operation of others. Its `decompose` would come here again."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    return functools.partial(operation._op_dk, key)


def _overload(name: str) -> Any:
    """An operation of torch by its name in MLIR, or None."""
    _, packet, *overload = name.split(".")
    found = getattr(torch.ops.aten, packet, None)
    return getattr(found, overload[0] if overload else "default", None)


def _as_mlir(exported: Any) -> Program:
    """A graph as MLIR, and its locations with names of parameters."""
    from iree.compiler.extras import fx_importer  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from iree.compiler.ir import Location  # type: ignore[import-untyped, import-not-found, unused-ignore]

    class Hooks(fx_importer.FxImporterHooks):  # type: ignore[misc, unused-ignore]
        """Names parameters: the importer knows them by their numbers."""

        def resolve_literal(self, importer: Any, literal: Any, info: Any) -> Any:
            name = getattr(getattr(info, "input_spec", None), "target", None)
            if not name:
                return None
            # Without what tells its name it is imported as always.
            with Location.name(name, context=context):
                return importer._import_literal(literal)

    class Located(fx_importer.ContextCache):  # type: ignore[misc, unused-ignore]
        """Locates operations by their whole frames."""

        __slots__ = ()

        def get_node_location(self, node: Any) -> Any:
            return _location(node, self._c)

    importer = fx_importer.FxImporter(hooks=Hooks())
    operation = importer.module.operation
    context = operation.context
    importer._cc.__class__ = Located
    importer.import_program(exported, func_name="main")
    # Weights are in the text once.
    located = operation.get_asm(
        enable_debug_info=True, large_elements_limit=4, large_resource_limit=4
    )
    return Program(operation.get_asm(), located)


def _location(node: Any, context: Any) -> Any:
    """The frames of a node as a location: each a range with the name of its function."""
    from iree.compiler.ir import Location

    frames = []
    for file, line, name, column, end_line, end_column in FRAME.findall(node.stack_trace or ""):
        numbers = [int(it) for it in (line, column, end_line, end_column) if it]
        numbers += [0] if len(numbers) == 1 else []
        frames.append(Location.name(name, Location.file(file, *numbers, context=context), context))
    if not frames:
        return Location.unknown(context)
    *outer, inner = frames
    return Location.callsite(inner, outer[::-1], context) if outer else inner
