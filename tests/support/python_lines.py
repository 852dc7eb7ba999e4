"""What the debugger shows at the lines of a framework's Python, against the same Python run eagerly.

Used by `tests/jax` and `tests/torch`.
"""

import json
import subprocess
import sys

import numpy as np

# Eager sums have another order.
TOLERANCE = dict(rtol=2e-4, atol=2e-5, equal_nan=True)


def eager(here, call, concrete):
    """The arrays of each frame of the file `here` when it comes to each line, while `call` runs:
    `{((function, line), ...): {name: [array, ...]}}`. `concrete` gives the numbers of a value that
    is an array, else None."""
    seen = {}

    def line_chain(frame):
        """The functions and lines from a frame outwards, as far as they are the models'."""
        chain = []
        while frame is not None:
            if frame.f_code.co_filename == str(here):
                chain.append((frame.f_code.co_qualname, frame.f_lineno))
            frame = frame.f_back
        return tuple(chain)

    def trace(frame, event, _):
        if frame.f_code.co_filename != str(here):
            return None
        if event == "line":
            known = seen.setdefault(line_chain(frame), {})
            for name, value in frame.f_locals.items():
                array = concrete(value)
                if array is not None:
                    known.setdefault(name, []).append(array)
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return seen


class Session:
    """A debugging session over `--json-lines`."""

    def __init__(self, program, module, inputs):
        values = [f"--input=@{path}" for path in inputs]
        command = [program, "debug", module, "--function=main", *values, "--json-lines"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, command):
        """The answer to a command, or where the program has stopped."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        kind = "stop" if command in ("start", "next") else "answer"
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message["kind"] == kind:
                return message
            if message["kind"] == "answer" and not message["ok"]:
                raise SystemExit(f"{command}: {message['text']}")
        raise SystemExit(f"the session ended at {command}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def lines_match(chain, frames):
    """Whether functions and lines are those of the debugger's frames; a frame's name may go on with
    the dispatch that runs there."""
    shown = [(it["name"].split(", ")[0], it["source"]["line"]) for it in frames]
    return list(chain) == shown


def step_through(program, module, inputs, here, expected, folder):
    """Steps through a module operation by operation, and compares each variable of each frame.
    Returns the number of stops, the variables that are right, those with a reason instead, each
    with its line, and a sentence for each that is wrong."""
    session = Session(program, module, inputs)
    session.ask("level model")
    stop = session.ask("start")
    compared, reasons, wrong, stops = set(), set(), [], 0
    while stop["reason"] in ("entry", "step"):
        stops += 1
        frames = session.ask("bt").get("frames", [])
        own = [it for it in frames if (it.get("source") or {}).get("file") == str(here)]
        for number, frame in enumerate(own):
            session.ask(f"frame {frame['number']}")
            chains = [it for it in expected if lines_match(it, own[number:])]
            for value in session.ask("locals").get("values", []):
                name, line = value["name"], frame["source"]["line"]
                if "absent" in value:
                    reasons.add((line, name))
                    continue
                if not name.isidentifier():
                    continue
                path = folder / "value.npy"
                saved = session.ask(f"save -f {name} {path}")
                if not saved.get("ok"):
                    wrong.append(f"{line}: {name}: not saved: {saved.get('text')}")
                    continue
                shown = np.load(path)
                arrays = [array for it in chains for array in expected[it].get(name, [])]
                compared.add((line, name))
                same = [it for it in arrays if it.shape == shown.shape and np.allclose(
                    shown.astype(np.float64), it.astype(np.float64), **TOLERANCE)]
                if not arrays or len(same) != len(arrays):
                    wrong.append(
                        f"{line}: {name} is not what the eager run has ({len(same)} of {len(arrays)})"
                    )
        stop = session.ask("next")
    session.close()
    return stops, compared, reasons - compared, sorted(set(wrong))


def judge(name, at_least, stops, compared, reasons, wrong):
    """Prints what was found of a model, and returns whether it is right. Fewer variables than
    `at_least` are a fault, too."""
    print(
        f"{name:16} {stops:3} stops, {len(compared):3} variables right,"
        f" {len(reasons):3} with a reason, {len(wrong)} wrong"
    )
    for sentence in wrong:
        print(f"    {sentence}")
    is_enough = len(compared) >= at_least
    if not is_enough:
        print(f"    {at_least} variables were shown before")
    return stops > 0 and is_enough and not wrong
