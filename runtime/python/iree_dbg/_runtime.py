"""Programs that `iree.runtime` has loaded."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from ._program import Program, open


def from_runtime(
    vm_module: Any,
    *,
    parameters: Optional[Mapping[str, Any]] = None,
    imports: Optional[Mapping[str, Callable[..., Any]]] = None,
    **options: Any,
) -> Program:
    """A program with the bytes of a module that `iree.runtime` has loaded.

    The program is one of its own: it runs the initialisers again, and shares no state with the
    module of the runtime.

    Args:
        vm_module: a `VmModule` of a `.vmfb`, or a bound module of `iree.runtime.load_vm_module`.
        parameters: by scope, a `ParameterIndex` of the runtime, an archive, or arrays. The runtime
            does not tell which parameters a module of `create_io_parameters_module` has, so they
            have to be given.
        imports: functions of Python for what the program imports. The runtime does not tell which
            other modules it was linked to.
        options: as for `iree_dbg.open`.

    Raises:
        TypeError: if it is no module of bytecode.
    """
    module = getattr(vm_module, "vm_module", vm_module)
    blob = getattr(module, "stashed_flatbuffer_blob", None)
    if blob is None:
        name = getattr(module, "name", type(vm_module).__name__)
        raise TypeError(
            f"iree.runtime has no bytes of {name}: it is no module of a .vmfb; give one, or open"
            " its file with iree_dbg.open(path)"
        )
    return open(bytes(blob), parameters=parameters, imports=imports, **options)
