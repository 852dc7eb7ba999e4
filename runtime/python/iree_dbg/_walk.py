"""Walks: a call that runs step by step, forward and back."""

from __future__ import annotations

import os
import sys
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence

from ._command_line import inputs
from ._convert import results
from ._errors import Error
from ._library import LibraryError, library
from ._stops import Stop, place_of

if TYPE_CHECKING:
    from ._library import Given
    from ._program import Function


class Walk(Stop):
    """A call that stands where it was told to go; it goes on when it is told to, or back.

    It runs in a program of its own, which other calls do not see. Each move gives the walk itself,
    whose frames and values are those of where it stands then. It ends by `close()`, or as a context
    manager.
    """

    def __init__(
        self,
        function: "Function",
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        shaped: Optional[Callable[[List[Any]], Any]] = None,
    ) -> None:
        program = function._program
        options, memory = program._opened
        if options["imports"]:
            raise Error("the program calls functions of Python; breakpoints stop it among these")
        self._shaped = shaped or (lambda found: found[0] if len(found) == 1 else tuple(found))
        #: Why it stands where it stands, as the debugger says it.
        self.reason = ""
        #: A word for that: `entry`, `breakpoint`, `step`, `found`, `begin`, `failed`, `over`, …
        self.kind = ""
        #: What the function has given, once it is over; else None.
        self.results: Any = None
        with tempfile.TemporaryDirectory(prefix="iree-dbg-") as folder:
            flags = inputs(function, function._bind(tuple(args), dict(kwargs)), folder)
            given = {
                "function": function.__name__,
                "inputs": [it[len("--input=") :] for it in flags],
            }
            try:
                handle = int(library().walk({**options, **given}, memory)["walk"])
            except LibraryError as error:
                raise Error(str(error)) from None
            self._handle, self._process = handle, os.getpid()
            self._close = weakref.finalize(self, library().release_walk, handle)
            # The files are read until it stands.
            said = self._wait()
        super().__init__(program, said)
        self._stands(said)

    # Moves.

    def run(self) -> "Walk":
        """Runs until something stops it: a breakpoint, a failure, its end."""
        return self._move("run")

    def next(self) -> "Walk":
        """To the next line, over calls."""
        return self._move("next")

    def step(self) -> "Walk":
        """To the next line, into calls."""
        return self._move("step")

    def finish(self) -> "Walk":
        """Until the function has returned."""
        return self._move("finish")

    def reverse_run(self) -> "Walk":
        """Back to where something would have stopped it, or to its beginning."""
        return self._move("reverse run")

    def reverse_next(self) -> "Walk":
        """Back to the line before, over calls: what editors call a step back."""
        return self._move("reverse next")

    step_back = reverse_next

    def reverse_step(self) -> "Walk":
        """Back to the line before, into calls."""
        return self._move("reverse step")

    def reverse_finish(self) -> "Walk":
        """Back to before the call of the function."""
        return self._move("reverse finish")

    def to_start(self) -> "Walk":
        """Back to its beginning."""
        return self._move("start")

    def who_wrote(self, expression: str, frame: int = 0) -> "Walk":
        """Back to before what has last written a value: `scores`, `scores[0, 2]`.

        `reason` says what that is.
        """
        return self._move("who wrote", expression=expression, frame=frame)

    def first(self, condition: str) -> "Walk":
        """To the first line, from its beginning, at which a condition is true: `x.max() > 100`."""
        return self._move("first", expression=condition)

    def set(self, target: str, value: Any, frame: int = 0) -> None:
        """Sets a value, as `Stop.set`. What ran before is forgotten: it goes back as far as to here."""
        super().set(target, value, frame)

    def history(self, expression: str, frame: int = 0) -> List[Dict[str, Any]]:
        """The values that something had until now, oldest first: their text as `value`, and as `by`
        what has written each. It stands where it stood."""
        told = self._ask("history", expression=expression, frame=frame)
        rows: List[Dict[str, Any]] = told["rows"]
        return rows

    # Breakpoints.

    def break_at(self, place: str, condition: Optional[str] = None) -> int:
        """Stops it at a place, `model.py:14` or the name of a function, and where a condition is
        true. Gives the number of the breakpoint.

        Raises:
            Error: it is nowhere; the error says why.
        """
        return self._add({**place_of(place), "condition": condition})

    def break_on_dispatch(self, pattern: str = "*", *, before: bool = False) -> int:
        """Stops it after, or before, dispatches by name. Gives the number of the breakpoint."""
        return self._add({"dispatch": pattern, "before": before})

    def remove(self, breakpoint: int) -> None:
        """Removes a breakpoint by its number."""
        self._ask("remove", id=breakpoint, inspects=True, own=False)

    def close(self) -> None:
        """Ends it."""
        self._close()

    def __enter__(self) -> "Walk":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<iree_dbg.Walk {self.reason}>"

    # How that is done.

    def _add(self, place: Mapping[str, Any]) -> int:
        told = self._ask("breakpoint", own=False, **place)
        if not told["verified"]:
            self.remove(told["id"])
            raise Error(str(told["message"] or "nothing is there"))
        return int(told["id"])

    def _move(self, how: str, **more: Any) -> "Walk":
        self._stands(self._ask("move", how=how, **more))
        return self

    def _stands(self, said: Mapping[str, Any]) -> None:
        self._at(said)
        self.reason, self.kind = str(said["reason"]), str(said["kind"])
        self.results = None
        if said["results"] is not None:
            self.results = self._shaped(results(said, "results") or [])

    def _ask(self, what: str, **question: Any) -> Any:
        self._begin({"what": what, **question})
        return self._wait()

    def _set(self, target: str, given: "Given", frame: int) -> None:
        self._begin({"what": "set", "target": target, "frame": frame}, [given])
        self._wait()

    def _begin(self, question: Dict[str, Any], given: Sequence["Given"] = ()) -> None:
        if os.getpid() != self._process:
            raise Error("the walk was begun before a fork, and what runs it is not in this process")
        if not self._close.alive:
            raise Error("the walk is closed")
        try:
            library().walk_ask(self._handle, question, given)
        except LibraryError as error:
            raise Error(str(error)) from None

    def _wait(self) -> Any:
        """Waits for an answer. Ctrl-C pauses what runs; it stands then where it was."""
        native = library()
        interrupted = None
        while True:
            try:
                heard = native.walk_wait(self._handle)
                if heard is None:
                    continue
                said = heard["answer"]
            except KeyboardInterrupt as error:
                interrupted = error
                native.walk_pause(self._handle)
                continue
            except LibraryError as error:
                raise interrupted or Error(str(error)) from None
            break
        for line in said.get("log", ()) if isinstance(said, dict) else ():
            print(line, file=sys.stderr)
        if interrupted is not None:
            if isinstance(said, dict) and "kind" in said and "reason" in said and self.reason:
                self._stands(said)
            raise interrupted
        return said
