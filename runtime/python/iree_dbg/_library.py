"""The native library: its C functions, and the memory that they share with Python.

Nothing here knows what a program is. The library never calls Python: a thread waits for messages,
at most some milliseconds at a time, so that signals such as Ctrl-C are handled between two waits.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

from ._binary import find_library

#: The environment variable that names another library, for those who build it.
VARIABLE = "IREE_DBG_PYTHON_LIBRARY"

#: The longest wait for a message, in milliseconds: how late Ctrl-C may be heard.
WAIT = 50


class _Text(ctypes.Structure):
    """A text for the library. The structure keeps the bytes alive."""

    _fields_ = [("data", ctypes.c_char_p), ("length", ctypes.c_size_t)]


class _Memory(ctypes.Structure):
    """The same by its address: elements for the library, or a text of its own."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _Tensor(ctypes.Structure):
    _fields_ = [("tensor_type", _Text), ("elements", _Memory)]


class LibraryError(Exception):
    """What the library could not do, as it says it."""


#: A tensor for the library: its type as `2x3xf32`, the address and the length of its dense
#: elements, and what keeps them alive.
Given = Tuple[str, int, int, Any]


class Library:
    """The C functions, as Python functions over JSON."""

    _open: Callable[..., _Memory]
    _parameter_types: Callable[..., _Memory]
    _close: Callable[..., None]
    _call: Callable[..., _Memory]
    _wait: Callable[..., _Memory]
    _answer: Callable[..., _Memory]
    _raise: Callable[..., None]
    _cancel: Callable[..., None]
    _release_call: Callable[..., None]
    _ask: Callable[..., _Memory]
    _release_text: Callable[..., None]
    _release_tensor: Callable[..., None]
    _walk: Callable[..., _Memory]
    _walk_ask: Callable[..., _Memory]
    _walk_wait: Callable[..., _Memory]
    _walk_pause: Callable[..., None]
    _release_walk: Callable[..., None]

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        text, told, handle = _Text, _Memory, ctypes.c_size_t
        tensors = [ctypes.POINTER(_Tensor), ctypes.c_size_t]
        signatures: Dict[str, Tuple[Any, List[Any]]] = {
            "open": (told, [text, ctypes.POINTER(_Text), ctypes.c_size_t]),
            "parameter_types": (told, [text, ctypes.POINTER(_Text), ctypes.c_size_t]),
            "close": (None, [handle]),
            "call": (
                told,
                [handle, text, ctypes.c_uint64, text, *tensors, ctypes.POINTER(handle)],
            ),
            "wait": (told, [handle, ctypes.c_uint64]),
            "answer": (told, [handle, text, *tensors]),
            "raise": (None, [handle, text]),
            "cancel": (None, [handle]),
            "release_call": (None, [handle]),
            "ask": (told, [handle, text, *tensors]),
            "release_text": (None, [told]),
            "release_tensor": (None, [handle]),
            "walk": (told, [text, ctypes.POINTER(_Text), ctypes.c_size_t]),
            "walk_ask": (told, [handle, text, *tensors]),
            "walk_wait": (told, [handle, ctypes.c_uint64]),
            "walk_pause": (None, [handle]),
            "release_walk": (None, [handle]),
        }
        for name, (result, arguments) in signatures.items():
            function = getattr(library, f"iree_dbg_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, f"_{name}", function)

    def open(self, options: Dict[str, Any], memory: Sequence[bytes]) -> Any:
        return self._take(self._open(_json(options), *_texts(memory)))

    def parameter_types(self, options: Dict[str, Any], memory: Sequence[bytes]) -> Any:
        """The types that modules take their parameters for, by scope and name."""
        return self._take(self._parameter_types(_json(options), *_texts(memory)))["types"]

    def close(self, program: int) -> None:
        self._close(program)

    def call(
        self,
        program: int,
        name: str,
        parent: int,
        arguments: str,
        given: Sequence[Given],
        ongoing: "ctypes.c_size_t",
    ) -> Any:
        """Begins a call, and runs it for a moment. `said` of what is given is its first message, or
        None. If the call goes on after that, `ongoing` has its handle, even if an exception
        interrupts this."""
        return self._take(
            self._call(
                program,
                _text(name.encode()),
                parent,
                _text(arguments.encode()),
                *_tensors(given),
                ctypes.byref(ongoing),
            )
        )

    def wait(self, call: int) -> Any:
        """The next message of a call; None if there is none yet."""
        return self._heard(self._wait(call, WAIT))

    def answer(self, call: int, results: str, given: Sequence[Given]) -> None:
        self._take(self._answer(call, _text(results.encode()), *_tensors(given)))

    def raise_(self, call: int, text: str) -> None:
        self._raise(call, _text(text.encode(errors="replace")))

    def cancel(self, call: int) -> None:
        self._cancel(call)

    def release_call(self, call: int) -> None:
        self._release_call(call)

    def ask(
        self, program: int, question: Dict[str, Any], given: Sequence[Given] = ()
    ) -> Any:
        return self._take(self._ask(program, _json(question), *_tensors(given)))

    def release_tensor(self, handle: int) -> None:
        self._release_tensor(handle)

    def walk(self, options: Dict[str, Any], memory: Sequence[bytes]) -> Any:
        return self._take(self._walk(_json(options), *_texts(memory)))

    def walk_ask(self, walk: int, question: Dict[str, Any], given: Sequence[Given]) -> None:
        self._take(self._walk_ask(walk, _json(question), *_tensors(given)))

    def walk_wait(self, walk: int) -> Any:
        """What has the answer to what a walk was asked; None if there is none yet."""
        return self._heard(self._walk_wait(walk, WAIT))

    def walk_pause(self, walk: int) -> None:
        self._walk_pause(walk)

    def release_walk(self, walk: int) -> None:
        self._release_walk(walk)

    def _heard(self, text: _Memory) -> Any:
        return None if not text.data else self._take(text)

    def _take(self, text: _Memory) -> Any:
        """What a text of the library says; releases it."""
        try:
            said = json.loads(ctypes.string_at(text.data, text.length).decode())
        finally:
            self._release_text(text)
        if isinstance(said, dict) and said.get("kind") == "error":
            raise LibraryError(said["message"])
        return said


def _text(text: bytes) -> _Text:
    return _Text(text, len(text))


def _texts(memory: Sequence[bytes]) -> Tuple[Any, int]:
    return (_Text * len(memory))(*[_text(it) for it in memory]), len(memory)


def _json(value: Any) -> _Text:
    return _text(json.dumps(value).encode())


def _tensors(given: Sequence[Given]) -> Tuple[Any, int]:
    if not given:
        return None, 0
    tensors = [
        _Tensor(_text(tensor_type.encode()), _Memory(address, length))
        for tensor_type, address, length, _ in given
    ]
    return (_Tensor * len(given))(*tensors), len(given)


_lock = threading.Lock()
_loaded: List[Library] = []


def library() -> Library:
    """The library of this installation, loaded once."""
    with _lock:
        if not _loaded:
            _loaded.append(Library(_path()))
        return _loaded[0]


_NAMES = ("libiree_dbg_python.so", "libiree_dbg_python.dylib", "iree_dbg_python.dll")


def _path() -> str:
    named = os.environ.get(VARIABLE)
    if named:
        return named
    try:
        return find_library("iree-dbg-python")
    except FileNotFoundError:
        # A clone of the repository, in which `cargo build -p iree-dbg-python` was run.
        root = Path(__file__).resolve().parents[3]
        for profile in "release", "fast", "debug":
            for name in _NAMES:
                built = root / "target" / profile / name
                if built.is_file():
                    return str(built)
        raise
