"""Editors that attach to a program of this process."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from ._program import Program


class Session:
    """A port on which editors attach to a program, until `close()`."""

    def __init__(
        self,
        program: "Program",
        host: str,
        port: int,
        wait: bool,
        token: Union[str, bool, None],
        quiet: bool,
    ) -> None:
        self._program = program
        told = program._ask("serve", host=host, port=port, wait=wait, token=token)
        self._is_open = True
        #: Where it listens.
        self.host, self.port = str(told["host"]), int(told["port"])
        #: What an editor has to give.
        self.token = told["token"]
        if not quiet:
            print(f"debuggers can attach on {self.host}:{self.port}", file=sys.stderr)
            print(f"launch.json: {json.dumps(self.configuration)}", file=sys.stderr)
            if wait:
                print("the next call waits for one", file=sys.stderr, flush=True)

    @property
    def configuration(self) -> "dict[str, Any]":
        """What VS Code needs to attach, for its `launch.json`."""
        configuration = {
            "type": "iree",
            "request": "attach",
            "name": "Attach to Python",
            "host": self.host,
            "port": self.port,
        }
        return {**configuration, "token": self.token} if self.token else configuration

    def close(self) -> None:
        """Ends it. An editor that is attached hears that the program is over."""
        if not self._is_open:
            return
        self._is_open = False
        program = self._program
        if not program._close.alive:
            return
        program._ask("end serving")
        deadline = time.monotonic() + 10
        while program._ask("is served") and time.monotonic() < deadline:
            time.sleep(0.01)
        if not program._callbacks:
            program._ask("inspect", inspects=False)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self._is_open else " (closed)"
        return f"<iree_dbg.Session {self.host}:{self.port}{state}>"
