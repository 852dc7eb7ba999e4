"""Modules of PyTorch, compiled by IREE, and debugged by the lines of their Python.

>>> model = iree_dbg.torch.compile(module, x)
>>> model(x)
>>> model.against(module)(x)

`torch.export` makes the graph and `pip install iree-base-compiler` imports it. A graph of torch
keeps of each operation a trace of lines only; here it gets the range of the expression and the
function of each frame, by which variables have values.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import itertools
import os
import re
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils import _pytree as pytree  # type: ignore[import-not-found, unused-ignore]

from ._compiled import Compiled, Framework, Made
from ._eager import variables

if TYPE_CHECKING:
    import types

    import numpy as np

    from ._report import Report

__all__ = ["TorchModule", "compile"]

#: Frames of these folders are the framework's.
OWN = tuple(os.path.dirname(it) + os.sep for it in (torch.__file__, __file__))

#: Where nodes keep their frames while torch exports them.
FRAMES = "iree_dbg_frames"

#: Elements that NumPy lacks; all of their numbers are float32, too.
NARROW = (torch.bfloat16,)

#: A frame in a node's trace, as torch writes it, with its range and its function after that.
FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)(?: at (\d+) to (\d+):(\d+))?')

#: An operation that the dialect `torch` does not know.
UNKNOWN = re.compile(r'torch\.operator "torch\.(aten\.[\w.]+)"')


class TorchModule(Compiled):
    """A module of PyTorch that IREE has compiled. It takes what the original takes, and gives the
    same structure of tensors."""

    def __init__(self, original: Any, exported: Any, made: Made, **options: Any) -> None:
        self._original = original
        self._in_spec = exported.call_spec.in_spec
        self._out_spec = exported.call_spec.out_spec
        signature = exported.graph_signature
        inputs = [it for it in signature.input_specs if it.kind.name == "USER_INPUT"]
        #: Of each leaf of the arguments: whether it is an argument of the program, and if it is
        #: not, what it was at the export.
        self._inputs = [(hasattr(it.arg, "name"), getattr(it.arg, "value", None)) for it in inputs]
        outputs = [it for it in signature.output_specs if it.kind.name == "USER_OUTPUT"]
        self._outputs = [(hasattr(it.arg, "name"), getattr(it.arg, "value", None)) for it in outputs]
        super().__init__(made, **options)

    def _flat(self, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> List[Any]:
        leaves, spec = pytree.tree_flatten((args, dict(kwargs)))
        if spec != self._in_spec:
            raise TypeError(
                f"{_name_of(self._original)} was compiled for arguments {self._in_spec}, and got"
                f" {spec}; compile it again for these"
            )
        flat = []
        for leaf, (is_argument, fixed) in zip(leaves, self._inputs):
            if is_argument:
                flat.append(_array(leaf) if isinstance(leaf, torch.Tensor) else leaf)
            elif leaf != fixed:
                raise TypeError(
                    f"{_name_of(self._original)} was compiled for {fixed!r}, and got {leaf!r};"
                    " compile it again for that"
                )
        return flat

    def _shaped(self, results: List[Any]) -> Any:
        left = iter(results)
        leaves = [_tensor(next(left)) if is_one else fixed for is_one, fixed in self._outputs]
        return pytree.tree_unflatten(leaves, self._out_spec)

    def _run_framework(
        self, reference: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], report: "Report"
    ) -> Framework:
        module = reference or self._original
        files = {str(row["file"]) for row in report.rows if row["file"]}
        files |= _files_of(module)
        given = {id(it) for it in pytree.tree_leaves((args, kwargs))}
        with torch.no_grad(), variables(files, given, _array) as noted:
            results = module(*args, **kwargs)
        return Framework(_leaves(results), noted, _in_float64(module, args, kwargs))


def compile(
    module: Any,
    *args: Any,
    dynamic_shapes: Any = None,
    flags: Sequence[str] = (),
    folder: Union[str, "os.PathLike[str]", None] = None,
    options: Mapping[str, Any] = {},
    **kwargs: Any,
) -> TorchModule:
    """Exports and compiles a module for arguments like these, with the lines of its Python.

    Args:
        module: a `torch.nn.Module`. In its training mode it is exported as such: call `eval()`.
        dynamic_shapes: sizes that are left open, as `torch.export.export` takes them.
        flags: flags for iree-compile; without a target, it is this processor.
        folder: where the export, the module and its debug file are kept; by default a temporary
            folder.
        options: what `iree_dbg.open` takes.

    Raises:
        ValueError: a call would change its arguments or the state of the module.
        ImportError: IREE's importer is not installed.
        iree_dbg.Error: what iree-compile says.
    """
    if importlib.util.find_spec("iree.compiler") is None:
        raise ImportError("iree.compiler is not installed; run: pip install iree-base-compiler")
    with _frames_in_nodes(), torch.no_grad():
        exported = torch.export.export(
            module, args, kwargs or None, dynamic_shapes=dynamic_shapes, strict=False
        )
    _frames_into_traces(exported)
    exported, text = _imported(exported)
    signature = exported.graph_signature
    changed = [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]
    if changed:
        raise ValueError(
            f"a call of {_name_of(module)} changes {', '.join(changed)}: a compiled function has no"
            " state; make it an argument and a result"
        )
    made = Made(folder, _name_of(module))
    made.source.write_text(text, encoding="utf-8")
    made.function = "main"
    made.compile(flags)
    return TorchModule(module, exported, made, **options)


def _name_of(module: Any) -> str:
    name = type(module).__name__
    return name if name.isidentifier() else "model"


# The graph, with its locations.


@contextlib.contextmanager
def _frames_in_nodes() -> Iterator[None]:
    """Meanwhile, nodes that torch makes get the frames from there to who called `compile`."""
    outer = sys._getframe(3)
    create = torch.fx.Graph.create_node

    def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = create(self, *args, **kwargs)
        node.meta[FRAMES] = _trace(sys._getframe(1), outer)
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


def _imported(exported: Any) -> Tuple[Any, str]:
    """The graph without operations that change their operands, and as MLIR of the dialect `torch`.

    Operations keep the form that the Python has. Only those that the dialect does not know become
    others, if torch says which; so do normalizations, whose own forms change their statistics.
    """
    aten = torch.ops.aten
    norms = (aten._native_batch_norm_legit, aten._native_batch_norm_legit_no_training)
    table: Dict[Any, Any] = dict(torch._decomp.get_decompositions(list(norms)))
    while True:
        plain = exported.run_decompositions(dict(table))
        text = _as_mlir(plain)
        unknown = {it for it in map(_overload, UNKNOWN.findall(text)) if it is not None}
        more = torch._decomp.get_decompositions(list(unknown - table.keys()))
        if not more:
            return plain, text
        table.update(more)


def _overload(name: str) -> Any:
    """An operation of torch by its name in MLIR, or None."""
    _, packet, *overload = name.split(".")
    found = getattr(torch.ops.aten, packet, None)
    return getattr(found, overload[0] if overload else "default", None)


def _as_mlir(exported: Any) -> str:
    """A graph as MLIR, with locations and with names of parameters."""
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
    names = [
        it.arg.name
        for it in exported.graph_signature.input_specs
        if it.kind.name == "USER_INPUT" and hasattr(it.arg, "name")
    ]
    return _with_arguments(operation.get_asm(enable_debug_info=True), names)


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


def _with_arguments(text: str, names: Sequence[str]) -> str:
    """The text with the arguments' names in their locations: the importer gives them that of the
    first operation."""
    start = text.index("func.func @main(")
    end = text.index("\n", start)
    head = text[start:end]
    for number, name in enumerate(names):
        found = re.search(rf"%arg{number}: [^%]*? loc\(", head)
        if found is None:
            continue
        depth, at = 1, found.end()
        while depth and at < len(head):
            depth += {"(": 1, ")": -1}.get(head[at], 0)
            at += 1
        head = f'{head[: found.end()]}"{name}"{head[at - 1 :]}'
    return text[:start] + head + text[end:]


# Arrays.


def _array(value: Any) -> "Optional[np.ndarray[Any, Any]]":
    """The numbers of a tensor; None of what torch only traces, and of anything else."""
    if not isinstance(value, torch.Tensor) or value.is_meta:
        return None
    value = value.detach().cpu()
    wide = value.float() if value.dtype in NARROW else value
    # Its elements may change later.
    return wide.numpy().copy()  # type: ignore[no-any-return, unused-ignore]


def _tensor(value: Any) -> Any:
    """A result as a tensor of torch."""
    import numpy as np

    return torch.from_numpy(value) if isinstance(value, np.ndarray) else torch.as_tensor(value)


def _leaves(tree: Any) -> List[Tuple[str, "np.ndarray[Any, Any]"]]:
    """The tensors of a structure, each with its path."""
    leaves = pytree.tree_leaves_with_path(tree)
    found = [(pytree.keystr(path) or "result", _array(leaf)) for path, leaf in leaves]
    return [(name, array) for name, array in found if array is not None]


def _in_float64(module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """The results of a module on the same numbers in float64, or None if it takes none."""

    def wide(leaf: Any) -> Any:
        is_float = isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
        return leaf.double() if is_float else leaf

    try:
        doubled = copy.deepcopy(module).double()
        args, kwargs = pytree.tree_map(wide, (args, kwargs))
        with torch.no_grad():
            return [array for _, array in _leaves(doubled(*args, **kwargs))]
    except Exception:
        # A module may insist on its types.
        return None


def _files_of(module: Any) -> Set[str]:
    """The files of a module's parts, but for those of torch."""
    parts = module.modules() if isinstance(module, torch.nn.Module) else [module]
    codes = (getattr(getattr(it, "forward", it), "__code__", None) for it in parts)
    files = {it.co_filename for it in codes if it is not None}
    return {it for it in files if not it.startswith(OWN)}
