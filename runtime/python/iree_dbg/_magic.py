"""The magic `%iree_debug` of IPython and notebooks."""

from __future__ import annotations

import shlex
from typing import Any, Dict

from ._debug import Session
from ._program import Program

_USAGE = (
    "usage: %iree_debug PROGRAM [--port PORT] [--no-wait] [--no-token],"
    " or %iree_debug PROGRAM stop"
)

#: The sessions that the magic has begun, by program.
_sessions: Dict[int, Session] = {}


def register(shell: Any) -> None:
    """Adds the magic to a shell of IPython."""

    def iree_debug(line: str) -> Any:
        """`%iree_debug PROGRAM [--port PORT] [--no-wait] [--no-token]`: lets an editor attach.

        The next call waits until it has. `%iree_debug PROGRAM stop` ends that.
        """
        return run(shell, line)

    shell.register_magic_function(iree_debug, "line", "iree_debug")


def run(shell: Any, line: str) -> Any:
    words = shlex.split(line)
    if not words:
        print(_USAGE)
        return None
    program = shell.user_ns.get(words[0])
    if not isinstance(program, Program):
        raise ValueError(f"{words[0]} is no program of iree_dbg.open; {_USAGE}")
    if words[1:] == ["stop"]:
        session = _sessions.pop(id(program), None)
        if session is not None:
            session.close()
        return None
    port, wait, token = 0, True, None
    rest = iter(words[1:])
    for word in rest:
        if word == "--port":
            port = int(next(rest, "x"))
        elif word == "--no-wait":
            wait = False
        elif word == "--no-token":
            token = False
        else:
            raise ValueError(f"{word} is not understood; {_USAGE}")
    earlier = _sessions.pop(id(program), None)
    if earlier is not None:
        earlier.close()
    _sessions[id(program)] = program.debug(port, wait=wait, token=token)
    return _sessions[id(program)]
