"""The program `iree-dbg`, run on a call of a program: what only the command line does."""

from __future__ import annotations

import html
import json
import math
import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from ._binary import find_binary
from ._convert import _ELEMENTS, _array_of, _as_array, _is_tensor
from ._errors import Error

if TYPE_CHECKING:
    from ._program import Function, Program

#: The environment variable that names another program, for those who build it.
VARIABLE = "IREE_DBG"


def program_path() -> str:
    """The path of `iree-dbg`."""
    return os.environ.get(VARIABLE) or find_binary()


def run(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Runs `iree-dbg` until it ends."""
    return subprocess.run(
        [program_path(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def on_call(
    function: "Function",
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    command: Sequence[str],
    has_sources: bool = True,
) -> "subprocess.CompletedProcess[str]":
    """Runs a command of `iree-dbg` on a call of a function of a program. Commands that read no
    sources take no folders of them.

    The program is loaded anew in a process of its own: its globals are those that its initialisers
    leave, not those that earlier calls have left.

    Raises:
        Error: what the program was opened with cannot be given to another process.
    """
    with tempfile.TemporaryDirectory(prefix="iree-dbg-") as folder:
        places = _program(function._program, folder)
        if not has_sources:
            places = [it for it in places if not it.startswith("--directory=")]
        values = inputs(function, function._bind(tuple(args), dict(kwargs)), folder)
        return run([*command, *places, f"--function={function.__name__}", *values])


def on_two(
    function: "Function",
    other: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    command: Sequence[str],
) -> "subprocess.CompletedProcess[str]":
    """The same, of a command that takes two files, for a program of one module."""
    if len(function._program._opened[0]["modules"]) != 1:
        raise Error("a program of several modules cannot be compared with another file")
    with tempfile.TemporaryDirectory(prefix="iree-dbg-") as folder:
        module, *places = _program(function._program, folder)
        values = inputs(function, function._bind(tuple(args), dict(kwargs)), folder)
        files = [module[len("--module=") :], os.path.abspath(other)]
        name = f"--function={function.__name__}"
        return run([*command, *places, name, *values, *files])


class Why:
    """What `iree-dbg why` says of a call."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        #: All of it, as the schema `why` of the command line describes it.
        self.told = told
        #: Whether the results are as expected.
        self.as_expected = bool(told["as_expected"])
        #: A word for what is at fault; None if nothing is.
        self.cause: Optional[str] = told["cause"]
        #: The folder of the first wrong dispatch, if one was left.
        self.repro: Optional[str] = told["repro"]

    def __str__(self) -> str:
        return str(self.told["explanation"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"


def why(
    function: "Function",
    source: "os.PathLike[str]",
    compiler: Sequence[str],
    values: Sequence[Any],
    expected: Sequence[Any],
    target: "Union[str, os.PathLike[str], None]",
) -> Why:
    """Compiles a source and calls its function, and asks why the results are not as expected."""
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="iree-dbg-") as folder:
        flags = _parameters_and_limits(function._program)
        for number, array in enumerate(expected):
            path = os.path.join(folder, f"expected{number}.npy")
            np.save(path, np.asarray(array))
            flags.append(f"--expect={path}")
        flags += inputs(function, values, folder)
        flags += [] if target is None else [f"--output={os.path.abspath(target)}"]
        command = ["why", os.fspath(source), "--json", f"--function={function.__name__}"]
        return Why(json_of(run([*command, *flags, "--", *compiler])))


def asked(program: "Program", command: Sequence[str], of: str = "") -> str:
    """What a command prints of the module of a program; `of` follows its name.

    Raises:
        Error: what the command says instead.
    """
    given, memory = program._opened
    with tempfile.TemporaryDirectory(prefix="iree-dbg-") as folder:
        path = _module(given["modules"][-1], memory, os.path.join(folder, "module.vmfb"))
        ran = run([*command, path + of])
    if ran.returncode != 0:
        raise failed(ran)
    return ran.stdout


def json_of(ran: "subprocess.CompletedProcess[str]") -> Dict[str, Any]:
    """The object that a command has printed.

    Raises:
        Error: it has printed none; the error is what it says instead.
    """
    if ran.stdout.startswith("{"):
        told: Dict[str, Any] = json.loads(ran.stdout)
        return told
    raise failed(ran)


def failed(ran: "subprocess.CompletedProcess[str]") -> Error:
    """What a command says of its failure."""
    said = ran.stderr.strip() or ran.stdout.strip() or f"iree-dbg ended with {ran.returncode}"
    return Error(said.removeprefix("error: ") if hasattr(str, "removeprefix") else said)


def _module(module: Mapping[str, Any], memory: Sequence[bytes], path: str) -> str:
    """The path of a module; of one that is bytes, the path that it is written to."""
    if module.get("path") is not None:
        return str(module["path"])
    with open(path, "wb") as file:
        file.write(memory[module["memory"]])
    return path


def _program(program: "Program", folder: str) -> List[str]:
    """The flags that open a program once more."""
    given, memory = program._opened
    flags: List[str] = []
    for number, module in enumerate(given["modules"]):
        path = _module(module, memory, os.path.join(folder, f"module{number}.vmfb"))
        flags.append(f"--module={path}")
    if given["debug_directory"] is not None:
        flags.append(f"--debug-directory={given['debug_directory']}")
    return flags + _parameters_and_limits(program)


def _parameters_and_limits(program: "Program") -> List[str]:
    """The flags of what a program was opened with, besides its modules."""
    given, _ = program._opened
    if given["imports"]:
        raise Error("the program calls functions of Python, which only this process can run")
    flags: List[str] = []
    for archive in given["parameters"]:
        if not os.path.exists(archive.partition("=")[2] or archive):
            raise Error("the program's parameters were arrays; give them as files for this")
        flags.append(f"--parameters={archive}")
    flags += [f"--device={device}" for device in given["devices"]]
    flags += [f"--directory={directory}" for directory in given["source_directories"]]
    if given["threads"]:
        flags.append(f"--task_topology_group_count={given['threads']}")
    limits = ("max_steps", "max_time", "max_memory", "max_call_depth")
    flags += [f"--{name}={given[name]}" for name in limits if given[name] is not None]
    flags += [] if given["native"] else ["--no-native"]
    flags += ["--sandbox=on"] if given["sandbox"] else []
    flags += ["--guard"] if given["guard"] else []
    return flags


def inputs(function: "Function", values: Sequence[Any], folder: str) -> List[str]:
    """The arguments of a call as flags, and their elements in files."""
    import numpy as np

    slots = function._described["arguments"]
    flags: List[str] = []
    for number, (value, slot) in enumerate(zip(values, slots)):
        wanted, place = slot["type"], f"args[{number}]"
        if value is None:
            flags.append("--input=(null)")
            continue
        if wanted["kind"] == "scalar":
            number_of = value.item() if hasattr(value, "item") else value
            text = repr(float(number_of)) if isinstance(number_of, float) else str(int(number_of))
            if isinstance(number_of, float) and not math.isfinite(number_of):
                text = str(number_of)
            flags.append(f"--input={text}")
            continue
        if wanted["kind"] == "array" and wanted["element"] is not None:
            array = _as_array(value, wanted, place)
        elif _is_tensor(value):
            array = _array_of(value)
        else:
            raise Error(f"{place}: {wanted['text']} cannot be given to another process")
        # NumPy's files have no `bfloat16`, nor smaller floats.
        if array.dtype.name in _ELEMENTS and not array.dtype.isbuiltin:
            path = os.path.join(folder, f"input{number}.bin")
            array.tofile(path)
            shape = "".join(f"{size}x" for size in array.shape)
            flags.append(f"--input={shape}{_ELEMENTS[array.dtype.name]}=@{path}")
        else:
            path = os.path.join(folder, f"input{number}.npy")
            np.save(path, array)
            flags.append(f"--input=@{path}")
    return flags
