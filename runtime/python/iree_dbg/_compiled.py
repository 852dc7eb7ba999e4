"""Models of frameworks, compiled: what `iree_dbg.jax` and `iree_dbg.onnx` give."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

from ._command_line import failed, run
from ._program import Function, Program, open

if TYPE_CHECKING:
    import numpy as np

    from ._comparison import Comparison
    from ._debug import Session
    from ._hooks import Hook
    from ._report import Report
    from ._stops import Breakpoint, Dispatch, Stop
    from ._command_line import Why
    from ._trace import Trace
    from ._walk import Walk

#: The back end if no flag names one: machine code for this processor.
TARGET = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)

#: Flags that name a device or a back end.
NAMES_TARGET = re.compile(
    "--iree-hal-(target-device|target-backends|local-target-device-backends|default-device)"
)


class Framework(NamedTuple):
    """What the framework itself computes of a call."""

    #: The results, by their paths in what the model gives.
    results: List[Tuple[str, "np.ndarray[Any, Any]"]]
    #: Tensors on the way, by name, in the order of their computation.
    tensors: List[Tuple[str, "np.ndarray[Any, Any]"]]
    #: The results again, computed in float64 where the framework can do that.
    exact: Optional[List["np.ndarray[Any, Any]"]]


class Compiled:
    """A model that was compiled from its framework, and is called like the original.

    What it is made of, `source` and `module`, lies in a folder that is removed with it, unless one
    was named.
    """

    def __init__(self, made: "Made", **options: Any) -> None:
        self._made = made
        #: What the framework has exported: a file of MLIR.
        self.source = made.source
        #: The module; beside it is its debug file.
        self.module = made.module
        #: The program that runs.
        self.program: Program = open(made.module, **options)
        #: Its function.
        self.function: Function = self.program[made.function or _main(self.program)]

    # What depends on the framework.

    def _flat(self, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> List[Any]:
        """The arguments as the function takes them."""
        raise NotImplementedError

    def _shaped(self, results: List[Any]) -> Any:
        """Results as the original gives them."""
        raise NotImplementedError

    def _run_framework(
        self, reference: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], files: Set[str]
    ) -> Framework:
        """What the framework computes. Of functions in files, tensors on the way are noted."""
        raise NotImplementedError

    # Calls.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self.function(*self._flat(args, kwargs))
        return self._shaped(list(given) if isinstance(given, tuple) else [given])

    def trace(self, *args: Any, **kwargs: Any) -> Dict[str, Any]:
        """Each tensor that a dispatch of a call leaves, by its name; see `Function.trace`."""
        return self.function.trace(*self._flat(args, kwargs))

    def activations(self, *args: Any, **kwargs: Any) -> "Trace":
        """Every tensor of a call that has a name in the source; see `Function.activations`."""
        return self.function.activations(*self._flat(args, kwargs))

    def check(self, *args: Any, **kwargs: Any) -> "Report":
        """Judges each dispatch of a call; see `Function.check`."""
        return self.function.check(*self._flat(args, kwargs))

    def repro(
        self,
        folder: Union[str, "os.PathLike[str]"],
        *args: Any,
        dispatch: Union[int, str],
        **kwargs: Any,
    ) -> str:
        """Writes a dispatch of a call as a folder; see `Function.repro`."""
        return self.function.repro(folder, *self._flat(args, kwargs), dispatch=dispatch)

    def against(
        self,
        reference: Any = None,
        *,
        rtol: float = 1e-4,
        atol: float = 1e-5,
        activations: bool = True,
    ) -> "Callable[..., Comparison]":
        """Compares with the framework: `model.against(f)(x)` calls both, and gives a `Comparison`.

        Args:
            reference: what to compare with; by default that which was compiled.
            rtol, atol: how far results may lie apart, as in `numpy.testing.assert_allclose`.
            activations: whether tensors that no dispatch leaves are compared, too; they are computed
                again for that.
        """

        def compare(*args: Any, **kwargs: Any) -> "Comparison":
            from ._comparison import Comparison
            from ._trace import trace

            flat = self._flat(args, kwargs)
            report = self.function.check(*flat)
            files = {str(row["file"]) for row in report.rows if row["file"]}
            framework = self._run_framework(reference, args, kwargs, files)
            ours = trace(self.function, flat, {})
            if activations:
                ours.tensors = self.function.activations(*flat).tensors
            return Comparison(framework, ours, report, rtol, atol)

        return compare

    def why(
        self,
        *args: Any,
        expected: Optional[Sequence[Any]] = None,
        folder: Union[str, "os.PathLike[str]", None] = None,
        **kwargs: Any,
    ) -> "Why":
        """Why the results of a call are not as expected: `iree-dbg why`, in a process of its own.

        It compiles the source once more, also for the other back end, and says which part is at
        fault: a dispatch, what is around them, or what they were made of.

        Args:
            expected: the results that are expected, in their order; by default those that the
                framework computes.
            folder: where the first wrong dispatch is left as a folder that IREE's own tools run.
        """
        from ._command_line import why

        if expected is None:
            framework = self._run_framework(None, args, kwargs, set())
            expected = [array for _, array in framework.results]
        flat = self._flat(args, kwargs)
        return why(self.function, self.source, self._made.flags, flat, expected, folder)

    # Stops.

    def breakpoint(
        self,
        file: Optional[str] = None,
        line: Optional[int] = None,
        callback: "Optional[Callable[[Stop], Any]]" = None,
        **options: Any,
    ) -> "Breakpoint":
        """See `Program.breakpoint`."""
        return self.program.breakpoint(file, line, callback, **options)

    def break_at(
        self, place: str, callback: "Optional[Callable[[Stop], Any]]" = None
    ) -> "Breakpoint":
        """The same at a place written as `model.py:14`, or as the name of a function."""
        return self.program.break_at(place, callback)

    def on_dispatch(
        self, callback: "Callable[[Dispatch], Any]", pattern: str = "*"
    ) -> "Breakpoint":
        """See `Program.on_dispatch`."""
        return self.program.on_dispatch(callback, pattern)

    def hook(self, pattern: str, function: "Callable[[str, Any], Any]") -> "Hook":
        """See `Program.hook`."""
        return self.program.hook(pattern, function)

    def walk(self, *args: Any, **kwargs: Any) -> "Walk":
        """A call that goes step by step, forward and back; see `Function.walk`."""
        from ._walk import Walk

        return Walk(self.function, self._flat(args, kwargs), {}, self._shaped)

    def tensors(self) -> Any:
        """See `Program.tensors`."""
        return self.program.tensors()

    def debug(self, port: int = 0, **options: Any) -> "Session":
        """See `Program.debug`."""
        return self.program.debug(port, **options)

    def close(self) -> None:
        """Ends the program, and removes its files unless their folder was named."""
        self.program.close()
        self._made.remove()

    def __enter__(self) -> "Compiled":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self.function}>"


def _main(program: Program) -> str:
    """The first function that waits for what it does: the others are twins of these."""
    names = list(program)
    return next((name for name in names if not name.endswith("$async")), names[0])


class Made:
    """The files of a compiled model."""

    def __init__(self, folder: Union[str, "os.PathLike[str]", None], name: str) -> None:
        self.folder = Path(folder or tempfile.mkdtemp(prefix="iree-dbg-")).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        # A temporary folder goes with this object.
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, True)
        if folder:
            self._remove.detach()
        self.source = self.folder / f"{name}.mlir"
        self.module = self.folder / f"{name}.vmfb"
        #: The function, if it is not the first.
        self.function: Optional[str] = None
        #: The flags that it was compiled with.
        self.flags: List[str] = []

    def compile(self, flags: Sequence[str]) -> None:
        """Compiles the source, for this processor if no flag says otherwise.

        Raises:
            iree_dbg.Error: what the compiler says.
        """
        target = [] if any(NAMES_TARGET.match(it) for it in flags) else list(TARGET)
        self.flags = [*target, *flags]
        ran = run(["compile", str(self.source), "-o", str(self.module), "--", *self.flags])
        if ran.returncode != 0:
            raise failed(ran)

    def remove(self) -> None:
        """Removes the folder, if it is a temporary one."""
        self._remove()
