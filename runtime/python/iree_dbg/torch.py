"""Modules of PyTorch, compiled by IREE, and debugged by the lines of their Python.

>>> model = iree_dbg.torch.compile(module, x)
>>> model(x)
>>> model.against(module)(x)

`torch.export` makes the graph and `pip install iree-base-compiler` imports it: see
`_torch_export.py`.
"""

from __future__ import annotations

import copy
import importlib.util
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils import _pytree as pytree  # type: ignore[import-not-found, unused-ignore]

from ._compiled import Compiled, Framework, Made
from ._eager import variables
from ._torch_export import OWN, Notes, imported, outputs_of

if TYPE_CHECKING:
    import numpy as np


__all__ = ["TorchModule", "compile"]

#: Elements that NumPy lacks; all of their numbers are float32, too.
NARROW = (torch.bfloat16,)


class TorchModule(Compiled):
    """A module of PyTorch that IREE has compiled. It takes what the original takes, and gives the
    same structure of tensors."""

    def __init__(
        self, original: Any, exported: Any, out_spec: Any, made: Made, **options: Any
    ) -> None:
        self._original = original
        self._in_spec = exported.call_spec.in_spec
        self._out_spec = out_spec
        signature = exported.graph_signature
        inputs = [it for it in signature.input_specs if it.kind.name == "USER_INPUT"]
        #: Of each leaf of the arguments: whether it is an argument of the program, and if it is
        #: not, what it was at the export.
        self._inputs = [(hasattr(it.arg, "name"), getattr(it.arg, "value", None)) for it in inputs]
        # The rest are variables of the model, which only the export gives.
        self._outputs = outputs_of(exported)[: out_spec.num_leaves]
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
        self, reference: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], files: Set[str]
    ) -> Framework:
        module = reference or self._original
        files = files | _files_of(module)
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
    notes = Notes(module)
    with notes.of_export(), torch.no_grad():
        exported = torch.export.export(
            module, args, kwargs or None, dynamic_shapes=dynamic_shapes, strict=False
        )
    exported, program = imported(exported)
    signature = exported.graph_signature
    changed = [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]
    if changed:
        raise ValueError(
            f"a call of {_name_of(module)} changes {', '.join(changed)}: a compiled function has no"
            " state; make it an argument and a result"
        )
    made = Made(folder, _name_of(module))
    notes.write(exported, program, made.source)
    made.function = "main"
    made.compile(flags)
    return TorchModule(module, exported, notes.out_spec, made, **options)


def _name_of(module: Any) -> str:
    name = type(module).__name__
    return name if name.isidentifier() else "model"


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
