"""A debugger for IREE VM modules (`.vmfb`), in Python and in notebooks.

>>> import iree_dbg, numpy
>>> program = iree_dbg.open("model.vmfb")
>>> program.main(numpy.ones(4, dtype=numpy.float32))

`iree_dbg.find_binary()` is the path of the command line `iree-dbg`; `python -m iree_dbg` runs it,
too. In a notebook, `%load_ext iree_dbg` adds the magic `%iree_debug`.
"""

from ._binary import find_binary, find_library, version
from ._debug import Session
from ._errors import Error, Frame
from ._program import Function, Program, open
from ._runtime import from_runtime
from ._stops import Breakpoint, Dispatch, Stop, breakpoint
from ._walk import Walk

__version__ = version()

__all__ = [
    "Breakpoint",
    "Dispatch",
    "Error",
    "Frame",
    "Function",
    "Program",
    "Session",
    "Stop",
    "Walk",
    "__version__",
    "breakpoint",
    "find_binary",
    "find_library",
    "from_runtime",
    "open",
]


def load_ipython_extension(shell: object) -> None:
    """Adds `%iree_debug` to IPython; `%load_ext iree_dbg` calls this."""
    from ._magic import register

    register(shell)
