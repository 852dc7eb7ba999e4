"""Functions of JAX, compiled by IREE, and debugged by the lines of their Python.

>>> model = iree_dbg.jax.compile(f, x, params)
>>> model(x, params)
>>> model.against(f)(x, params)
"""

from __future__ import annotations

import functools
import inspect
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

import jax  # type: ignore[import-not-found, unused-ignore]

from ._compiled import Compiled, Framework, Made
from ._eager import variables
from ._jax_export import Export, NoNotes, Plain, export, plain_export

if TYPE_CHECKING:
    import numpy as np


__all__ = ["JaxFunction", "compile"]


class JaxFunction(Compiled):
    """A function of JAX that IREE has compiled for the shapes of some arguments. It takes what the
    original takes, and gives the same structure, with arrays of NumPy."""

    def __init__(
        self, original: Callable[..., Any], exported: Any, made: Made, **options: Any
    ) -> None:
        self._original = original
        self._in_tree, self._out_tree = exported.in_tree, exported.out_tree
        super().__init__(made, **options)
        functools.update_wrapper(self, inspect.unwrap(original))

    def _flat(self, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> List[Any]:
        leaves, tree = jax.tree_util.tree_flatten((args, dict(kwargs)))
        if tree != self._in_tree:
            raise TypeError(
                f"{_name_of(self._original)} was compiled for arguments {self._in_tree}, and got {tree}; compile"
                " it again for these"
            )
        return list(leaves)

    def _shaped(self, results: List[Any]) -> Any:
        count = self._out_tree.num_leaves
        return jax.tree_util.tree_unflatten(self._out_tree, results[:count])

    def _run_framework(
        self, reference: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], files: Set[str]
    ) -> Framework:
        # Python's own function, so that its lines run one by one.
        function = inspect.unwrap(reference or self._original)
        code = getattr(function, "__code__", None)
        files = files | ({code.co_filename} if code is not None else set())
        given = [id(it) for it in jax.tree_util.tree_leaves((args, kwargs))]
        with variables(files, set(given), _array) as noted:
            results = function(*args, **kwargs)
        return Framework(_leaves(results), noted, _in_float64(function, args, kwargs))


def compile(
    function: Callable[..., Any],
    *args: Any,
    flags: Sequence[str] = (),
    folder: Union[str, "os.PathLike[str]", None] = None,
    options: Mapping[str, Any] = {},
    **kwargs: Any,
) -> JaxFunction:
    """Compiles a function for arguments of these shapes, with the lines of its Python.

    Args:
        function: a function of JAX, or `jax.jit` of one with `keep_unused=True`.
        flags: flags for iree-compile; without a target, it is this processor.
        folder: where the export, the module and its debug file are kept; by default a temporary
            folder.
        options: what `iree_dbg.open` takes.

    Raises:
        iree_dbg.Error: what iree-compile says.
    """
    made = Made(folder, _name_of(function))
    made.function = "main"
    exported = _exported(function, args, kwargs)
    exported.write(made.source)
    made.compile(flags)
    compiled = JaxFunction(function, exported, made, **options)
    taken, had = len(compiled.function._described["arguments"]), exported.in_tree.num_leaves
    if taken != had:
        compiled.close()
        raise ValueError(
            f"jax.jit has dropped {had - taken} of {had} arguments that are not used; give"
            " jax.jit(…, keep_unused=True), or the function itself"
        )
    return compiled


def _exported(
    function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Union[Export, Plain]:
    """The program of a function, with notes on its Python where JAX may trace that as it is."""
    if not hasattr(function, "lower"):
        try:
            return export(function, args, kwargs)
        except NoNotes:
            return plain_export(jax.jit(function, keep_unused=True), args, kwargs)
    # What `jax.jit` was told of arguments, as which of them are static, only it knows.
    plain = plain_export(function, args, kwargs)
    inner = inspect.unwrap(function)
    try:
        noted = export(inner, args, kwargs)
    except Exception:
        return plain
    is_same = (noted.in_tree, noted.out_tree) == (plain.in_tree, plain.out_tree)
    return noted if is_same else plain


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "model")
    return name if name.isidentifier() else "model"


def _leaves(tree: Any) -> List[Tuple[str, "np.ndarray[Any, Any]"]]:
    """The arrays of a structure, each with its path."""
    import numpy as np

    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    keys = jax.tree_util.keystr
    return [(keys(path) or "result", np.asarray(leaf)) for path, leaf in leaves]


def _array(value: Any) -> "Optional[np.ndarray[Any, Any]]":
    """The numbers of an array; None of what JAX only traces."""
    import numpy as np

    is_array = isinstance(value, (jax.Array, np.ndarray))
    return np.asarray(value) if is_array and not isinstance(value, jax.core.Tracer) else None


def _in_float64(
    function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]
) -> Any:
    """The results of a function on the same numbers in float64, or None if it takes none."""
    import numpy as np

    def wide(leaf: Any) -> Any:
        array = np.asarray(leaf)
        is_float = jax.numpy.issubdtype(array.dtype, jax.numpy.floating)
        return array.astype(np.float64) if is_float else leaf

    has_it = hasattr(jax, "enable_x64")
    enable = jax.enable_x64 if has_it else jax.experimental.enable_x64
    wide_args, wide_kwargs = jax.tree_util.tree_map(wide, (args, kwargs))
    try:
        with enable(True):
            results = function(*wide_args, **wide_kwargs)
            return [array for _, array in _leaves(results)]
    except Exception:
        # A function may insist on its types.
        return None
