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
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _Tensor(ctypes.Structure):
    _fields_ = [("tensor_type", _Text), ("elements", _Text)]


class LibraryError(Exception):
    """What the library could not do, as it says it."""


#: A tensor for the library: its type as `2x3xf32`, the address and the length of its dense
#: elements, and what keeps them alive.
Given = Tuple[str, int, int, Any]


class Library:
    """The C functions, as Python functions over JSON."""

    _open: Callable[..., _Text]
    _parameter_types: Callable[..., _Text]
    _close: Callable[..., None]
    _begin: Callable[..., _Text]
    _wait: Callable[..., _Text]
    _answer: Callable[..., _Text]
    _raise: Callable[..., None]
    _cancel: Callable[..., None]
    _release_call: Callable[..., None]
    _ask: Callable[..., _Text]
    _release_text: Callable[..., None]
    _release_tensor: Callable[..., None]
    _walk: Callable[..., _Text]
    _walk_ask: Callable[..., _Text]
    _walk_wait: Callable[..., _Text]
    _walk_pause: Callable[..., None]
    _release_walk: Callable[..., None]

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        text, handle = _Text, ctypes.c_size_t
        tensors = [ctypes.POINTER(_Tensor), ctypes.c_size_t]
        signatures: Dict[str, Tuple[Any, List[Any]]] = {
            "open": (text, [text, ctypes.POINTER(_Text), ctypes.c_size_t]),
            "parameter_types": (text, [text, ctypes.POINTER(_Text), ctypes.c_size_t]),
            "close": (None, [handle]),
            "begin": (text, [handle, text, ctypes.c_uint64, text, *tensors]),
            "wait": (text, [handle, ctypes.c_uint64]),
            "answer": (text, [handle, text, *tensors]),
            "raise": (None, [handle, text]),
            "cancel": (None, [handle]),
            "release_call": (None, [handle]),
            "ask": (text, [handle, text, *tensors]),
            "release_text": (None, [text]),
            "release_tensor": (None, [handle]),
            "walk": (text, [text, ctypes.POINTER(_Text), ctypes.c_size_t]),
            "walk_ask": (text, [handle, text, *tensors]),
            "walk_wait": (text, [handle, ctypes.c_uint64]),
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

    def begin(
        self, program: int, name: str, parent: int, arguments: str, given: Sequence[Given]
    ) -> Any:
        return self._take(
            self._begin(
                program, _text(name.encode()), parent, _text(arguments.encode()), *_tensors(given)
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

    def _heard(self, text: _Text) -> Any:
        return None if not text.data else self._take(text)

    def _take(self, text: _Text) -> Any:
        """What a text of the library says; releases it."""
        try:
            said = json.loads(ctypes.string_at(text.data, text.length))
        finally:
            self._release_text(text)
        if isinstance(said, dict) and said.get("kind") == "error":
            raise LibraryError(said["message"])
        return said


def _text(text: bytes) -> _Text:
    # The structure keeps the bytes alive through `_objects`, as casts of ctypes do.
    pointer = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p)
    made = _Text(pointer.value, len(text))
    made.keeper = (text, pointer)
    return made


def _texts(memory: Sequence[bytes]) -> Tuple[Any, int]:
    return (_Text * len(memory))(*[_text(it) for it in memory]), len(memory)


def _json(value: Any) -> _Text:
    return _text(json.dumps(value).encode())


def _tensors(given: Sequence[Given]) -> Tuple[Any, int]:
    array = (_Tensor * len(given))()
    keepers = []
    for slot, (tensor_type, address, length, _) in zip(array, given):
        name = _text(tensor_type.encode())
        keepers.append(name)
        slot.tensor_type = name
        slot.elements = _Text(address, length)
    setattr(array, "keepers", keepers)
    return array, len(given)


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
