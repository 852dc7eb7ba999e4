"""Programs: opening them, calling their functions, and what they call in Python."""

from __future__ import annotations

import inspect
import os
import weakref
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from ._convert import Encoder, Plain, left_in, plain_text, plain_types, writable
from ._errors import Error
from ._library import LibraryError, library
from ._running import call, inside, run

if TYPE_CHECKING:
    from ._debug import Session
    from ._hooks import Hook
    from ._library import Given
    from ._report import Report
    from ._stops import Breakpoint, Dispatch, Stop
    from ._trace import Trace
    from ._walk import Walk

Path = Union[str, "os.PathLike[str]"]

#: The programs that were called since a test of pytest has begun.
called: "weakref.WeakSet[Program]" = weakref.WeakSet()

#: The programs that are open.
_open_programs: "weakref.WeakSet[Program]" = weakref.WeakSet()


def _after_fork() -> None:
    """Programs run on threads, which a child has none of."""
    for program in list(_open_programs):
        program._forked = True
        program._close.detach()
    _open_programs.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Program:
    """A program: one or more modules, linked and initialised.

    Its functions are attributes, `program.main(x)`; a function whose name is that of a method is
    an item, `program["debug"](x)`. Calls from several threads run one after the other.
    """

    def __init__(
        self, handle: int, described: Mapping[str, Any], imports: Sequence[Callable[..., Any]]
    ) -> None:
        self._handle = handle
        self._described = described
        self._imports = list(imports)
        self._exports = {str(it["name"]): it for it in described["exports"]}
        self._made: Dict[str, Tuple[inspect.Signature, str, Optional[List[Plain]]]] = {}
        self._callbacks: Dict[int, Callable[[Any], Any]] = {}
        self._last: Optional[Tuple[str, Tuple[Any, ...], Dict[str, Any]]] = None
        #: What it was opened with, and the modules among that which are bytes.
        self._opened: Tuple[Dict[str, Any], List[bytes]] = ({}, [])
        self._forked = False
        self._close = weakref.finalize(self, library().close, handle)

    @property
    def name(self) -> str:
        """The name of the module."""
        return str(self._described["name"])

    @property
    def functions(self) -> Mapping[str, "Function"]:
        """The functions that can be called, by name."""
        return {name: self[name] for name in self}

    @property
    def notes(self) -> List[str]:
        """What is missing in the debug information, and how to get it."""
        return list(self._described["notes"])

    def close(self) -> None:
        """Ends the program. A call that is under way fails, also if it stands still for an editor."""
        self._close()

    def _check_open(self) -> None:
        """Raises if the program can no longer be used here."""
        if self._forked:
            raise Error(
                "the program was opened before a fork, and what runs it is not in this process;"
                " open it again"
            )
        if not self._close.alive:
            raise Error("the program is closed")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a program runs in the process that has opened it, and cannot be pickled or copied;"
            " open it where it is used"
        )

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> "Function":
        exports = self.__dict__.get("_exports", {})
        if name not in exports:
            listed = ", ".join(exports) if exports else "none"
            raise AttributeError(f"the program has no function {name!r}; it has {listed}")
        return self[name]

    def __getitem__(self, name: str) -> "Function":
        return Function(self, self._exports[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._exports)

    def __contains__(self, name: object) -> bool:
        return name in self._exports

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._exports})

    def __repr__(self) -> str:
        lines = "".join(f"\n  {it}" for it in self.functions.values())
        return f"<iree_dbg.Program {self.name}:{lines}>"

    def _set(self, target: str, given: "Given", frame: int) -> None:
        """Sets all elements of what an expression names."""
        self._check_open()
        try:
            question = {"what": "set", "target": target, "frame": frame}
            library().ask(self._handle, question, [given])
        except LibraryError as error:
            raise Error(str(error)) from None

    def _ask(self, what: str, **question: Any) -> Any:
        self._check_open()
        try:
            return library().ask(self._handle, {"what": what, **question})
        except LibraryError as error:
            raise Error(str(error)) from None

    def _served(self) -> bool:
        return bool(self._ask("is served"))

    def verify(self) -> None:
        """Checks that the bytecode can be executed, as `iree-dbg verify`.

        Raises:
            Error: it cannot; the error says where, and why.
        """
        from ._command_line import asked

        asked(self, ["verify"])

    # Debugging; the work is done elsewhere.

    def breakpoint(
        self,
        file: Optional[str] = None,
        line: Optional[int] = None,
        callback: Optional[Callable[["Stop"], Any]] = None,
        *,
        column: Optional[int] = None,
        function: Optional[str] = None,
        condition: Optional[str] = None,
    ) -> "Breakpoint":
        """Calls `callback` with each stop at a line of the source, or where a function begins.

        The program stands still meanwhile: the stop has its frames and values. Without a callback
        the stop is printed. `condition` is an expression of the debugger, as `%i == 3`.
        """
        from . import _stops

        place = {"file": file, "line": line, "column": column, "function": function}
        return _stops.add(self, {**place, "condition": condition}, callback or _stops.show)

    def break_at(
        self, place: str, callback: Optional[Callable[["Stop"], Any]] = None
    ) -> "Breakpoint":
        """The same at a place written as `model.py:14`, or as the name of a function."""
        from . import _stops

        return self.breakpoint(callback=callback, **_stops.place_of(place))

    def on_dispatch(
        self, callback: Callable[["Dispatch"], Any], pattern: str = "*"
    ) -> "Breakpoint":
        """Calls `callback` with each dispatch that has run, and its tensors by their names.

        `pattern` chooses dispatches by name: `*` stands for any text. What is returned ends it by
        `remove()`, or as a context manager.
        """
        from . import _stops

        return _stops.add(self, {"dispatch": pattern}, callback)

    def hook(self, pattern: str, function: Callable[[str, Any], Any]) -> "Hook":
        """Calls `function(name, array)` for each tensor of a name that a dispatch leaves.

        What the function gives, unless that is None, takes the place of the tensor. It ends by
        `remove()`, or as a context manager.

        Args:
            pattern: names, in which `*` stands for any text: `scores`, `blocks.2.*`. Tensors have
                the names of the source, and those in the framework's layers, whose results have
                their names: `blocks.2`. What occurs again in a call is `x#2`, too.
        """
        from ._hooks import Hook

        return Hook(self, pattern, function)

    def tensors(self) -> Any:
        """The tensors that the dispatches leave, one row each: names, type, place, statistics.

        In the middle of a call, where a callback of this program runs, these are the tensors as
        they are now. Otherwise the last call is made again with the same arguments, and the row of
        a tensor is that of the moment when its dispatch has run; a function that changes the state
        of the program, or calls Python, changes it again. The rows are a `pandas.DataFrame` if
        pandas is installed, and a list of dictionaries if it is not.
        """
        from . import _stops

        return _stops.tensors(self)

    def debug(
        self,
        port: int = 0,
        *,
        host: str = "127.0.0.1",
        wait: bool = True,
        token: Union[str, bool, None] = None,
        quiet: bool = False,
    ) -> "Session":
        """Lets an editor attach to this program, over the Debug Adapter Protocol.

        The address, the token and what VS Code needs to attach are printed. With `wait`, the next
        call begins when an editor has attached and set its breakpoints. It ends with `close()`, or
        as a context manager: `with program.debug(port=5678): program.main(x)`.

        Args:
            port: where to listen; 0 takes any free port.
            token: what the editor has to give; by default a random text. False asks for none, so
                that any program of this machine can attach.
        """
        from ._debug import Session

        return Session(self, host, port, wait, token, quiet)


class Function:
    """A function of a program. `inspect.signature` and `help` know what it takes and gives."""

    def __init__(self, program: Program, described: Mapping[str, Any]) -> None:
        self._program = program
        self._described = described
        self.__name__ = self.__qualname__ = str(described["name"])
        self.__module__ = program.name
        known = program._made.get(self.__name__)
        if known is None:
            plain = plain_types(described["arguments"])
            known = (_signature(described), _documentation(described), plain)
            program._made[self.__name__] = known
        self.__signature__, self.__doc__, self._plain = known

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Calls it. `out` is an array, or several, in which the results are left; they are of the
        same elements and shapes, and are what is given."""
        if out is not None and "out" in self.__signature__.parameters:
            kwargs, out = {**kwargs, "out": out}, None
        program = self._program
        program._check_open()
        program._last = (self.__name__, args, kwargs)
        called.add(program)
        given = self._call(program, args, kwargs)
        return given if out is None else left_in(out, given)

    def _call(self, program: Program, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        tensors: List["Given"] = []
        outputs: Dict[int, Any] = {}
        plain, text = self._plain, None
        if plain is not None and not kwargs and len(args) == len(plain):
            text = plain_text(args, plain, tensors)
        if text is None:
            values = self._bind(args, kwargs)
            slots = self._described["arguments"]
            if any(it.get("output") is not None for it in slots):
                outputs = writable(values, slots, "args")
            encoder = Encoder()
            text = encoder.text(values, [it["type"] for it in slots], "args")
            tensors = encoder.given
        parent = next((ticket for of, ticket in reversed(inside()) if of is program), 0)
        try:
            given = call(program, self.__name__, parent, text, tensors)
        except LibraryError as error:
            raise _argument_error(str(error)) from None
        for result, array in outputs.items():
            if array.shape != given[result].shape:
                raise ValueError(
                    f"{self.__name__}: result {result} has the shape {given[result].shape}, so it"
                    f" cannot be left in an array of shape {array.shape}"
                )
            array[...] = given[result]
        if len(given) == 1:
            return given[0]
        return tuple(given) if given else None

    def _bind(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[Any]:
        """All arguments by position, as the ABI has them."""
        slots = self._described["arguments"]
        if not kwargs and len(args) == len(slots):
            return list(args)
        try:
            unknown = [name for name in kwargs if name not in self.__signature__.parameters]
            if unknown:
                raise TypeError(f"got an unexpected keyword argument '{unknown[0]}'")
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}; it takes {self.__signature__}") from None
        bound.apply_defaults()
        return list(bound.arguments.values())

    def trace(self, *args: Any, **kwargs: Any) -> Dict[str, Any]:
        """Calls the function, and gives each tensor that a dispatch has left, by its name.

        A name that occurs again, as in a layer that is called several times, is `x#2`, `x#3`, in
        the order of the dispatches. What has no name in the source has that of its dispatch.
        """
        from ._trace import trace

        return trace(self, args, kwargs).by_name()

    def activations(self, *args: Any, **kwargs: Any) -> "Trace":
        """Every tensor of a call that has a name in the source, once.

        Where no dispatch leaves one, the debugger computes it again in float64 from tensors that are
        there, with a bound of its rounding: column `recomputed` of the table that this prints. That
        is `iree-dbg tensors --all`, in a process of its own.
        """
        from ._trace import activations

        return activations(self, args, kwargs)

    def check(self, *args: Any, **kwargs: Any) -> "Report":
        """Judges each dispatch of a call: what it leaves against what its own text means.

        That is `iree-dbg diff --reference`, in a process of its own.
        """
        from ._command_line import json_of, on_call
        from ._report import Report

        return Report(json_of(on_call(self, args, kwargs, ["diff", "--reference", "--json"])))

    def repro(self, folder: Path, *args: Any, dispatch: Union[int, str], **kwargs: Any) -> str:
        """Writes a dispatch of a call as a folder that IREE's own tools compile and run again.

        Args:
            dispatch: the number of its command in the run, its name, or a pattern of names.
        """
        from ._command_line import failed, on_call

        target = os.path.abspath(os.fspath(folder))
        ran = on_call(self, args, kwargs, ["repro", f"--dispatch={dispatch}", f"-o={target}"])
        if not os.path.isdir(target):
            raise failed(ran)
        return target

    def diff(self, other: Path, *args: Any, **kwargs: Any) -> "Report":
        """Compares a call with that of another module, dispatch by dispatch; or, of an ONNX model,
        with what ONNX Runtime computes. That is `iree-dbg diff MODULE OTHER`."""
        from ._command_line import json_of, on_two
        from ._report import Report

        return Report(json_of(on_two(self, os.fspath(other), args, kwargs, ["diff", "--json"])))

    def record(self, path: Path, *args: Any, **kwargs: Any) -> str:
        """Records a call in a file, in which `iree-dbg debug FILE` and editors go back."""
        from ._command_line import failed, on_call

        target = os.path.abspath(os.fspath(path))
        ran = on_call(self, args, kwargs, ["run", f"--record={target}"], has_sources=False)
        if ran.returncode != 0:
            raise failed(ran)
        return target

    def walk(self, *args: Any, **kwargs: Any) -> "Walk":
        """A call that stands at its first line, and goes step by step, forward and back.

        >>> with program.main.walk(x) as walk:
        ...     walk.break_at("model.py:14")
        ...     walk.run().locals["scores"]
        ...     walk.who_wrote("scores[0, 2]")
        """
        from ._walk import Walk

        return Walk(self, args, kwargs)

    def abi(self) -> str:
        """Its signature in all conventions, and how to call it: `iree-dbg abi explain`."""
        from ._command_line import asked

        return asked(self._program, ["abi", "explain"], f":{self.__name__}")

    @property
    def asynchronous(self) -> bool:
        """Whether the function has fences, which a call signals and waits for."""
        return bool(self._described["asynchronous"])

    def __repr__(self) -> str:
        return f"{self.__name__}{self._described['text']}"


def _signature(described: Mapping[str, Any]) -> inspect.Signature:
    parameters: List[inspect.Parameter] = []
    taken = set()
    for index, slot in enumerate(described["arguments"]):
        name = slot["name"] or f"arg{index}"
        kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if not name.isidentifier() or name in taken:
            name = f"arg{index}"
        taken.add(name)
        is_optional = slot["type"]["kind"] == "optional"
        before = parameters[-1].default if parameters else inspect.Parameter.empty
        if before is not inspect.Parameter.empty and not is_optional:
            kind = inspect.Parameter.KEYWORD_ONLY
        if parameters and parameters[-1].kind is inspect.Parameter.KEYWORD_ONLY:
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(
            inspect.Parameter(
                name,
                kind,
                default=None if is_optional else inspect.Parameter.empty,
                annotation=slot["type"]["text"],
            )
        )
    gives = [it["text"] for it in described["results"]]
    result = gives[0] if len(gives) == 1 else f"({', '.join(gives)})" if gives else None
    return inspect.Signature(parameters, return_annotation=result)


def _documentation(described: Mapping[str, Any]) -> str:
    lines = [f"{described['name']}{described['text']}", ""]
    if described["declaration"]:
        lines += [f"Declared as `{described['declaration']}`.", ""]
    if described["asynchronous"]:
        lines += ["It takes fences besides, which a call signals and waits for.", ""]
    lines += ["Tensors are NumPy arrays; anything with DLPack or `__array__` is taken, too."]
    return "\n".join(lines)


def _argument_error(text: str) -> Exception:
    """What does not fit a function: an error of types, or of values."""
    text = text[len("INVALID_ARGUMENT; ") :] if text.startswith("INVALID_ARGUMENT; ") else text
    # Elements were converted already, so a tensor that does not fit has another shape.
    is_value = "does not fit" in text or "got a tensor" in text
    return ValueError(text) if is_value else TypeError(text)


def open(
    module: Union[Path, bytes, Sequence[Union[Path, bytes]]],
    *,
    parameters: Optional[Mapping[str, Any]] = None,
    imports: Optional[Mapping[str, Callable[..., Any]]] = None,
    device: Union[str, Sequence[str]] = "local-sync",
    threads: int = 0,
    max_steps: Optional[int] = None,
    max_time: Union[str, float, None] = None,
    max_memory: Union[str, int, None] = None,
    max_call_depth: Optional[int] = None,
    native: bool = True,
    sandbox: bool = False,
    guard: bool = False,
    sources: Sequence[Path] = (),
    debug_directory: Optional[Path] = None,
) -> Program:
    """Opens a program, and runs its initialisers.

    Args:
        module: the path of a `.vmfb`, or its bytes; of several, each may import from those before
            it, and the functions of the last one are called.
        parameters: by scope, the path of an archive (`.irpa`, `.gguf`, `.safetensors`), several
            paths, or a dictionary of arrays by name. Where the type of a parameter is known, from
            the debug file or the source, arrays are converted to it as arguments are; bytes are
            taken as they are.
        imports: functions of Python that the program calls, by `"module.function"`. Their
            exceptions come out of the call as they are; they may call the program again.
        device: what the program sees: `local-sync` (one thread), `local-task` (all cores), or
            `vulkan` (`vulkan://1`, `vulkan://GPU-…`: a device of Vulkan).
        threads: how many threads `local-task` runs on; 0 means one per core.
        max_steps: how many calls and backward jumps a call may make.
        max_time: how long a call may run, in seconds or as `"500ms"`.
        max_memory: how much memory the program may take, in bytes or as `"512MiB"`.
        max_call_depth: how deeply calls may nest.
        native: whether machine code runs, or only bytecode.
        sandbox: whether machine code runs in a process of its own, which has the program's buffers
            and can only compute, for modules that others have sent. On Linux on x86-64.
        guard: whether an access after the end of a buffer fails where it happens.
        sources: directories to search for sources, besides those of the modules.
        debug_directory: the directory of debug files that do not lie beside their modules.

    Raises:
        Error: if the program cannot be loaded, or an initialiser fails.
    """
    from ._command_line import program_path
    from ._parameters import archives

    given = [module] if isinstance(module, (str, bytes, os.PathLike)) else list(module)
    memory = [bytes(it) for it in given if isinstance(it, (bytes, bytearray, memoryview))]
    modules: List[Dict[str, Any]] = []
    directories = [os.fspath(it) for it in sources]
    for it in given:
        if isinstance(it, (bytes, bytearray, memoryview)):
            index = sum("memory" in other for other in modules)
            modules.append({"memory": index, "name": "module"})
        else:
            path = os.path.abspath(os.fspath(it))
            modules.append({"path": path})
            directories.append(os.path.dirname(path))
    directories.append(os.getcwd())
    imports = dict(imports or {})
    seconds = f"{max_time}s" if isinstance(max_time, (int, float)) else max_time
    debug_files = None if debug_directory is None else os.fspath(debug_directory)
    places = {
        "modules": modules,
        "source_directories": directories,
        "debug_directory": debug_files,
    }

    def types() -> Any:
        try:
            return library().parameter_types(places, memory)
        except LibraryError as error:
            raise Error(str(error)) from None

    with archives(parameters or {}, types) as opened:
        options = {
            **places,
            "parameters": opened,
            "imports": list(imports),
            "devices": [device] if isinstance(device, str) else list(device),
            "threads": threads,
            "max_steps": max_steps,
            "max_time": seconds,
            "max_memory": None if max_memory is None else str(max_memory),
            "max_call_depth": max_call_depth,
            "native": native,
            "sandbox": program_path() if sandbox else None,
            "guard": guard,
        }
        try:
            opened_program = library().open(options, memory)
        except LibraryError as error:
            raise Error(str(error)) from None
    program = Program(
        opened_program["program"], opened_program["described"], list(imports.values())
    )
    program._opened = options, memory
    run(program, opened_program["call"], 0)
    _open_programs.add(program)
    from . import _stops

    _stops.opened(program)
    return program
